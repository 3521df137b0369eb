"""The Sessions page's state and its address."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from inspector_app import words
from inspector_app.page_state.sessions import SessionsState, session_mark

SOURCES = st.one_of(
    st.just({}),
    st.just({"sample": True}),
    st.builds(lambda key: {"key": key}, st.from_regex(r"[0-9a-f]{32}", fullmatch=True)),
    st.just({"path": "/home/me/stores/Ä b.db"}),
)
STATES = st.builds(
    lambda source, **place: SessionsState(**source, **place),
    SOURCES,
    session=st.one_of(st.just(""), st.text(max_size=9).map(session_mark)),
    view=st.sampled_from(["checkpoint", "diff", "events", "payloads", "operations", "try"]),
    revision=st.integers(0, 2**53),
    base=st.integers(0, 2**53),
    first=st.integers(1, 2**53),
)


@given(STATES)
def test_the_address_gives_the_state_back(state: SessionsState) -> None:
    """What `to_query` writes, `from_query` reads."""
    assert SessionsState.from_query(state.to_query()) == state


@given(st.text())
def test_an_address_holds_no_session_id(session_id: str) -> None:
    """An id is text of the store: a mark of fixed form stands for it."""
    mark = SessionsState(sample=True).at_session(session_id).to_query()["session"]

    assert len(mark) == 16
    assert set(mark) <= set("0123456789abcdef")


def test_every_field_is_part_of_the_address() -> None:
    """A field that is added to the state and forgotten in the address is found."""
    changed = SessionsState(sample=True, session="0" * 16, view="events", revision=1, base=1, first=2)

    assert {field.name for field in fields(SessionsState)} == set(changed.to_query()) | {"path", "key", "problem"}


def test_a_wrong_value_falls_back_and_is_said() -> None:
    """What cannot be understood is left out; the rest of the link is followed."""
    state = SessionsState.from_query({"sample": "1", "view": "nonsense", "revision": "-3", "session": "x"})

    assert state == SessionsState(sample=True, problem=words.opening.BAD_LINK)


def test_another_session_begins_anew_and_the_first_keeps_its_place() -> None:
    """A link without a session keeps its revision; a change of session does not."""
    linked = SessionsState(sample=True, revision=16, base=13).at_session("a")

    assert (linked.revision, linked.base) == (16, 13)
    assert linked.at_session("b").revision == 0


def test_a_shared_link_has_no_key() -> None:
    """What only this tab may open is no part of a link to pass on."""
    assert SessionsState(key="0" * 32, view="events").shareable().to_query() == {"view": "events"}
