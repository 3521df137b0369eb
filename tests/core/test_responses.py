"""Tests of whole response streams: channels, calls, interleavings, ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core import ChatResponse, ChunkReference, Registry, ToolCall
from modelcontext_core.responses import (
    ArgumentsDelta,
    ChannelEnd,
    DecodedEvent,
    Finish,
    ReasoningDelta,
    ReasoningSignature,
    ResponseDecoder,
    StreamEvent,
    TextDelta,
    ToolCallReady,
    ToolCallStart,
    decode_events,
)

DOCUMENT = "5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a"
BASE = "b3a1c5d7-0e2f-4a6b-8c9d-1e3f5a7b9c0d"
CHUNK = "9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a"
CITED = f'<kb doc="Guide" chunk_id="{CHUNK}" kb_id="{BASE}" />'


def registry() -> Registry:
    """One document, one knowledge base, one citable chunk, one issue: doc://1 kb://1 chunk://1 i1."""
    made = Registry()
    made.register_document(DOCUMENT)
    made.register_knowledge_base(BASE)
    made.register_chunk(
        ChunkReference(chunk_id=CHUNK, knowledge_id=DOCUMENT, knowledge_base_id=BASE, document_title="Guide")
    )
    made.register_issue("issue-1")
    return made


def joined(events: Iterable[DecodedEvent]) -> ChatResponse:
    """The decoded response that a stream adds up to: all texts, all reasoning, the calls in order of their index."""
    events = list(events)
    calls = sorted((event for event in events if isinstance(event, ToolCallReady)), key=lambda event: event.index)
    return ChatResponse(
        content="".join(event.text for event in events if isinstance(event, TextDelta)),
        reasoning="".join(event.text for event in events if isinstance(event, ReasoningDelta)),
        reasoning_signature="".join(event.signature for event in events if isinstance(event, ReasoningSignature)),
        tool_calls=tuple(event.call for event in calls),
    )


def test_a_handle_cut_in_two_is_restored_and_the_rest_comes_at_once() -> None:
    """Only what may still become a handle is held back."""
    decoder = ResponseDecoder(registry())

    assert [TextDelta(text="See ")] == decoder.feed(TextDelta(text="See doc:"))
    assert {("text", 0): "doc:"} == decoder.pending
    assert [] == decoder.feed(TextDelta(text="//1"))
    assert [TextDelta(text=f"weknora://doc/{DOCUMENT}, ")] == decoder.feed(TextDelta(text=", "))
    assert [Finish(reason="stop")] == decoder.feed(Finish(reason="stop"))
    assert {} == decoder.pending


def test_text_and_reasoning_never_complete_each_other() -> None:
    """The beginning of a handle in one channel is not continued by the other."""
    events: list[StreamEvent] = [
        ReasoningDelta(text="see doc:"),
        TextDelta(text="//1 is"),
        ReasoningDelta(text="//1"),
        Finish(),
    ]

    assert [
        ReasoningDelta(text="see "),
        TextDelta(text="//1 is"),
        ReasoningDelta(text=f"weknora://doc/{DOCUMENT}"),
        Finish(),
    ] == list(decode_events(registry(), events))


def test_two_texts_at_once_are_two_channels() -> None:
    """Content blocks are told apart by their index, and keep it."""
    events: list[StreamEvent] = [
        TextDelta(text="a kb:", index=0),
        TextDelta(text="b doc:", index=2),
        TextDelta(text="//1", index=0),
    ]

    assert [
        TextDelta(text="a ", index=0),
        TextDelta(text="b ", index=2),
        TextDelta(text=f"weknora://kb/{BASE}", index=0),
        TextDelta(text="doc:", index=2),
    ] == list(decode_events(registry(), events))


def test_interleaved_calls_are_collected_by_index() -> None:
    """Fragments of several calls arrive mixed; each call comes out once, whole and decoded."""
    events: list[StreamEvent] = [
        ToolCallStart(index=0, id="call-a", name="read_document"),
        ToolCallStart(index=1, id="call-b", name="get_document_info"),
        ArgumentsDelta(index=0, text='{"id": "do'),
        ArgumentsDelta(index=1, text='{"knowledge_ids": ["doc://1"'),
        ArgumentsDelta(index=0, text='c://1"}'),
        ArgumentsDelta(index=1, text="]}"),
        Finish(reason="tool_calls"),
    ]
    decoded = list(decode_events(registry(), events))

    assert [events[0], events[1]] == decoded[:2]
    assert [f'{{"id": "{DOCUMENT}"}}', f'{{"knowledge_ids": ["{DOCUMENT}"]}}'] == [
        event.call.arguments for event in decoded if isinstance(event, ToolCallReady)
    ]
    assert Finish(reason="tool_calls") == decoded[-1]


def test_a_call_says_when_it_must_not_run() -> None:
    """An unknown handle in the arguments is reported with the call."""
    events: list[StreamEvent] = [
        ToolCallStart(index=0, id="call-a", name="read_document"),
        ArgumentsDelta(index=0, text='{"id": "doc://9"}'),
        Finish(),
    ]
    (call,) = joined(decode_events(registry(), events)).tool_calls

    assert ("unresolved", ("doc://9",)) == (call.argument_resolution, call.unresolved_handles)


def test_repeated_starts_fill_what_was_empty() -> None:
    """Vendors that repeat id and name, or send them late, still make one call."""
    events: list[StreamEvent] = [
        ToolCallStart(index=0, id="call-a"),
        ToolCallStart(index=0, id="call-a", name="read_document"),
        ArgumentsDelta(index=0, text='{"id": '),
        ToolCallStart(index=0),
        ArgumentsDelta(index=0, text='"doc://1"}'),
        Finish(),
    ]
    decoded = list(decode_events(registry(), events))

    assert [ToolCallStart(index=0, id="call-a"), ToolCallStart(index=0, id="call-a", name="read_document")] == [
        event for event in decoded if isinstance(event, ToolCallStart)
    ]
    assert [f'{{"id": "{DOCUMENT}"}}'] == [call.arguments for call in joined(decoded).tool_calls]


def test_another_id_at_the_same_index_is_another_call() -> None:
    """Vendors that number every call 0 do not get two calls melted into one."""
    events: list[StreamEvent] = [
        ToolCallStart(index=0, id="call-a", name="read_document"),
        ArgumentsDelta(index=0, text='{"id": "doc://1"}'),
        ToolCallStart(index=0, id="call-b", name="list_documents"),
        ArgumentsDelta(index=0, text='{"knowledge_base_id": "kb://1"}'),
        Finish(),
    ]

    assert [("call-a", f'{{"id": "{DOCUMENT}"}}'), ("call-b", f'{{"knowledge_base_id": "{BASE}"}}')] == [
        (call.id, call.arguments) for call in joined(decode_events(registry(), events)).tool_calls
    ]


def test_a_channel_that_ends_gives_what_it_held_before_the_next_begins() -> None:
    """With `ChannelEnd` the order of the blocks is kept, and a later text with that index starts anew."""
    events: list[StreamEvent] = [
        TextDelta(text="as doc://1"),
        ChannelEnd(channel="text"),
        ToolCallStart(index=1, name="thinking"),
        ArgumentsDelta(index=1, text="{}"),
        ChannelEnd(channel="tool_call", index=1),
        TextDelta(text="2 more"),
        Finish(),
    ]
    decoded = list(decode_events(registry(), events))

    assert ["as ", f"weknora://doc/{DOCUMENT}", "", "", "2 more", ""] == [getattr(each, "text", "") for each in decoded]
    assert isinstance(decoded[3], ToolCallReady)


def test_ending_a_channel_that_never_began_gives_nothing() -> None:
    """Vendors end empty blocks too."""
    assert [] == ResponseDecoder(registry()).feed(ChannelEnd(channel="text", index=4))


def test_a_signature_is_kept_only_with_the_reasoning_that_it_signs() -> None:
    """Reasoning with a handle comes out changed, so its signature is dropped; another one is kept."""
    changed: list[StreamEvent] = [ReasoningDelta(text="doc://1"), ReasoningSignature(signature="s"), Finish()]
    same: list[StreamEvent] = [ReasoningDelta(text="hm doc"), ReasoningSignature(signature="s"), Finish()]

    assert [] == [each for each in decode_events(registry(), changed) if isinstance(each, ReasoningSignature)]
    assert [ReasoningDelta(text="hm "), ReasoningDelta(text="doc"), ReasoningSignature(signature="s"), Finish()] == (
        list(decode_events(registry(), same))
    )


def test_a_stream_that_breaks_off_gives_its_rest() -> None:
    """Without `Finish` the held text still comes out, and half a call is not resolved."""
    events: list[StreamEvent] = [
        TextDelta(text='so <ref id="chunk://1"/> and doc:'),
        ToolCallStart(index=0, id="call-a", name="read_document"),
        ArgumentsDelta(index=0, text='{"id": "doc://1"'),
    ]
    response = joined(decode_events(registry(), events))

    assert f"so {CITED} and doc:" == response.content
    assert [("unresolved", ("doc://1",))] == [
        (call.argument_resolution, call.unresolved_handles) for call in response.tool_calls
    ]


def test_arguments_without_a_start_are_a_call_without_a_name() -> None:
    """A capture that begins in the middle loses no arguments."""
    (call,) = joined(decode_events(registry(), [ArgumentsDelta(index=3, text='{"a": "kb://1"}')])).tool_calls

    assert ("", "", f'{{"a": "weknora://kb/{BASE}"}}') == (call.id, call.name, call.arguments)


def test_the_decoder_is_new_after_finish() -> None:
    """One decoder serves response after response."""
    decoder = ResponseDecoder(registry())
    first = decoder.feed(TextDelta(text="doc:"), Finish())
    second = decoder.feed(TextDelta(text="//1"), Finish())

    assert [TextDelta(text="doc:"), Finish()] == first
    assert [TextDelta(text="//1"), Finish()] == second
    assert [] == decoder.flush()


# --- the law: however the stream is cut and mixed, it is the decoded response

TOKENS = (
    "doc://1",
    "kb://1",
    "chunk://1",
    "i1",
    "doc://9",
    '<ref id="chunk://1"/>',
    "</ref>",
    "<",
    ">",
    " ",
    "1",
    "的",
)
TEXT = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)
ARGUMENT = st.lists(st.sampled_from(("doc://1", "kb://1", "doc://9", " ", "x", "的")), max_size=4).map("".join)


@st.composite
def streams(draw: st.DrawFn) -> tuple[ChatResponse, list[StreamEvent]]:
    """A response, and its events: every channel cut anywhere, all channels mixed, each in its own order."""
    calls = tuple(
        ToolCall(id=f"call-{k}", name=name, arguments=f'{{"id": "{value}", "text": "{value}"}}')
        for k, (name, value) in enumerate(
            draw(st.lists(st.tuples(st.sampled_from(("read_document", "mcp_x")), ARGUMENT), max_size=3))
        )
    )
    response = ChatResponse(
        content=draw(TEXT), reasoning=draw(TEXT), reasoning_signature=draw(st.sampled_from(("", "s"))), tool_calls=calls
    )
    rows: list[list[StreamEvent]] = [[TextDelta(text=piece) for piece in draw(pieces(response.content))]]
    rows.append([ReasoningDelta(text=piece) for piece in draw(pieces(response.reasoning))])
    if response.reasoning_signature:
        rows[1].append(ReasoningSignature(signature=response.reasoning_signature))
    for index, call in enumerate(calls):
        start: StreamEvent = ToolCallStart(index=index, id=call.id, name=call.name)
        rows.append([start, *(ArgumentsDelta(index=index, text=piece) for piece in draw(pieces(call.arguments)))])
    order = draw(st.permutations([number for number, row in enumerate(rows) for _ in row]))
    queues = [iter(row) for row in rows]
    return response, [next(queues[number]) for number in order]


def pieces(text: str) -> st.SearchStrategy[Sequence[str]]:
    """All ways to cut a text."""
    cuts = st.sets(st.integers(0, len(text)), max_size=6)
    return cuts.map(
        lambda at: [text[a:b] for a, b in zip([0, *sorted(at)], [*sorted(at), len(text)], strict=True) if a < b]
    )


@given(streams(), st.booleans())
def test_every_cut_and_mix_is_the_decoded_response(made: tuple[ChatResponse, list[StreamEvent]], ended: bool) -> None:
    """Streaming equals `decode_response`, with or without a `Finish`, and nothing stays behind."""
    response, events = made
    decoder = ResponseDecoder(registry())
    decoded = decoder.feed(*events, *([Finish()] if ended else []))
    decoded += decoder.flush()

    assert registry().decode_response(response) == joined(decoded)
    assert {} == decoder.pending


@given(streams())
def test_what_one_channel_gives_does_not_depend_on_the_others(made: tuple[ChatResponse, list[StreamEvent]]) -> None:
    """Taking the other channels out of the stream changes no event of the answer."""
    _, events = made
    alone = [event for event in events if isinstance(event, TextDelta)]

    mixed = [event for event in decode_events(registry(), events) if isinstance(event, TextDelta)]

    assert list(decode_events(registry(), alone)) == mixed
