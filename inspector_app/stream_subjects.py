"""What of a trace can be streamed: a capture as it came, or the answers in it as the model would have written them.

Nothing here imports Streamlit: the Streams page and the command `stream-check` show and check the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from inspector_app import data
from inspector_app.views.streamed import CAPTURE, RegistryKind, Subject
from modelcontext_core.chunking import Chunk, ChunkLike
from modelcontext_core.formats.containers.splitting import split_lines
from modelcontext_core.formats.containers.sse import looks_like_sse, split_events
from modelcontext_core.made_registry import handles_in, registry_for
from modelcontext_core.messages import Message
from modelcontext_core.registry import Registry
from modelcontext_core.simulate import with_handles

__all__ = ["answers", "best_choice", "byte_events", "choices", "has_capture", "subject_of"]


def has_capture(held: data.Held) -> bool:
    """Whether a trace is, or holds, a captured stream."""
    return bool(held.trace.stream)


def answers(held: data.Held, options: data.Options) -> list[int]:
    """The messages of the chosen conversation that a model wrote; of plain text its only message."""
    messages = held.shown(options.conversation).messages
    if held.trace.format == "text":
        return [number for number, message in enumerate(messages) if message.content][:1]
    return [
        number for number, message in enumerate(messages) if message.role == "assistant" and _says_something(message)
    ]


def choices(held: data.Held, options: data.Options) -> list[int]:
    """All that can be streamed of a trace: the capture, then the answers."""
    return [*([CAPTURE] if has_capture(held) else []), *answers(held, options)]


def best_choice(held: data.Held, options: data.Options) -> int | None:
    """What to show first: the capture, else the last answer with a text; None when there is nothing to stream."""
    if has_capture(held) and not options.conversation:
        return CAPTURE
    found, messages = answers(held, options), held.shown(options.conversation).messages
    spoken = [number for number in found if messages[number].content]
    return next(iter([*reversed(spoken), *reversed(found)]), None)


def subject_of(held: data.Held, options: data.Options, choice: int, *, made: bool = False) -> Subject:
    """The stream of `choice` with its registry. `made` asks for a capture as a model with handles would have sent it.

    Handles of which the trace knows none are not the trace's: a registry is made for them.
    """
    written = held.trace.format == "text"
    chunks: Sequence[ChunkLike]
    if choice == CAPTURE:
        chunks = held.trace.stream
        analysis = data.analyse(_before_the_stream(held), replace(options, conversation=0))
    else:
        analysis = data.analyse(held, options)
        chunks = _chunks_of((held.shown(options.conversation).messages if written else analysis.encoded)[choice])
    handles = set(handles_in(_texts(chunks)))
    known = {number for row in analysis.handles for number in handles_in([row.handle])}
    if handles and (written or not handles & known):
        return _subject(choice, chunks, registry_for(_texts(chunks), citations=options.citations), "made")
    if handles or choice != CAPTURE or not made:
        subject = _subject(choice, chunks, analysis.registry, "trace")
        return replace(subject, without_handles=choice == CAPTURE and not handles)
    registry = copy.deepcopy(analysis.registry)  # it learns what only the capture holds
    encoded = with_handles(chunks, registry)
    changed = list(_texts(encoded)) != list(_texts(chunks))
    return replace(_subject(choice, encoded, registry, "trace"), without_handles=True, made=changed)


def _before_the_stream(held: data.Held) -> data.Held:
    """The trace without the turns that were streamed: they hold what the model wrote, and come after the request.

    A handle in a request is one that somebody typed; its number would never be given out.
    """
    streamed = set(_texts(held.trace.stream))
    conversation = held.conversation
    kept = [
        number
        for number, message in enumerate(conversation.messages)
        if message.role != "assistant" or not all(text in streamed for text in _texts(_chunks_of(message)))
    ]
    before = replace(
        conversation,
        messages=tuple(conversation.messages[number] for number in kept),
        origins=tuple(conversation.origins[number] for number in kept if number < len(conversation.origins)),
    )
    trace = replace(held.trace, conversations=(before,))
    return data.Held(trace=trace, data=b"", name=held.name, key="", digest="")


def _subject(choice: int, chunks: Sequence[ChunkLike], registry: Registry, kind: RegistryKind) -> Subject:
    known = len(registry.handles())
    return Subject(choice=choice, chunks=chunks, registry=registry, registry_kind=kind, known=known)


def _says_something(message: Message) -> bool:
    return bool(
        message.content
        or message.reasoning
        or message.tool_calls
        or any(part.type == "text" and part.text for part in message.parts)
    )


def _chunks_of(message: Message) -> list[Chunk]:
    chunks = [Chunk(text=message.reasoning, channel="reasoning")] if message.reasoning else []
    texts = [message.content, *(part.text for part in message.parts if part.type == "text")]
    chunks += [Chunk(text=text, index=number) for number, text in enumerate(filter(None, texts))]
    calls = enumerate(message.tool_calls)
    return chunks + [
        Chunk(text=call.arguments, channel="arguments", index=number, name=call.name) for number, call in calls
    ]


def _texts(chunks: Iterable[ChunkLike]) -> Iterator[str]:
    """The joined texts of the channels."""
    joined: dict[tuple[str, int], list[str]] = {}
    for chunk in chunks:
        joined.setdefault((chunk.channel, chunk.index), []).append(chunk.text)
    return ("".join(pieces) for pieces in joined.values())


def byte_events(held: data.Held) -> ByteEvents:
    """What makes events of the bytes of a capture."""
    return ByteEvents(sse=looks_like_sse(held.data))


class ByteEvents:
    """Splits bytes, as they come from the network, into server-sent events or lines."""

    def __init__(self, *, sse: bool) -> None:
        self._sse = sse

    def __call__(self, pieces: Iterable[bytes]) -> Iterator[object]:
        """The events, however the bytes are cut."""
        lines = split_lines(pieces)
        return split_events(lines, lambda _kind, _where, _text: None) if self._sse else lines
