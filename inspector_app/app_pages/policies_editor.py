"""The editor of the Policies page: source line, tables, what is wrong, and what the changes do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import pandas as pd
import streamlit as st

from inspector_app import leak_scans, state, words
from inspector_app.components.cards import table
from inspector_app.components.facts import source_line
from inspector_app.pack_drafts import Draft
from inspector_app.page_state.policies import PackView, PoliciesState
from inspector_app.views import leaks, policies
from inspector_app.views.hidden import displayable
from modelcontext_core.policies import DEFAULT_POLICIES
from modelcontext_core.policies.rules import KEY_SPACES, OUTPUT_KINDS

__all__ = ["editor"]


def editor(current: PoliciesState, draft: Draft) -> None:
    """Draw the source line, the chosen table, and beside it the checks."""
    line = st.container()
    st.segmented_control(
        words.policies.VIEW,
        get_args(PackView),
        format_func=lambda view: words.policies.VIEWS[view],
        required=True,
        label_visibility="collapsed",
        **state.bind(PoliciesState, "view"),
    )
    left, right = st.columns([8, 4], gap="small")
    with left:
        twice = _table(current, draft)
    faults = draft.faults()
    with right:
        rows = policies.fault_rows(faults, twice)
        if rows:
            table(
                words.policies.CHECKED,
                words.policies.faults(len(rows)),
                words.policies.FAULT_COLUMNS,
                rows,
                key="faults",
            )
        else:
            st.success(words.policies.SOUND)
        _effect(draft, sound=not rows)
    with line:
        _source_line(draft, sound=not rows)


def _source_line(draft: Draft, *, sound: bool) -> None:
    pack = draft.current
    origins = Counter(pack.origin(tool) for tool in pack.tools)
    with st.container(horizontal=True, key="source", gap="small"):
        with st.popover(words.policies.OPEN, icon=":material/folder_open:", key="open_popover"):
            _open(draft)
        with st.container(key="source_facts"):
            source_line(
                key="pack_source",
                name=displayable(pack.name),
                about=words.policies.about(len(pack.tools), origins["own"], origins["changed"]),
                badge=words.policies.NOT_SAVED if draft.is_changed else "",
            )
        st.button(
            words.policies.UNDO,
            key="pack_undo",
            icon=":material/undo:",
            disabled=not draft.history,
            on_click=draft.undo,
        )
        st.download_button(
            words.policies.SAVE,
            pack.dumps() if sound else "",
            "pack.toml",
            mime="application/toml",
            key="pack_save",
            type="primary",
            icon=":material/download:",
            disabled=not sound,
        )


def _open(draft: Draft) -> None:
    uploaded = st.file_uploader(words.policies.UPLOAD, key="policies_file")
    if uploaded is not None and state.changed("policies_file", "", uploaded.file_id):
        faults = draft.load(uploaded.getvalue().decode("utf-8", errors="replace"), uploaded.name)
        if not faults:
            st.rerun()
        state.keep("pack_faults", faults)
    faults = state.kept("pack_faults") if uploaded is not None else ()
    if faults:
        rows = policies.fault_rows(faults)
        title, hint = words.policies.NOT_OPENED, words.policies.faults(len(rows))
        table(title, hint, words.policies.FAULT_COLUMNS, rows, key="open_faults")
    if st.button(words.policies.BUILTIN, key="pack_builtin"):
        draft.open(DEFAULT_POLICIES)
        st.rerun()


def _table(current: PoliciesState, draft: Draft) -> Sequence[str]:
    """Draw the chosen table and take its edits; the names that stand in it twice."""
    key = f"pack_{current.view}:{draft.version}"
    if state.field(key) is None:
        # The editor forgets its edits when it is not drawn: it begins with what became of them.
        draft.restart()
        key = f"pack_{current.view}:{draft.version}"
    if current.view == "more":
        draft.edit(policies.with_more(draft.current, _more(draft, key)))
        st.caption(words.policies.HINT)
        return ()
    if current.view == "keys":
        draft.edit(policies.with_keys(draft.current, _keys(draft, key)))
        st.caption(words.policies.KEYS_HINT)
        return ()
    pack, twice = policies.with_tools(draft.current, _tools(draft, key))
    draft.edit(pack)
    st.caption(words.policies.HINT)
    return twice


def _tools(draft: Draft, key: str) -> list[dict[str, Any]]:
    names = words.policies.TOOLS
    edited = st.data_editor(
        pd.DataFrame(policies.tool_rows(draft.base), columns=list(names.values())),
        key=key,
        hide_index=True,
        num_rows="dynamic",
        height=400,
        row_height=30,
        disabled=[names["from"]],
        column_config={
            names["output"]: st.column_config.SelectboxColumn(options=OUTPUT_KINDS, default="compact", required=True),
            names["sensitive"]: st.column_config.CheckboxColumn(default=False),
        },
    )
    return _records(edited)


def _more(draft: Draft, key: str) -> list[dict[str, Any]]:
    names = words.policies.MORE
    edited = st.data_editor(
        pd.DataFrame(policies.more_rows(draft.base), columns=list(names.values())),
        key=key,
        hide_index=True,
        height=400,
        row_height=30,
        disabled=[names["tool"]],
    )
    return _records(edited)


def _keys(draft: Draft, key: str) -> list[dict[str, Any]]:
    names = words.policies.KEYS
    spaces = sorted(set(KEY_SPACES.values()))
    edited = st.data_editor(
        pd.DataFrame(policies.key_rows(draft.base), columns=list(names.values()), dtype="str"),
        key=key,
        hide_index=True,
        num_rows="dynamic",
        height=400,
        row_height=30,
        column_config={
            names["space"]: st.column_config.SelectboxColumn(options=spaces, default="document", required=True)
        },
    )
    return _records(edited)


def _records(edited: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in edited.to_dict("records")]


def _effect(draft: Draft, *, sound: bool) -> None:
    st.caption(words.policies.EFFECT)
    kept = state.kept("leaks_open")
    scan = leak_scans.scans().get(kept) if kept else None
    if scan is None or scan.is_saved:
        st.caption(words.policies.EFFECT_NONE)
    elif not sound:
        st.caption(words.policies.EFFECT_WAITS)
    elif st.button(words.policies.MEASURE, key="pack_measure"):
        rows = leaks.compare_rows(scan.compare(draft.current))
        table(words.policies.EFFECT, "", words.policies.EFFECT_COLUMNS, rows, key="pack_effect")
