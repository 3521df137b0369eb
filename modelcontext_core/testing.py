"""Assertions for the tests of applications: that no raw identifier reaches the model, and that a stream decoder keeps
the law of streams. They need no test framework: what fails raises `AssertionError` with everything one has to see.

Explained in `docs/concepts/leaks.md` and `docs/concepts/streaming.md`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from modelcontext_core.leaks import RawIdentifier
from modelcontext_core.messages import Message
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.registry import Registry
from modelcontext_core.stream_check import Decoder, MakeDecoder
from modelcontext_core.stream_check.shrinking import smallest

__all__ = ["HURTFUL_TEXTS", "Decoder", "assert_no_leaks", "assert_stream_law"]

_CONTEXT: Final = 24
_MAX_LISTED: Final = 20
_RANDOM_CUTS: Final = 25

HURTFUL_TEXTS: Final = (
    "See doc://1, kb://1 and chunk://1.",
    "doc://1的 and doc://12 and doc://1x but Doc://1",
    'It is so <ref id="chunk://1"/>, and so <ref id="url://1"/>.',
    "[a](url://1) ![b](res://0001) <doc://1> (chunk://1)-x",
    '<re<ref id="chunk://1"/>f <<ref ></ref><kb><web url="x"/>',
    '<ref id="chunk://9"/><ref\n<ref id="doc://1',
    "i1 i12 xi1 ms1 mt1 res://0001 res://00012 res://9",
    "an end that is cut: doc://",
    "http://doc://1 https://example.com/i1 doc:/1 d",
    "\U0001f600doc://1\u200bdoc://2\ud800",
)
"""Texts made of what is hard to cut: half handles, half tags, neighbours that glue, ends that are cut off."""


# ------------------------------------------------------------------------------------------------ leaks


def assert_no_leaks(
    messages: Iterable[Message],
    pack: ToolPolicies | str | Path = DEFAULT_POLICIES,
    *,
    registry: Registry | None = None,
    allowed: Iterable[str] = (),
) -> None:
    """Encodes `messages` as they would be sent, and fails for every identifier that the model would still see.

    `messages` are those of the application, not encoded yet (encoding twice changes nothing, so encoded ones do too).
    `pack` is a policy pack or the path of one; a `registry` that already knows sources brings its own policies.
    `allowed` identifiers may stay (letter case does not matter). What the user typed is never reported.

    Raises `AssertionError` naming message, tool, path, identifier, surroundings and remedy; `PolicyError` for a pack
    that cannot be used.
    """
    if registry is None:
        registry = Registry(policies=pack if isinstance(pack, ToolPolicies) else ToolPolicies.load(pack))
    encoded = registry.encode_messages(messages)
    accepted = {value.lower() for value in allowed}
    leaks = [
        leak
        for leak in registry.raw_identifiers(encoded)
        if leak.reason != "user_text" and leak.value.lower() not in accepted
    ]
    if not leaks:
        return
    count = f"{len(leaks)} raw identifier{'s' if len(leaks) > 1 else ''}"
    lines = [f'{count} would reach the model (policy pack "{registry.policies.name}"):']
    lines += [_leak_line(leak, encoded[leak.message]) for leak in leaks[:_MAX_LISTED]]
    if len(leaks) > _MAX_LISTED:
        lines.append(f"  … and {len(leaks) - _MAX_LISTED} more")
    raise AssertionError("\n".join(lines))


def _leak_line(leak: RawIdentifier, message: Message) -> str:
    text = _text_at(message, leak.path)
    before, after = text[max(0, leak.start - _CONTEXT) : leak.start], text[leak.end : leak.end + _CONTEXT]
    tool = f'result of tool "{message.name}"' if message.name else "result of a tool that is not named"
    whose = tool if message.role == "tool" else message.role
    return (
        f"  messages[{leak.message}].{leak.path} ({whose}): {leak.value}\n"
        f"    in   {f'{before}{leak.value}{after}'!r}\n"
        f"    fix  {_remedy(leak, message)}"
    )


def _remedy(leak: RawIdentifier, message: Message) -> str:
    match leak.reason:
        case "signed":
            return "reasoning with a signature is never edited: do not send it back once its text was decoded"
        case "inside_url":
            return "it is part of a URL, which stays whole: register the page, or build the URL without it"
        case "opaque" if not message.name:
            return "set `name` to the tool whose result this is: rules are found by it"
        case "opaque":
            return f'results of tool "{message.name}" stay as they are: declare the tool in the policy pack'
    if leak.registered:
        return (
            "it has a handle, but no rule reaches this text: make it with compact_known_text, or declare field or tool"
        )
    return "nobody registered it: register it, or declare where it comes from in the policy pack"


def _text_at(message: Message, path: str) -> str:
    name, _, index = path.partition("[")
    if name == "parts":
        return message.parts[int(index.partition("]")[0])].text
    if name == "tool_calls":
        return message.tool_calls[int(index.partition("]")[0])].arguments
    return message.reasoning if name == "reasoning" else message.content


# ------------------------------------------------------------------------------------------------ the law of streams


def assert_stream_law(
    make_decoder: MakeDecoder,
    texts: Iterable[str] = HURTFUL_TEXTS,
    *,
    decode: Callable[[str], str] | None = None,
    seed: int = 0,
) -> None:
    """Fails unless every way to cut each of `texts` gives what the uncut text gives.

    `make_decoder` gives a new decoder (`registry.stream_decoder`, or a class of your own with `feed` and `flush`).
    `decode` decodes a whole text; without it a new decoder is fed the text at once. Tried are all single cuts, one
    character at a time, some seeded cuts into many chunks, empty chunks, and that a decoder is new after `flush`.

    Raises `AssertionError` with the smallest failing cut that can be found: the text is shortened and chunks are
    joined for as long as it still fails. What the decoder raises goes through, with the chunks as a note.
    """
    law = _Law(make_decoder, decode)
    rng = random.Random(seed)  # noqa: S311 - the same cuts in every run, no secret
    texts = list(texts)
    for text in texts:
        for chunks in _ways_to_cut(text, rng):
            if law.is_broken_by(chunks):
                raise AssertionError(law.broken_message(smallest(chunks, law.is_broken_by)))
    for first in texts:
        law.check_new_after_flush(first, texts)


class _Law:
    def __init__(self, make_decoder: MakeDecoder, decode: Callable[[str], str] | None) -> None:
        self._make = make_decoder
        self._decode = decode

    def whole(self, text: str) -> str:
        return self.streamed((text,), self._make()) if self._decode is None else self._decode(text)

    def streamed(self, chunks: Sequence[str], decoder: Decoder) -> str:
        try:
            return "".join([*map(decoder.feed, chunks), decoder.flush()])
        except Exception as error:
            error.add_note(f"while the decoder was fed {list(chunks)!r}")
            raise

    def is_broken_by(self, chunks: Sequence[str]) -> bool:
        return self.streamed(chunks, self._make()) != self.whole("".join(chunks))

    def broken_message(self, chunks: Sequence[str]) -> str:
        return (
            "The stream law is broken. The smallest cut that shows it:\n"
            f"  chunks     {' + '.join(map(repr, chunks))}\n"
            f"  streamed   {self.streamed(chunks, self._make())!r}\n"
            f"  but whole  {self.whole(''.join(chunks))!r}"
        )

    def check_new_after_flush(self, first: str, texts: Sequence[str]) -> None:
        """The same decoder, used for a text that may leave something behind, and then for others."""
        decoder = self._make()
        for second in texts:
            self.streamed((first,), decoder)
            streamed, whole = self.streamed((second,), decoder), self.whole(second)
            if streamed != whole:
                raise AssertionError(
                    "The decoder is not new after flush():\n"
                    f"  fed first       {first!r}\n"
                    f"  then            {second!r}\n"
                    f"  gives           {streamed!r}\n"
                    f"  a new one gives {whole!r}"
                )


def _ways_to_cut(text: str, rng: random.Random) -> Iterator[tuple[str, ...]]:
    yield (text,)
    for at in range(len(text) + 1):
        yield (text[:at], text[at:])
    yield tuple(text)
    yield tuple(piece for character in text for piece in (character, ""))
    for _ in range(_RANDOM_CUTS):
        cuts = sorted(rng.sample(range(len(text) + 1), min(len(text) + 1, rng.randint(2, 6))))
        yield tuple(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
