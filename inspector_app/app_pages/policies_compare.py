"""Comparing the pack with another: rule by rule, and on the traces of the Leaks page when there are any."""

from __future__ import annotations

import streamlit as st

from inspector_app import leak_scans, state, words
from inspector_app.components.cards import table
from inspector_app.pack_drafts import Draft
from inspector_app.views import leaks, policies, policies_compare
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies

__all__ = ["compare_area"]


def compare_area(draft: Draft, *, sound: bool) -> None:
    """Draw the choice of the other pack, where both differ, and what both leave in the open traces."""
    with st.container(key="compare_box"):
        choice = st.segmented_control(
            words.policies.COMPARE_WITH,
            list(words.policies.COMPARE_CHOICES),
            format_func=lambda name: words.policies.COMPARE_CHOICES[name],
            default="opened",
            required=True,
            key="compare_with",
        )
        other = _uploaded() if choice == "file" else DEFAULT_POLICIES if choice == "builtin" else draft.saved
        if other is None:
            return
        rows = policies_compare.difference_rows(draft.current, other)
        if rows:
            hint = words.policies.differences(len(rows))
            table(words.policies.COMPARED, hint, words.policies.DIFFERENCE_COLUMNS, rows, key="differences")
        else:
            st.success(words.policies.SAME)
        _on_traces(draft, other, sound=sound)


def _uploaded() -> ToolPolicies | None:
    uploaded = st.file_uploader(words.policies.COMPARE_UPLOAD, key="compare_file")
    if uploaded is None:
        st.info(words.policies.COMPARE_FIRST)
        return None
    text = uploaded.getvalue().decode("utf-8", errors="replace")
    faults = ToolPolicies.check(text, uploaded.name)
    if faults:
        rows = policies.fault_rows(faults)
        title, hint = words.policies.NOT_OPENED, words.policies.faults(len(rows))
        table(title, hint, words.policies.FAULT_COLUMNS, rows, key="compare_faults")
        return None
    return ToolPolicies.loads(text, uploaded.name)


def _on_traces(draft: Draft, other: ToolPolicies, *, sound: bool) -> None:
    kept = state.kept("leaks_open")
    scan = leak_scans.scans().get(kept) if kept else None
    if scan is None or scan.is_saved:
        st.info(words.policies.ON_TRACES_NONE)
    elif not sound:
        st.caption(words.policies.EFFECT_WAITS)
    elif st.button(words.policies.MEASURE_BOTH, key="compare_measure"):
        rows = leaks.compare_rows(scan.compare(other, draft.current))
        table(words.policies.ON_TRACES, "", words.leaks.COMPARE_COLUMNS, rows, key="compared_packs")
