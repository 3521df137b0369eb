"""The sandbox: commits to a copy in memory, and the rule that answers each."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from inspector_app import sandbox as copies
from inspector_app import words
from inspector_app.components.cards import error_card, table
from inspector_app.sandbox import Draft, Preset, Sandbox
from inspector_app.stores import OpenStore
from inspector_app.views.hidden import displayable
from inspector_app.views.sessions_rules import rule_rows
from modelcontext_core.contextstate import BindingRevision, ContextStateError, Limits, Revision, SessionHead

__all__ = ["sandbox"]


def sandbox(opened: OpenStore, head: SessionHead) -> None:
    """Draw the sandbox of a session; its copy is made the first time."""
    if head.event_count > copies.MOST_EVENTS:
        st.info(words.sandbox.too_many_events(copies.MOST_EVENTS))
        return
    copy = opened.sandbox
    if copy is None or copy.session_id != head.session_id:
        copy = _copied(opened, head.session_id)
        if copy is None:
            return
    with st.container(horizontal=True, key="sandbox_head", gap="small", vertical_alignment="center"):
        st.markdown(words.sandbox.TRY_NOTE)
        st.caption(words.sandbox.try_about(copy.copied_revision, copy.head().revision.session))
        if st.button(words.sandbox.TRY_ANEW, key="sandbox_anew", icon=":material/refresh:"):
            opened.sandbox = None
            st.rerun()
    preset = cast(
        "Preset",
        st.segmented_control(
            words.sandbox.TRY_PRESET,
            list(words.sandbox.TRY_PRESETS),
            format_func=lambda name: words.sandbox.TRY_PRESETS[name],
            default="next",
            required=True,
            label_visibility="collapsed",
            key="sandbox_preset",
        ),
    )
    left, right = st.columns(2, gap="small")
    with left:
        _form(copy, preset)
    with right:
        _answer(copy)


def _copied(opened: OpenStore, session_id: str) -> Sandbox | None:
    if opened.full is None:
        return None
    try:
        opened.sandbox = copies.copy_session(opened.full, session_id)
    except ContextStateError as error:
        error_card(words.sessions.COPY_FAILED, displayable(str(error)), key="sandbox_failed")
        return None
    return opened.sandbox


def _form(copy: Sandbox, preset: Preset) -> None:
    given = None
    if preset == "repeat":
        st.caption(words.sandbox.TRY_REPEAT_NOTE)
    else:
        # Each preset and each try begins the fields anew.
        given = _fields(copies.draft(copy, preset), f"{preset}:{len(copy.tried)}:{copy.copied_revision}")
    if not st.button(words.sandbox.TRY_COMMIT, type="primary", key="sandbox_commit"):
        return
    if given is None:
        copy.repeat()
    else:
        copy.attempt(given)
    st.rerun()


def _fields(begin: Draft, version: str) -> Draft:
    def whole(column: Any, name: str, value: int) -> int:
        return int(
            column.number_input(
                words.sandbox.TRY_FIELDS[name],
                min_value=0,
                max_value=2**53 - 1,
                value=value,
                step=1,
                key=f"sandbox_{name}:{version}",
            )
        )

    first, second, third = st.columns(3, gap="small")
    operation = first.text_input(words.sandbox.TRY_KEY, value=begin.operation_id, key=f"sandbox_key:{version}")
    provider = second.text_input(
        words.sandbox.TRY_PROVIDER, value=begin.binding.provider, key=f"sandbox_provider:{version}"
    )
    model = third.text_input(words.sandbox.TRY_MODEL, value=begin.binding.model, key=f"sandbox_model:{version}")
    expected = Revision(
        session=whole(first, "session", begin.expected.session),
        durable=whole(second, "durable", begin.expected.durable),
        source=whole(third, "source", begin.expected.source),
    )
    generation = whole(first, "generation", begin.binding.generation)
    events = whole(second, "events", begin.events)
    size = whole(third, "event_bytes", begin.event_bytes)
    limits = Limits(
        checkpoint_bytes=whole(first, "limit_context", begin.limits.checkpoint_bytes),
        commit_events=whole(second, "limit_events", begin.limits.commit_events),
        commit_event_bytes=whole(third, "limit_bytes", begin.limits.commit_event_bytes),
    )
    st.caption(words.sandbox.TRY_NO_LIMIT)
    context = st.text_input(words.sandbox.TRY_CONTEXT, value=begin.context, key=f"sandbox_context:{version}")
    return Draft(
        operation_id=operation,
        expected=expected,
        binding=BindingRevision(provider=provider, model=model, generation=generation),
        events=min(events, copies.MOST_NEW_EVENTS),
        event_bytes=size,
        context=context,
        limits=limits,
    )


def _answer(copy: Sandbox) -> None:
    if not copy.tried:
        st.caption(words.sandbox.TRY_FIRST)
        return
    tried = copy.tried[0]
    table(
        words.sandbox.TRY_RESULT,
        words.sandbox.try_committed(tried.after.session) if tried.rule is None else "",
        words.sandbox.TRY_COLUMNS,
        rule_rows(tried.rule, replay=tried.replay, text=tried.text),
        key="sandbox_answer",
    )
