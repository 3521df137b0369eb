"""The editor of the Policies page: source line, the table of tools, and beside it checks, details and effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import pandas as pd
import streamlit as st

from inspector_app import leak_scans, samples, state, words
from inspector_app.app_pages import policies_compare, policies_details
from inspector_app.app_pages.search_field import search_field
from inspector_app.components.cards import table
from inspector_app.components.facts import source_line
from inspector_app.pack_drafts import Draft
from inspector_app.page_state.policies import Listed, PoliciesState
from inspector_app.views import leaks, policies
from inspector_app.views.hidden import displayable
from inspector_app.words.common import OurName
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES
from modelcontext_core.policies.rules import OUTPUT_KINDS

__all__ = ["editor"]


def editor(current: PoliciesState, draft: Draft) -> None:
    """Draw the source line, the table of tools, and beside it the checks and the details of the ticked rows."""
    line = st.container()
    left, right = st.columns([8, 4], gap="small")
    with left:
        twice = _tools(current, draft)
    with right, st.container(key="policies_panel", border=False):
        checks = st.container()
        unread = policies_details.details(draft)
        policies_details.keys(draft)
        faults = [*draft.faults(), *unread]
        with checks:
            _checks(draft, faults, twice)
        _effect(draft, sound=not faults and not twice)
    with line:
        _source_line(draft, sound=not faults and not twice)


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
        with st.popover(words.policies.COMPARE, icon=":material/difference:", key="compare_popover"):
            policies_compare.compare_area(draft, sound=sound)
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
            help=words.policies.SAVE_HELP,
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
    with st.container(horizontal=True, gap="small"):
        if st.button(words.policies.BUILTIN, key="pack_builtin"):
            draft.open(DEFAULT_POLICIES)
            st.rerun()
        if st.button(words.policies.SAMPLE, key="pack_sample"):
            file = samples.sample_pack()
            draft.load(file.read_text(encoding="utf-8"), file.name)
            st.rerun()


def _tools(current: PoliciesState, draft: Draft) -> Sequence[str]:
    """Draw the table of tools and take its edits; the names that stand in it twice."""
    query = _sift(draft)
    key = f"pack_tools:{draft.version}"
    if draft.sifted != (current.listed, query) or state.field(key) is None:
        # The editor forgets its edits when it is not drawn, or shows other rows: it begins with what became of them.
        draft.sifted = (current.listed, query)
        draft.restart()
        key = f"pack_tools:{draft.version}"
    shown = policies.listed(draft.base, current.listed, query)
    ticked = state.pinned("pack_ticked", key, tuple(draft.ticked))
    rows = _editor(policies.tool_rows(draft.base, shown, ticked), key)
    edited = policies.with_tools(draft.current, rows, base=draft.base, shown=shown, names=draft.names)
    draft.edit(edited.pack)
    draft.names = edited.names
    draft.ticked = [*(tool for tool in ticked if tool not in shown), *edited.ticked]
    if not shown:
        st.caption(words.policies.NONE_LISTED)
    return edited.twice


def _sift(draft: Draft) -> str:
    pack = draft.current
    origins = Counter(pack.origin(tool) for tool in pack.tools)
    numbers: dict[str, int] = {"all": len(pack.tools), "own": origins["own"], "changed": origins["changed"]}
    numbers["faults"] = len(policies.tools_with_faults(pack, draft.faults()))
    with st.container(horizontal=True, key="switch", gap="small", horizontal_alignment="distribute"):
        st.segmented_control(
            words.policies.LISTED,
            get_args(Listed),
            format_func=lambda name: words.policies.listed(OurName(name), numbers.get(name, 0)),
            required=True,
            label_visibility="collapsed",
            **state.bind(PoliciesState, "listed"),
        )
        return search_field("tools", key="pack_search", width=224)


def _editor(rows: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    names, about = words.policies.TOOLS, words.policies.HELP
    with st.container(key="policies_table"):
        edited = st.data_editor(
            pd.DataFrame(rows, columns=[*names.values(), policies.WAS]),
            key=key,
            hide_index=True,
            num_rows="dynamic",
            height="stretch",
            row_height=30,
            disabled=[names["from"]],
            column_order=list(names.values()),
            column_config={
                names["details"]: st.column_config.CheckboxColumn(help=about["details"], default=False, width=60),
                names["tool"]: st.column_config.TextColumn(help=about["tool"]),
                names["from"]: st.column_config.TextColumn(help=about["from"], width=70),
                names["ids"]: st.column_config.TextColumn(help=about["ids"], width=190),
                names["sql"]: st.column_config.TextColumn(help=about["sql"], width=70),
                names["output"]: st.column_config.SelectboxColumn(
                    help=about["output"], options=OUTPUT_KINDS, default="compact", required=True, width=86
                ),
                names["mine"]: st.column_config.TextColumn(help=about["mine"], width=70),
                names["sensitive"]: st.column_config.CheckboxColumn(help=about["sensitive"], default=False, width=80),
            },
        )
    return [{str(name): value for name, value in row.items()} for row in edited.to_dict("records")]


def _checks(draft: Draft, faults: Sequence[PolicyError], twice: Sequence[str]) -> None:
    rows = policies.fault_rows(faults, twice)
    if not rows:
        st.success(words.policies.SOUND)
        return
    table(words.policies.CHECKED, words.policies.faults(len(rows)), words.policies.FAULT_COLUMNS, rows, key="faults")
    sound = len(draft.current.tools) - len(policies.tools_with_faults(draft.current, faults))
    st.caption(words.policies.sound(sound))


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
