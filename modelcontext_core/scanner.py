"""The one left-to-right scan that restores handles, for whole texts and for streams cut anywhere.

A text is a row of *prose* and *events*: a complete tag, a scheme handle, a short handle (`i1`), an end that is cut off.
The scanner copies prose, asks its `Rules` what stands for each event, and holds back only an ending that could still
become one. Decoding a whole text is one `feed` and a `flush`; that is why both always agree.

What is written is never scanned again. Two things are remembered across chunks: the last characters that were consumed
(the rules look back on the *input*), and the end of what was *written* as long as it could still become a tag,
because a `>` of the prose must not complete one that nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from modelcontext_core.grammar import (
    LINK_RUN,
    LONGEST_ESCAPE,
    MAX_HANDLE_DIGITS,
    MAX_OPENER_CHARACTERS,
    MAY_READ_ON,
    NO_SCHEME_BEGINNING,
    OPEN_TAG,
    READS_ON,
    SCHEME_BEGINNING_ENDS,
    SCHEMES,
    TAG,
    TAG_BEGINNING,
    UNCLOSED_TAG,
    HandleToken,
    handle_at,
    open_tag_end,
    scheme_before,
    scheme_beginning,
)
from modelcontext_core.limits import MAX_TAG_CHARACTERS
from modelcontext_core.short_handles import UNASKED, CompiledShortHandles, ShortHandles
from modelcontext_core.wrong_types import check_type, wrong_type

LOOK_BACK: Final = LONGEST_ESCAPE + 1  # consumed characters before what was held: places of events count them
_LONGEST_SCHEME: Final = max(map(len, SCHEMES.values()))
_TAG_EDGE: Final = re.compile(r"[<>\n]")
_AFTER_OPENER: Final = frozenset(("", "/", "r", "k", "w", "R", "K", "W"))
_ADDRESS_BEFORE: Final = ("](", "<", '="', "='")
_ALL_DIGITS: Final = re.compile(r"[0-9]*\Z")


class Restored(NamedTuple):
    """What a known handle stands for: `text` in prose, `address` where a link target or an attribute wants one.

    `is_uri` and `address_is_uri` mark texts that must be bracketed when what follows would be read as part of them;
    `is_tag` marks a complete tag.
    """

    text: str
    is_uri: bool = False
    address: str = ""
    is_tag: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the scanner knows: how tags and handles are restored.

    `tag` gives the text for a complete tag or None when it disappears; None as the rule itself means: no tags here.
    `handle` does the same for scheme handles.
    """

    tag: Callable[[re.Match[str]], str | None] | None = None
    handle: Callable[[HandleToken], Restored | None] | None = None
    words: Sequence[ShortHandles] = ()


class Event(NamedTuple):
    """One thing that the scan replaced or left out: input span, what was written, and which rule did it."""

    start: int
    end: int
    written: str
    rule: str


class ScannerState(NamedTuple):
    """All that a scanner remembers between two chunks. Scanners of one set of rules with equal states go on equally."""

    held: str = ""
    stage: str = ""
    before: str = ""
    open: str | None = None
    in_link: bool = False


class Scanner:
    """`feed(chunk)` gives what can be said already, `flush()` the rest; after it the scanner is new again."""

    __slots__ = ("_before", "_held", "_in_link", "_last_letters", "_open", "_rules", "_stage", "_words", "events")

    def __init__(self, rules: Rules, *, events: list[Event] | None = None) -> None:
        self._rules = rules
        self._last_letters = SCHEME_BEGINNING_ENDS if rules.handle is not None else frozenset()
        self.events = events
        self._reset()

    def _reset(self) -> None:
        self._held = self._stage = self._before = ""
        self._open: str | None = None
        self._in_link = False
        self._words: CompiledShortHandles | None = UNASKED  # until a text begins: more may be known by then

    @property
    def pending(self) -> dict[str, str]:
        """What is held back, by the stage that waits: `tag`, `handle`, `uri` or `word`; empty when nothing is."""
        return {self._stage: self._held} if self._held else {}

    @property
    def state(self) -> ScannerState:
        """Where the scan stands. Setting it goes on from there: what is checked at many cuts need not begin anew."""
        return ScannerState(self._held, self._stage if self._held else "", self._before, self._open, self._in_link)

    @state.setter
    def state(self, state: ScannerState) -> None:
        self._held, self._stage, self._before, self._open, self._in_link = state

    def feed(self, chunk: str) -> str:
        """The text that `chunk` settles. Raises `TypeError` for what is no text: some clients send None."""
        held = self._held
        try:
            text = held + chunk
        except TypeError:
            raise wrong_type("chunk", chunk, "str") from None
        if not text:
            return ""
        if "<" not in text and ":" not in text and self._open is None:
            # The common case: plain prose. Only its ending may begin something.
            if self._words is None or self._has_no_word(text):
                stop = self._settled(text) if text[-1] in self._last_letters else len(text)
                self._held = text[stop:]
                self._stage = "handle"
                if stop < LOOK_BACK:
                    self._before = (self._before + text[:stop])[-LOOK_BACK:]
                else:
                    self._before = text[stop - LOOK_BACK : stop]
                return text[:stop]
        elif (
            held
            and self._stage == "tag"
            and len(text) < MAX_TAG_CHARACTERS
            and not _TAG_EDGE.search(chunk)
            and OPEN_TAG.search(text)
        ):
            self._held = text
            return ""
        return self._scan(text, complete=False)

    def flush(self) -> str:
        """The text that was held back, now that nothing follows."""
        out = self._scan(self._held, complete=True) if self._held else ""
        self._reset()
        return out

    def decode(self, text: str) -> str:
        """A whole text: the same scan, told at once that nothing follows."""
        check_type("text", text, str)
        out = self._scan(text, complete=True) if text else ""
        self._reset()
        return out

    def _has_no_word(self, text: str) -> bool:
        """Whether `text` surely holds no known short handle, whole or begun, and neither ends nor continues a URL."""
        words, before = self._words, self._before
        assert words is not None
        if words.begun_in(text) or self._in_link or ":" in before[-2:]:
            return False
        if text[-1] not in words.last_letters:
            return True
        text, start = before + text, len(before)
        return words.unfinished(text, start) == len(text)

    def _settled(self, text: str) -> int:
        """Where the ending of plain prose begins that may become a scheme handle; the length of `text` when none."""
        length = len(text)
        if length > LOOK_BACK and text[-2:] in NO_SCHEME_BEGINNING and text[-3] != "\\" != text[-LOOK_BACK]:
            return length
        # What was consumed before may glue to the ending, or make its first letter an escape's.
        before = self._before if length < LOOK_BACK + _LONGEST_SCHEME else ""
        begin = scheme_beginning(before + text, len(before))
        return length if begin < 0 else begin - len(before)

    # ------------------------------------------------------------------------------------------------- one scan

    def _scan(self, held: str, *, complete: bool) -> str:
        if self._words is UNASKED:
            self._words = CompiledShortHandles.of(self._rules.words)
        before = self._before
        text = before + held
        state = _Scan(self._rules, self._words, self.events, text, len(before), complete, self._open)
        if self._in_link:
            state.link_end = state.run_end(len(before))
        state.run()
        stop = state.hold
        self._held = text[stop:]
        self._stage = state.stage
        self._before = text[max(0, stop - LOOK_BACK) : stop]
        self._open = state.open
        self._in_link = state.link_end >= stop if self._words is not None else False
        return "".join(state.out)


class _Scan:
    """One run over one text; the fields that live longer are handed back to the scanner."""

    __slots__ = ("complete", "events", "hold", "link_end", "open", "out", "pos", "rules", "stage", "text", "words")

    def __init__(
        self,
        rules: Rules,
        words: CompiledShortHandles | None,
        events: list[Event] | None,
        text: str,
        start: int,
        complete: bool,
        written: str | None,
    ) -> None:
        self.rules = rules
        self.words = words
        self.events = events
        self.text = text
        self.pos = start
        self.complete = complete
        self.open = written
        self.out: list[str] = []
        self.hold = len(text)
        self.stage = ""
        self.link_end = -1

    def run(self) -> None:
        text, find = self.text, self.text.find
        start = self.pos
        tag = find("<", start) if self.rules.tag is not None else -1
        slashes = find("://", start - 2 if start > 2 else 0)
        places = self.words.places(text, start) if self.words is not None else []
        places.reverse()
        while tag >= 0 or slashes >= 0 or places:
            if places and (tag < 0 or places[-1][0] < tag) and (slashes < 0 or places[-1][0] < slashes):
                self._word(*places.pop())
            elif tag >= 0 and (slashes < 0 or tag < slashes):
                if not self._tag(tag):
                    break
                tag = find("<", self.pos if self.pos > tag else tag + 1)
                if 0 <= slashes < self.pos:
                    slashes = find("://", self.pos)
            else:
                if not self._slashes(slashes):
                    break
                slashes = find("://", self.pos if self.pos > slashes else slashes + 3)
        else:
            if not self.complete:
                self._ending()
        self._prose(self.hold)

    def _tag(self, at: int) -> bool:
        """A `<`: a tag, the beginning of one (then nothing more can be said: False), or prose."""
        text = self.text
        if text[at + 1 : at + 2] not in _AFTER_OPENER:
            return True
        match = TAG.match(text, at)
        if match is not None and match.end() - at <= MAX_TAG_CHARACTERS:
            assert self.rules.tag is not None
            self._replace(at, match.end(), self.rules.tag(match), "tag")
            return True
        if match is None and len(text) - at < MAX_TAG_CHARACTERS:
            if OPEN_TAG.match(text, at):
                if not self.complete:
                    return self._wait(at, "tag", may_vanish=True)
                self._replace(at, len(text), None, "unclosed")
            elif not self.complete and TAG_BEGINNING.match(text, at):
                return self._wait(at, "tag", may_vanish=True)
        return True

    def _slashes(self, at: int) -> bool:
        """A `://`: a scheme handle, an unfinished one (False), or the beginning of a URL."""
        text = self.text
        if self.rules.handle is not None:
            token = handle_at(text, at)
            if token is not None and token.start >= self.pos:
                if token.end == len(text) and not self.complete:
                    return self._wait(token.start, "handle", may_vanish=True)
                return self._handle(token)
            space = scheme_before(text, at) if token is None else None
            if space is not None and at - len(SCHEMES[space]) >= self.pos:
                start, digits = at - len(SCHEMES[space]), len(text) - at - 3
                if not self.complete and digits <= MAX_HANDLE_DIGITS and _ALL_DIGITS.match(text, at + 3):
                    return self._wait(start, "handle", may_vanish=True)
                if self.complete and digits == 0:
                    self._replace(start, len(text), None, "bare_scheme")
                    return True
        if self.words is not None and at >= self.link_end:
            self.link_end = self.run_end(at)
        return True

    def _handle(self, token: HandleToken) -> bool:
        assert self.rules.handle is not None
        restored = self.rules.handle(token)
        if restored is None:
            self._replace(token.start, token.end, None, "unknown")
            return True
        written, is_uri, is_tag = restored.text, restored.is_uri, restored.is_tag
        if restored.address and self.text.endswith(_ADDRESS_BEFORE, 0, token.start):
            written, is_uri, is_tag = restored.address, True, False
        if is_uri:
            if READS_ON.match(self.text, token.end):
                written = f"<{written}>"
            elif not self.complete and MAY_READ_ON.match(self.text, token.end):
                return self._wait(token.start, "uri", may_vanish=False)
        self._replace(token.start, token.end, written, "tag" if is_tag else "handle")
        return True

    def _word(self, start: int, end: int, value: str) -> None:
        if start < self.pos or start < self.link_end:
            return
        if end == len(self.text) and not self.complete:
            return  # more digits may follow; `_ending` holds it
        self._replace(start, end, value, "word")

    # --------------------------------------------------------------------------------------- writing and holding

    def _replace(self, start: int, end: int, written: str | None, rule: str) -> None:
        if written is None:
            start = self._opener(start)
            self._prose(start)
            written = ""
        else:
            self._prose(start)
            if rule == "tag":
                self.open = None
            elif self.open is not None or ("<" in written and self.rules.tag is not None):
                self.open = open_tag_end(self.open, written)
            self.out.append(written)
        if self.events is not None:
            self.events.append(Event(start, end, written, rule))
        self.pos = end

    def _prose(self, end: int) -> None:
        if end <= self.pos:
            return
        piece = self.text[self.pos : end]
        if self.open is not None:
            piece = self._without_closers(piece)
        if self.open is not None or ("<" in piece and self.rules.tag is not None):
            self.open = open_tag_end(self.open, piece)
        self.out.append(piece)
        self.pos = end

    def _without_closers(self, piece: str) -> str:
        """`piece` without each `>` that would complete a tag with what was written before it."""
        kept, start = [], 0
        tail = self.open
        assert tail is not None
        for edge in _TAG_EDGE.finditer(piece):
            if edge[0] != ">":
                break
            tail += piece[start : edge.start()]
            if len(tail) >= MAX_TAG_CHARACTERS or not UNCLOSED_TAG.fullmatch(tail):
                break
            kept.append(piece[start : edge.start()])
            start = edge.end()
            if self.events is not None:
                self.events.append(Event(self.pos + edge.start(), self.pos + edge.end(), "", "closer"))
        return "".join(kept) + piece[start:] if kept or start else piece

    def _opener(self, at: int) -> int:
        """Where an unfinished opener begins that stands directly before `at`, or `at`."""
        low = max(self.pos, at - MAX_OPENER_CHARACTERS)
        start = self.text.rfind("<", low, at) if self.rules.tag is not None else -1
        return start if start >= 0 and TAG_BEGINNING.match(self.text[start:at]) else at

    def _wait(self, at: int, stage: str, *, may_vanish: bool) -> bool:
        self.hold = self._opener(at) if may_vanish else at
        self.stage = stage
        return False

    def _ending(self) -> None:
        """Holds back an ending that is no event yet: the beginning of a scheme or of a short handle."""
        text, low = self.text, self.pos
        if self.rules.handle is not None and text[-1] in SCHEME_BEGINNING_ENDS:
            begin = scheme_beginning(text, low)
            if begin >= 0:
                self._wait(begin, "handle", may_vanish=True)
        if self.words is not None:
            at = self.words.unfinished(text, low)
            if at < self.hold and at >= self.link_end:
                self._wait(at, "word", may_vanish=False)

    def run_end(self, at: int) -> int:
        match = LINK_RUN.match(self.text, at)
        assert match is not None
        return match.end()
