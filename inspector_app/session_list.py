"""The sessions of a store, also where the head of one is damaged: that one is listed, with what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, Protocol

from modelcontext_core.contextstate import DamagedStoreError, SessionHead, SessionNotFoundError

__all__ = ["ListedSession", "list_sessions"]


class ListedSession(NamedTuple):
    """A session of a list: its head, without its context, or why that cannot be read."""

    session_id: str
    head: SessionHead | None
    damage: DamagedStoreError | None = None


class _Listing(Protocol):
    def sessions(
        self, prefix: str = "", after: str = "", limit: int = 100, *, contexts: bool = True
    ) -> tuple[SessionHead, ...]: ...

    def session_ids(self, prefix: str = "", after: str = "", limit: int = 100) -> tuple[str, ...]: ...

    def head(self, session_id: str, *, contexts: bool = True) -> SessionHead: ...


def list_sessions(store: _Listing, prefix: str = "", after: str = "", limit: int = 100) -> tuple[ListedSession, ...]:
    """At most `limit` sessions, as `ContextStore.sessions` lists them; one whose head is damaged hides no other.

    Raises `StoreError` where the store cannot be read, and `DamagedStoreError` where not even the ids can.
    """
    try:
        heads = store.sessions(prefix, after, limit, contexts=False)
    except DamagedStoreError:
        return tuple(_one_by_one(store, store.session_ids(prefix, after, limit)))
    return tuple(ListedSession(head.session_id, head) for head in heads)


def _one_by_one(store: _Listing, names: tuple[str, ...]) -> Iterator[ListedSession]:
    for name in names:
        with suppress(SessionNotFoundError):  # deleted meanwhile
            try:
                yield ListedSession(name, store.head(name, contexts=False))
            except DamagedStoreError as error:
                yield ListedSession(name, None, error)
