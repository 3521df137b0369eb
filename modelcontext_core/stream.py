"""Decoders for streams: `feed(chunk)` gives the text that is settled, `flush()` the rest.

    "".join(feed(chunk) for chunk in chunks) + flush() == decode_output_text("".join(chunks))

for every text and every way to cut it, as long as the registry does not change meanwhile.
"""

from __future__ import annotations

from modelcontext_core.citations import Restorer
from modelcontext_core.handles import HandleTable
from modelcontext_core.scanner import Event, Rules, Scanner
from modelcontext_core.sources import HandleSpaces
from modelcontext_core.wrong_types import check_type, wrong_type


def output_rules(spaces: HandleSpaces, *, citations: bool) -> Rules:
    """The rules by which a model's answer is restored: tags, scheme handles and short handles."""
    restorer = Restorer(spaces, citations=citations)
    words = tuple(table.short_handles() for table in spaces.words.values())
    return Rules(tag=restorer.tag, handle=restorer.handle, words=words)


class StreamDecoder(Scanner):
    """Decodes one channel of one response: text, or reasoning. Make it with `Registry.stream_decoder()`.

    `feed(chunk)` gives the text that the chunk settles; at most 520 characters stay held back. `flush()` gives the
    rest, and the decoder is new again. `pending` is what is held back, by the stage that waits; `state` all that it
    remembers, which can be set: decoders of one registry with equal states go on equally.
    """

    __slots__ = ()

    def __init__(self, rules: Rules, *, events: list[Event] | None = None) -> None:
        if not isinstance(rules, Rules):
            raise wrong_type("rules", rules, "those of a registry, whose stream_decoder() makes a decoder")
        super().__init__(rules, events=events)


class HandleStreamDecoder(Scanner):
    """The same for one stand-alone `HandleTable`: equal to its `decode_known_text` however the text is cut."""

    __slots__ = ()

    def __init__(self, table: HandleTable) -> None:
        check_type("table", table, HandleTable)
        super().__init__(Rules(words=(table.short_handles(),)))
