"""The popovers of the Leaks page: detectors, packs, exports; and accepting a leak."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from inspector_app import state, words
from inspector_app.components.cards import table
from inspector_app.leak_scans import Scan
from inspector_app.page_state.leaks import LeaksState
from inspector_app.views import leaks
from modelcontext_core.detectors import DETECTORS, Detectors, PatternError, UserPattern
from modelcontext_core.errors import PolicyError
from modelcontext_core.leak_report.baseline import Baseline, BaselineError
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.trace_scan import Occurrence
from modelcontext_core.policies import ToolPolicies

__all__ = ["accept", "popovers"]


def popovers(scan: Scan, report: LeakReport) -> None:
    """Draw the three popovers of the source line."""
    if not scan.is_saved:
        with st.popover(words.leaks.DETECTORS, icon=":material/tune:", key="detectors_popover"):
            _detectors(scan)
        with st.popover(words.leaks.PACK, icon=":material/rule:", key="pack_popover"):
            _packs(scan)
    with st.popover(words.leaks.EXPORT, icon=":material/download:", key="export_popover"):
        _exports(scan, report)


def _detectors(scan: Scan) -> None:
    kinds = st.multiselect(
        words.leaks.DETECTOR_KINDS,
        list(words.leaks.DETECTOR_NAMES),
        default=list(scan.detectors.kinds),
        format_func=lambda kind: words.leaks.DETECTOR_NAMES[kind],
        key=f"detector_kinds:{scan.key}",
    )
    written = st.text_input(
        words.leaks.PATTERN,
        key=f"detector_pattern:{scan.key}",
        placeholder=words.leaks.PATTERN_HINT,
        label_visibility="collapsed",
    )
    if st.button(words.leaks.USE_DETECTORS, key="use_detectors", type="primary"):
        name, _, pattern = (written or "").partition("=")
        patterns = (UserPattern(name=name.strip(), pattern=pattern),) if written else ()
        try:
            scan.look_for(Detectors(kinds=tuple(kind for kind in DETECTORS if kind in kinds), patterns=patterns))
        except PatternError:
            st.error(words.leaks.BAD_PATTERN)
        else:
            st.rerun()


def _packs(scan: Scan) -> None:
    uploaded = st.file_uploader(words.leaks.PACK_UPLOAD, key=f"leaks_pack:{scan.key}")
    if uploaded is not None and state.changed("leaks_pack", scan.key, uploaded.file_id):
        pack = _pack(uploaded)
        if pack is not None:
            scan.use(pack)
            st.rerun()
    other = st.file_uploader(words.leaks.COMPARE_UPLOAD, key=f"leaks_other:{scan.key}")
    second = _pack(other) if other is not None else None
    if second is not None:
        rows = leaks.compare_rows(scan.compare(second))
        table(words.leaks.COMPARED, "", words.leaks.COMPARE_COLUMNS, rows, key="compared")


def _pack(uploaded: Any) -> ToolPolicies | None:
    try:
        return ToolPolicies.loads(uploaded.getvalue().decode("utf-8"), uploaded.name)
    except (PolicyError, UnicodeDecodeError):
        st.error(words.leaks.BAD_PACK)
        return None


def _exports(scan: Scan, report: LeakReport) -> None:
    with st.container(horizontal=True, key="exports", gap="small"):
        st.download_button(
            words.leaks.EXPORT_CSV, leaks.rows_csv(report.rows), "leaks.csv", mime="text/csv", key="export_csv"
        )
        st.download_button(words.leaks.EXPORT_REPORT, scan.report_file, "leaks.json", key="export_report")
        st.download_button(words.leaks.EXPORT_SARIF, scan.sarif_file, "leaks.sarif", key="export_sarif")
        if not scan.is_saved:
            st.download_button(words.leaks.EXPORT_PACK, scan.pack.dumps, "pack.toml", key="export_pack")
        if scan.baseline is not None:
            st.download_button(words.leaks.EXPORT_BASELINE, scan.baseline.dumps, "baseline.json", key="export_baseline")
    uploaded = st.file_uploader(words.leaks.BASELINE_UPLOAD, key=f"leaks_baseline:{scan.key}")
    if uploaded is not None and state.changed("leaks_baseline", scan.key, uploaded.file_id):
        try:
            scan.baseline = Baseline.loads(uploaded.getvalue().decode("utf-8", errors="replace"))
        except BaselineError:
            st.error(words.leaks.BAD_BASELINE)
        else:
            st.rerun()
    current = state.load(LeaksState)
    st.caption(words.leaks.LINK_PRIVATE if current.key else words.leaks.LINK)
    st.code(state.link(replace(current, key="")), language=None, wrap_lines=True)


def accept(scan: Scan, report: LeakReport, occurrence: Occurrence) -> None:
    """Draw what accepting the chosen finding's place needs: a reason, and perhaps an end."""
    with st.popover(words.leaks.ACCEPT, icon=":material/check:", key="accept_popover"):
        reason = st.text_input(
            words.leaks.ACCEPT_REASON, key="accept_reason", placeholder=words.leaks.ACCEPT_REASON_HINT
        )
        until = st.date_input(words.leaks.ACCEPT_UNTIL, value=None, key="accept_until")
        if st.button(words.leaks.ACCEPT, key="accept", type="primary"):
            key = next((each for each in report.rows if each.fingerprint == occurrence.row.fingerprint), None)
            try:
                if key is not None:
                    scan.accept(key, reason or "", until.isoformat() if until else "")
            except BaselineError:
                st.error(words.leaks.NEEDS_REASON)
            else:
                st.rerun()
