"""Passing over the readers that ask for no key of a document: what is recognised stays the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.formats import READERS
from modelcontext_core.formats.asking import lone_object, may_take
from modelcontext_core.formats.nodes import Document
from modelcontext_core.formats.reader import Sample

# Keys that readers ask for, at any depth, and values that they tell apart.
KEYS = sorted(
    {key for reader in READERS for key in reader.keys}
    | {"messages", "role", "content", "type", "model", "id", "kind", "input", "output", "data", "tool_calls", "choices"}
)
WORDS = ("user", "message", "response", "gpt-4o", "event", "text", "")
scalars = st.one_of(st.sampled_from(WORDS), st.none(), st.booleans(), st.integers(0, 3))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


def lone(value: Any) -> Sample:
    """A sample that is one document with this value."""
    return Sample(container="json", nodes=[Document(b"", value).root])


@given(st.dictionaries(st.sampled_from(KEYS), values, max_size=4))
def test_a_reader_that_is_passed_over_would_have_said_no(members: dict[str, Any]) -> None:
    """Whatever stands in an object: who asks for none of its keys does not take it."""
    sample = lone(members)

    taking = [reader.name for reader in READERS if reader.detect(sample)]

    assert taking == [
        reader.name for reader in READERS if may_take(reader.detect, lone_object(sample)) and reader.detect(sample)
    ]


def test_most_readers_are_passed_over_for_a_chat_request() -> None:
    """A request of the most common form is shown to less than half of the readers."""
    members = lone_object(lone({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}))

    assert 2 * sum(may_take(reader.detect, members) for reader in READERS) < len(READERS)


def test_a_reader_that_looks_at_more_than_keys_is_always_asked() -> None:
    """The value itself, its members and the document say more than keys: then nothing is known beforehand."""
    looks = (
        lambda sample: len(sample.first.value) > 5,
        lambda sample: any(sample.first.members()),
        lambda sample: sample.first.document.event == "delta",
        lambda sample: sample.head.startswith(b"{"),
        lambda sample: not sample.first.has("a"),
    )

    assert all(may_take(detect, {"b": 1}) for detect in looks)
    assert not may_take(lambda sample: sample.first.at("a", 0, "b").is_text, {"b": 1})


def test_only_a_single_plain_object_is_judged_by_its_keys() -> None:
    """Lists, several records, cut samples, and strings that hold an object are shown to every reader."""
    inside = Document(b"", '{"a": 1}').root.unpacked()
    one = Document(b"", {"a": 1}).root

    assert lone_object(lone({"a": 1})) == {"a": 1}
    assert lone_object(lone([])) is lone_object(lone({})) is lone_object(lone("a")) is None
    assert lone_object(Sample(container="json", nodes=[inside])) is None
    assert lone_object(Sample(container="json", nodes=[one, one])) is None
    assert lone_object(Sample(container="lines", nodes=[one])) is None
    assert lone_object(Sample(container="json", nodes=[one], partial=True)) is None
