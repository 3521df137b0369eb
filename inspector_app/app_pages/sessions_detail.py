"""The views below the timeline: one checkpoint, the diff of two, events, payloads, operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import pandas as pd
import streamlit as st

from inspector_app import state, words
from inspector_app.app_pages import sessions_change
from inspector_app.components.linked_view import linked_view
from inspector_app.page_state.sessions import SessionsState
from inspector_app.stores import OpenStore
from inspector_app.views.sessions import CONTEXT_SHOWN, event_rows, operation_rows, payload_rows
from inspector_app.views.sessions_diff import diff_view, one_view
from modelcontext_core.contextstate import Checkpoint, SessionHead

__all__ = ["choose", "detail", "places"]

_ROWS: Final = 200


def places(current: SessionsState, total: int) -> tuple[int, int]:
    """Return the chosen checkpoint and the one that it is compared with, both from 1 to `total`."""
    revision = min(current.revision or total, total)
    base = min(current.base, total) if current.base else revision - 1
    return revision, max(base, 1)


def choose(revision: int, total: int) -> None:
    """Choose another checkpoint; one that was compared with the one before it still is."""
    current, revision = state.load(SessionsState), max(1, min(revision, total))
    before, base = places(current, total)
    # Compared with itself it says nothing, so that is no wish.
    follows = base in (max(before - 1, 1), before, revision)
    state.save(replace(current, revision=revision, base=max(revision - 1, 1) if follows else base))


def detail(opened: OpenStore, head: SessionHead) -> None:
    """Draw the switch and the chosen view."""
    current = state.load(SessionsState)
    total = head.revision.session
    revision, base = places(current, total)
    if (revision, base) != (current.revision, current.base):
        current = state.save(replace(current, revision=revision, base=base))
    with st.container(horizontal=True, key="switch", gap="small"):
        st.segmented_control(
            words.sessions.VIEW,
            list(words.sessions.VIEWS),
            format_func=lambda view: words.sessions.VIEWS[view],
            required=True,
            label_visibility="collapsed",
            **state.bind(SessionsState, "view"),
        )
        aside = st.container(horizontal=True, key="sessions_aside", gap="small", vertical_alignment="center")
    if current.view == "events":
        _events(opened, head, current, aside)
    elif current.view == "payloads":
        _payloads(opened, head, aside)
    elif current.view == "operations":
        _operations(opened, head, revision)
    else:
        with aside:
            _chooser(current, total)
        if current.view == "checkpoint" or total < 2:
            _one(opened, head, revision)
        else:
            _diff(opened, head, base, revision)


def _chooser(current: SessionsState, total: int) -> None:
    if total < 2:
        return
    if current.view == "diff":
        st.text(words.sessions.FROM)
        _number("base", total)
        st.text(words.sessions.TO)
    _number("revision", total)


def _number(field: str, total: int) -> None:
    tied = state.bind(SessionsState, field)
    if field == "revision":
        # As a click in the timeline: stepping from checkpoint to checkpoint shows what each one changed.
        tied = {"key": tied["key"], "on_change": lambda: choose(state.field(tied["key"]), total)}
    st.number_input(
        words.sessions.NUMBERS[field],
        min_value=1,
        max_value=total,
        step=1,
        width=116,
        label_visibility="collapsed",
        **tied,
    )


# --- checkpoints


def _title(checkpoint: Checkpoint) -> tuple[str, str]:
    where = checkpoint.id.source_range
    return (
        words.sessions.revision_title(checkpoint.revision.session),
        words.sessions.diff_title(
            len(checkpoint.active_context),
            CONTEXT_SHOWN,
            where.start.sequence,
            where.end.sequence,
            checkpoint.binding.generation,
        ),
    )


def _diff(opened: OpenStore, head: SessionHead, base: int, revision: int) -> None:
    before = opened.store.checkpoint_at(head.session_id, base)
    after = opened.store.checkpoint_at(head.session_id, revision)
    version = f"{opened.key}:{opened.version}:{head.session_id}:{base}:{revision}"
    linked_view(
        diff_view(before, after),
        key="sessions_diff",
        titles=(*_title(before), *_title(after)),
        rev=version,
        base=version,
        detail=False,
        alone=True,
        least=250,
    )


def _one(opened: OpenStore, head: SessionHead, revision: int) -> None:
    checkpoint = opened.store.checkpoint_at(head.session_id, revision)
    version = f"{opened.key}:{opened.version}:{head.session_id}:{revision}"
    linked_view(
        one_view(checkpoint),
        key="sessions_one",
        titles=(*_title(checkpoint), words.sessions.CONTEXT_TITLE, ""),
        rev=version,
        base=version,
        detail=False,
        alone=True,
        least=250,
    )


# --- tables


def _table(
    rows: Sequence[dict[str, Any]], key: str, *, select: bool = False, columns: Mapping[str, Any] | None = None
) -> int | None:
    with st.container(key="sessions_table"):
        event = st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            height="stretch",
            row_height=28,
            on_select="rerun" if select else "ignore",
            selection_mode="single-row",
            placeholder="",
            key=key,
            column_config=columns,
        )
    if not select:
        return None
    picked = cast("dict[str, Any]", event)["selection"]["rows"]
    return int(picked[0]) if picked and picked[0] < len(rows) else None


def _turn(current: SessionsState, shown: int, total: int) -> None:
    """Buttons to the rows before and after, where there are more than fit."""
    if total <= _ROWS:
        return

    def turn(to: int) -> None:
        state.save(replace(state.load(SessionsState), first=max(1, min(to, total))))

    first, after = current.first, current.first + shown
    st.button(
        words.sessions.EARLIER, key="sessions_rows_before", disabled=first <= 1, on_click=turn, args=(first - _ROWS,)
    )
    st.button(words.sessions.LATER, key="sessions_rows_after", disabled=after > total, on_click=turn, args=(after,))
    _number("first", total)
    st.caption(words.sessions.range_shown(first, after - 1, total))


def _events(opened: OpenStore, head: SessionHead, current: SessionsState, aside: Any) -> None:
    first = min(current.first, max(head.event_count, 1))
    if first != current.first:
        current = state.save(replace(current, first=first))
    events = opened.store.events(head.session_id, first - 1, _ROWS)
    if not events:
        st.info(words.sessions.EVENTS_EMPTY)
        return
    with aside:
        _turn(current, len(events), head.event_count)
    _table(event_rows(events), f"sessions_events:{opened.version}:{first}")


def _payloads(opened: OpenStore, head: SessionHead, aside: Any) -> None:
    # Rows are paged by their key: the pages are remembered as one goes through them.
    pages = state.pinned("sessions_payloads", f"{opened.key}:{opened.version}:{head.session_id}", (0,))
    rows = opened.store.payloads(head.session_id, pages[-1], _ROWS)
    if not rows and len(pages) == 1:
        st.info(words.sessions.PAYLOADS_EMPTY)
        return
    # A reference is told by its beginning; whole, it would push half of the table out of sight.
    columns = {words.sessions.PAYLOAD_COLUMNS["ref"]: st.column_config.TextColumn(width=200)}
    key = f"sessions_payloads:{opened.version}:{len(pages)}"
    number = _table(payload_rows(rows), key, select=True, columns=columns)
    with aside:
        _payload_pages(opened, head, pages, rows[-1].number if len(rows) == _ROWS else 0)
        row = rows[number] if number is not None else None
        if opened.full is None or row is None or row.record.revoked:
            st.caption(words.sessions.REVOKE_CHOOSE)
        elif st.button(words.sessions.REVOKE, key="sessions_revoke", icon=":material/block:"):
            sessions_change.revoke_dialog(opened, head.session_id, row)


def _payload_pages(opened: OpenStore, head: SessionHead, pages: tuple[int, ...], following: int) -> None:
    if len(pages) == 1 and not following:
        return

    def turn(to: tuple[int, ...]) -> None:
        state.pin("sessions_payloads", f"{opened.key}:{opened.version}:{head.session_id}", to)

    st.button(
        words.sessions.EARLIER,
        key="sessions_payloads_before",
        disabled=len(pages) == 1,
        on_click=turn,
        args=(pages[:-1],),
    )
    st.button(
        words.sessions.LATER,
        key="sessions_payloads_after",
        disabled=not following,
        on_click=turn,
        args=((*pages, following),),
    )


def _operations(opened: OpenStore, head: SessionHead, revision: int) -> None:
    first = (revision - 1) // 100 * 100
    entries = opened.store.history(head.session_id, first, 100, contexts=False)
    _table(operation_rows(entries), f"sessions_operations:{opened.version}:{first}")
