"""The check itself: what is tried in which order, and the reports that grow meanwhile."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from modelcontext_core.chunking import ChannelKey, Chunk, ChunkLike
from modelcontext_core.messages import ToolCall
from modelcontext_core.registry import Registry
from modelcontext_core.stream_check.captures import INTERLEAVINGS, Split, byte_places, byte_trials, interleavings
from modelcontext_core.stream_check.report import CheckKind, CutFailure, CutReport, MakeDecoder, Tally, Trial
from modelcontext_core.stream_check.shrinking import smallest
from modelcontext_core.stream_check.trials import Subject, many_cuts, places, singles, streamed, tried

__all__ = ["MULTI_CUTS", "check_every_cut", "watch_every_cut"]

MULTI_CUTS: Final = 200
_REPORT_EVERY: Final = 40_000  # characters decoded between two reports: a fraction of a second


class _Check(NamedTuple):
    kind: CheckKind
    total: int
    trials: Iterator[Trial]
    possible: int = 0


def check_every_cut(
    registry: Registry,
    source: str | Iterable[ChunkLike],
    *,
    decoder: MakeDecoder | None = None,
    data: bytes = b"",
    split: Split | None = None,
    seed: int = 0,
) -> CutReport:
    """Everything that `watch_every_cut` finds, at once."""
    report = CutReport(tallies={}, complete=True, seed=seed)
    for report in watch_every_cut(registry, source, decoder=decoder, data=data, split=split, seed=seed):  # noqa: B007
        pass
    return report


def watch_every_cut(
    registry: Registry,
    source: str | Iterable[ChunkLike],
    *,
    decoder: MakeDecoder | None = None,
    data: bytes = b"",
    split: Split | None = None,
    seed: int = 0,
) -> Generator[CutReport, None, None]:
    """Checks a text or a captured stream; gives reports that grow, the last one `complete`.

    Without `decoder` our own is checked: every single cut of every text. With one, that of other people: every cut
    within 64 characters of a handle, tag, surrogate pair or escape, and 2,000 spread evenly; what a new decoder gives
    for the whole text is what every cut must give. `data` is a capture as it was received and `split` what makes events
    of its bytes: cuts inside of characters and of events must give the same events.
    """
    plan = _Plan(registry, source, decoder)
    checks = plan.checks(seed)
    if data and split is not None:
        cuts = byte_places(data, seed)
        checks.append(_Check("bytes", len(cuts), byte_trials(data, cuts, split), len(data) - 1))
    tallies = {each.kind: Tally(kind=each.kind, total=each.total, possible=each.possible) for each in checks}
    failure: CutFailure | None = None
    cost = 0
    yield CutReport(tallies=dict(tallies), seed=seed)
    for check in checks:
        for trial in check.trials:
            tally = tallies[check.kind]
            equal = tally.equal + (trial.failure is None)
            tallies[check.kind] = replace(tally, done=tally.done + 1, equal=equal)
            cost += trial.cost
            if trial.failure is not None and failure is None:
                failure, cost = plan.smallest(trial.failure), _REPORT_EVERY
            if cost >= _REPORT_EVERY:
                cost = 0
                yield CutReport(tallies=dict(tallies), failure=failure, seed=seed)
    yield CutReport(tallies=dict(tallies), failure=failure, complete=True, seed=seed)


class _Arguments:
    """A channel of arguments as a decoder: it settles all at its end."""

    def __init__(self, registry: Registry, name: str) -> None:
        self._registry = registry
        self._name = name
        self._pieces: list[str] = []

    def feed(self, chunk: str) -> str:
        self._pieces.append(chunk)
        return ""

    def flush(self) -> str:
        written = "".join(self._pieces)
        self._pieces.clear()
        return self._registry.decode_tool_calls([ToolCall(name=self._name, arguments=written)])[0].arguments


class _Plan:
    def __init__(self, registry: Registry, source: str | Iterable[ChunkLike], decoder: MakeDecoder | None) -> None:
        self._registry = registry
        self._decoder = decoder
        self._chunks = [Chunk(text=source)] if isinstance(source, str) else list(source)
        joined: dict[ChannelKey, list[str]] = {}
        names: dict[ChannelKey, str] = {}
        for chunk in self._chunks:
            key = (chunk.channel, chunk.index)
            joined.setdefault(key, []).append(chunk.text)
            names[key] = names.get(key) or chunk.name
        made = ((key, self._subject(key, "".join(texts), names[key])) for key, texts in joined.items())
        self.subjects = {key: subject for key, subject in made if subject is not None}

    def _subject(self, key: ChannelKey, text: str, name: str) -> Subject | None:
        registry = self._registry
        if self._decoder is not None:
            # Decoders of other people are asked for texts.
            return Subject(key, text, self._decoder) if key[0] != "arguments" else None
        if key[0] == "arguments":
            return Subject(key, text, lambda: _Arguments(registry, name))
        return Subject(
            key, text, registry.stream_decoder, decode=registry.decode_output_text, own=registry.stream_decoder
        )

    def checks(self, seed: int) -> list[_Check]:
        """All checks with their totals; nothing runs yet."""
        texts = list(self.subjects.values())
        cuts = {each.key: places(each) for each in texts}
        many = [(each, at) for each in texts for at in many_cuts(each.text, seed, MULTI_CUTS)]
        checks = [
            _Check(
                "single",
                sum(map(len, cuts.values())),
                (trial for each in texts for trial in singles(each, cuts[each.key])),
                sum(max(len(each.text) - 1, 0) for each in texts),
            ),
            _Check("multi", len(many), (tried("multi", each, at) for each, at in many)),
            _Check("characters", len(texts), (tried("characters", e, range(1, len(e.text))) for e in texts)),
        ]
        if len(texts) > 1 and self._decoder is None:
            checks.append(_Check("interleaved", INTERLEAVINGS, interleavings(self._registry, self._chunks, seed)))
        return checks

    def smallest(self, failure: CutFailure) -> CutFailure:
        """The failure made small; other orders and cuts of bytes stay as they are."""
        if failure.kind in ("interleaved", "bytes"):
            return failure
        subject = self.subjects[failure.key]

        def fails(chunks: Sequence[str]) -> bool:
            if not all(chunks):
                return False  # empty chunks are no cut
            try:
                whole = subject.decoded("".join(chunks))
            except Exception:
                return False  # a text that cannot be decoded at all is another failure
            return streamed(subject.make, chunks) != whole

        chunks = smallest(failure.chunks, fails)
        whole = subject.decoded("".join(chunks))
        return replace(failure, chunks=chunks, streamed=streamed(subject.make, chunks), whole=whole)
