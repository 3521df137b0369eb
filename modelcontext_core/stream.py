"""Decoders for streams: `feed(chunk)` gives the text that is settled, `flush()` the rest.

    "".join(feed(chunk) for chunk in chunks) + flush() == decode_output_text("".join(chunks))

for every text and every way to cut it, as long as the registry does not change meanwhile.
"""

from __future__ import annotations

from modelcontext_core.citations import Restorer
from modelcontext_core.handles import HandleTable
from modelcontext_core.scanner import Event, Rules, Scanner, ScannerState
from modelcontext_core.sources import HandleSpaces


def output_rules(spaces: HandleSpaces, *, citations: bool) -> Rules:
    """The rules by which a model's answer is restored: tags, scheme handles and short handles (CODEC section 7)."""
    restorer = Restorer(spaces, citations=citations)
    words = tuple(table.short_handles() for table in spaces.words.values() if table)
    return Rules(tag=restorer.tag, handle=restorer.handle, words=words)


class StreamDecoder:
    """Decodes one channel of one response: text, or reasoning. Make it with `Registry.stream_decoder()`."""

    __slots__ = ("_scanner",)

    def __init__(self, rules: Rules, *, events: list[Event] | None = None) -> None:
        self._scanner = Scanner(rules, events=events)

    def feed(self, chunk: str) -> str:
        """The text that `chunk` settles; at most 520 characters stay held back."""
        return self._scanner.feed(chunk)

    def flush(self) -> str:
        """The rest, now that nothing follows. The decoder is new again afterwards."""
        return self._scanner.flush()

    @property
    def pending(self) -> dict[str, str]:
        """The text that is held back, by the stage that waits for more."""
        return self._scanner.pending

    @property
    def state(self) -> ScannerState:
        """All that it remembers. It can be set: decoders of one registry with equal states go on equally."""
        return self._scanner.state

    @state.setter
    def state(self, state: ScannerState) -> None:
        self._scanner.state = state


class HandleStreamDecoder:
    """The same for one stand-alone `HandleTable`: equal to its `decode_known_text` however the text is cut."""

    __slots__ = ("_scanner",)

    def __init__(self, table: HandleTable) -> None:
        self._scanner = Scanner(Rules(words=(table.short_handles(),)))

    def feed(self, chunk: str) -> str:
        """The text that `chunk` settles."""
        return self._scanner.feed(chunk)

    def flush(self) -> str:
        """The rest, now that nothing follows. The decoder is new again afterwards."""
        return self._scanner.flush()

    @property
    def pending(self) -> dict[str, str]:
        """The text that is held back, by the stage that waits for more."""
        return self._scanner.pending
