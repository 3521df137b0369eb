"""How long the codec takes, beside what one pass of plain `re` over the same text costs on this machine.

`make bench` prints a table. The assertions are wide: they catch a step from linear to quadratic, not a slow machine.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Sequence
from uuid import UUID

import pytest

from modelcontext_core import ChunkReference, Message, Registry, ToolCall

UUID_SHAPE = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
PROSE = "the store keeps every chunk of a document with its title and 知识 beside the other sources"
WORDS = PROSE.split()
RUNS = 5


def ids(count: int) -> list[str]:
    """The same made-up UUIDs every time."""
    source = random.Random(7)
    return [str(UUID(int=source.getrandbits(128), version=4)) for _ in range(count)]


def conversation(known: Sequence[str], results: int) -> list[Message]:
    """A system prompt, then calls with results of about 27 KB, each full of known ids."""
    source = random.Random(11)
    messages = [Message(role="system", content="You answer from the sources."), Message(role="user", content="Go.")]
    for number in range(results):
        call = ToolCall(id=f"c{number}", name="knowledge_search", arguments='{"query": "x"}')
        pieces = []
        for _ in range(80):
            prose = " ".join(source.choices(WORDS, k=55))
            pieces.append(f'<chunk chunk_id="{source.choice(known)}">{prose}</chunk>')
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", name="knowledge_search", tool_call_id=call.id, content="\n".join(pieces)))
    return messages


def registry_of(known: Sequence[str]) -> Registry:
    """A registry that issued a chunk handle for each id."""
    registry = Registry()
    for each in known:
        registry.register_chunk(ChunkReference(chunk_id=each))
    return registry


def milliseconds(work: Callable[[], object]) -> float:
    """The best of a few runs, in time of the processor: other work on the machine counts as little as can be."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return min(times)


def show(name: str, taken: float, floor: float) -> None:
    """One line of the table."""
    print(f"{name:<44}{taken:>9.1f} ms {taken / floor:>7.2f} x floor")


@pytest.mark.parametrize("known", [10, 1_000, 10_000])
def test_encoding_half_a_megabyte(known: int) -> None:
    """Encoding costs about the same whatever the number of known ids."""
    messages = conversation(ids(known), 19)
    text = "".join(message.content for message in messages)
    floor = milliseconds(lambda: list(UUID_SHAPE.finditer(text)))

    def encode() -> None:
        registry_of(ids(known)).encode_messages(messages)

    registering = milliseconds(lambda: registry_of(ids(known)))
    taken = milliseconds(encode) - registering
    show(f"encode {len(text) / 1000:.0f} KB, {known} ids", taken, floor)
    show(f"register {known} ids", registering, floor)

    assert taken < 20 * floor


def test_decoding_and_streaming_an_answer() -> None:
    """A 100 KB answer, whole and in chunks of 8 and 64 characters."""
    registry = registry_of(ids(1_000))
    source = random.Random(3)
    answer = " ".join(
        f'{" ".join(source.choices(WORDS, k=80))} <ref id="chunk://{source.randint(1, 1000)}"/>' for _ in range(200)
    )
    floor = milliseconds(lambda: re.sub(r"[a-z]+://[0-9]+", lambda found: found[0], answer))

    def stream(size: int) -> None:
        decoder = registry.stream_decoder()
        for start in range(0, len(answer), size):
            decoder.feed(answer[start : start + size])
        decoder.flush()

    show(f"decode {len(answer) / 1000:.0f} KB", milliseconds(lambda: registry.decode_output_text(answer)), floor)
    show("stream it, 8 characters at a time", milliseconds(lambda: stream(8)), floor)
    show("stream it, 64 characters at a time", milliseconds(lambda: stream(64)), floor)


@pytest.mark.parametrize("hard", ["a<b ", "<ref ", "res://1", "http://", "i1/", "<k", "https://e.com/a)"])
def test_hard_texts_grow_linearly(hard: str) -> None:
    """Twice a text made of false starts takes about twice as long, encoded and decoded."""
    registry = registry_of(ids(10))

    def decode(size: int) -> float:
        return milliseconds(lambda: registry.decode_output_text(hard * (size // len(hard))))

    def encode(size: int) -> float:
        return milliseconds(
            lambda: Registry().encode_messages([Message(role="user", content=hard * (size // len(hard)))])
        )

    for name, work in (("decode", decode), ("encode", encode)):
        once, twice = work(100_000), work(200_000)
        print(f"{name} {hard * 3!r:<40}{once:>9.1f} ms, doubled x {twice / once:.2f}")

        assert twice < 3 * once + 5
