"""The Playground's state and its address."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector_app import words
from inspector_app.page_state.playground import PlaygroundState
from modelcontext_core.tokens import ENCODINGS

SOURCES = st.one_of(
    st.just({}),
    st.builds(lambda name: {"sample": name}, st.from_regex(r"[a-z_]{1,20}", fullmatch=True)),
    st.builds(lambda key: {"key": key}, st.from_regex(r"[0-9a-f]{32}", fullmatch=True)),
    st.just({"path": "/home/me/traces/Ä b.json"}),
)
STATES = st.builds(
    lambda source, **options: PlaygroundState(**source, **options),
    SOURCES,
    format=st.sampled_from(["", "openai_chat"]),
    message=st.integers(0, 200_000),
    view=st.sampled_from(["messages", "handles", "decode", "notices"]),
    citations=st.booleans(),
    pack=st.sampled_from(["auto", "builtin"]),
    off=st.sets(st.integers(0, 300), max_size=4).map(lambda chosen: tuple(sorted(chosen))),
    partial=st.booleans(),
    as_result=st.booleans(),
    encoding=st.sampled_from(ENCODINGS),
    price=st.integers(0, 4000).map(lambda quarters: quarters / 4),
    currency=st.sampled_from(words.playground.CURRENCIES),
)


@given(STATES)
def test_the_address_gives_the_state_back(state: PlaygroundState) -> None:
    """What `to_query` writes, `from_query` reads."""
    assert PlaygroundState.from_query(state.to_query()) == state


def test_every_field_is_part_of_the_address() -> None:
    """A field that is added to the state and forgotten in the address is found."""
    changed = PlaygroundState(
        sample="s", format="f", conversation=2, message=1, view="decode", citations=False, pack="builtin",
        off=(1,), partial=True, as_result=True, encoding=ENCODINGS[1], price=1.0,
        currency=words.playground.CURRENCIES[1],
    )  # fmt: skip

    written = set(changed.to_query()) | {"path", "key", "problem"}

    assert {field.name for field in fields(PlaygroundState)} == written


def test_the_defaults_leave_the_address_empty() -> None:
    """Only what differs is written."""
    assert PlaygroundState().to_query() == {}


@pytest.mark.parametrize(
    "query",
    [
        {"view": "<script>"},
        {"message": "-1"},
        {"message": "x"},
        {"price": "nan"},
        {"off": "1,2"},
        {"key": "short"},
        {"sample": "../../etc"},
        {"encoding": "none"},
        {"currency": "9"},
        {"citations": "2"},
    ],
)
def test_a_wrong_value_falls_back_and_says_so(query: dict[str, str]) -> None:
    """Rubbish in an address gives the default and a sentence, never an error."""
    state = PlaygroundState.from_query(query)

    assert state == PlaygroundState(problem=words.opening.BAD_LINK)


def test_one_source_at_a_time() -> None:
    """An address with several sources opens the first of sample, path and key."""
    state = PlaygroundState.from_query({"key": "0" * 32, "sample": "rag_citations", "path": "/x"})

    assert (state.sample, state.path, state.key) == ("rag_citations", "", "")


def test_a_link_to_pass_on_holds_no_key() -> None:
    """A pasted trace is only for the tab that pasted it."""
    assert PlaygroundState(key="0" * 32, view="decode").shareable().to_query() == {"view": "decode"}


def test_opening_keeps_the_options_and_forgets_the_place() -> None:
    """Another source begins at its first message, with the same price and rules."""
    state = PlaygroundState(sample="a", message=7, view="decode", price=9, pack="builtin", off=(3,))

    assert state.opened(path="/x") == PlaygroundState(path="/x", price=9, pack="builtin")
    assert not state.closed().is_open
