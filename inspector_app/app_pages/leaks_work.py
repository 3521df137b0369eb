"""The Leaks page with a result: facts, heat map, what to do, findings, and the message of one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st

from inspector_app import leak_scans, state, words
from inspector_app.app_pages import leaks_open, leaks_options
from inspector_app.app_pages.search_field import search_field
from inspector_app.components.cards import actions, table
from inspector_app.components.facts import proof_line, source_line
from inspector_app.components.heat_map import heat_map
from inspector_app.components.linked_view import linked_view
from inspector_app.leak_scans import Scan
from inspector_app.page_state.leaks import Known, LeaksState, LeakView
from inspector_app.views import leak_figures, leaks
from inspector_app.views.hidden import displayable, one_line
from inspector_app.views.linked import Part, view_part
from modelcontext_core.leak_report.rows import LeakReport
from modelcontext_core.leak_report.trace_scan import Occurrence

__all__ = ["work_area"]


def work_area(current: LeaksState, scan: Scan) -> None:
    """Draw everything about one result."""
    assert scan.result is not None
    report = scan.result.report
    _source_line(scan, report)
    proof_line(leaks.facts(report, scan.judged, scan.baseline), key="leaks_proof", group="leaks")
    query = _switch(scan)
    if current.view == "coverage":
        _coverage(report)
    else:
        left, right = st.columns([7, 5], gap="small")
        with left:
            _overview(current, scan, report)
        with right:
            _what_to_do(scan, report)
    _findings(current, scan, report, query)


def _source_line(scan: Scan, report: LeakReport) -> None:
    totals = report.totals
    with st.container(horizontal=True, key="source", gap="small"):
        with st.popover(words.opening.OPEN, icon=":material/folder_open:", key="open_popover"):
            leaks_open.inputs("again")
            if st.button(words.leaks.CLOSE, key="leaks_close", icon=":material/close:"):
                leak_scans.scans().forget(scan.key)
                state.save(LeaksState())
                st.rerun()
        with st.container(key="source_facts"):
            source_line(
                key="leaks_source",
                name=displayable(scan.name),
                about=words.leaks.about(totals.sources, totals.traces, totals.messages),
                badge=words.leaks.unreadable(totals.unreadable),
            )
        leaks_options.popovers(scan, report)


def _switch(scan: Scan) -> str:
    """Draw the choice of the view and of the ids, and the search; what is searched for."""
    with st.container(horizontal=True, key="switch", gap="small"):
        st.segmented_control(
            words.leaks.VIEW,
            get_args(LeakView),
            format_func=lambda view: words.leaks.VIEWS[view],
            required=True,
            label_visibility="collapsed",
            **state.bind(LeaksState, "view"),
        )
        st.segmented_control(
            words.leaks.KNOWN,
            get_args(Known),
            format_func=lambda known: words.leaks.KNOWNS[known],
            required=True,
            label_visibility="collapsed",
            **state.bind(LeaksState, "known"),
        )
        if scan.applied and st.button(words.leaks.RESET, key="leaks_reset", icon=":material/undo:"):
            scan.reset()
            st.rerun()
        with st.container(horizontal=True, key="leaks_search_box", horizontal_alignment="right"):
            return search_field("findings", key="leaks_search", width=230)


def _coverage(report: LeakReport) -> None:
    rows = leaks.coverage_rows(report)
    table(words.leaks.COVERAGE_TITLE, words.leaks.COVERAGE_HINT, words.leaks.COVERAGE_COLUMNS, rows, key="coverage")


def _overview(current: LeaksState, scan: Scan, report: LeakReport) -> None:
    dark = st.context.theme.type == "dark"
    if not report.totals.leaks:
        st.success(words.leaks.NO_LEAKS)
    elif current.view == "along":
        st.plotly_chart(leak_figures.along(report, current.known, dark=dark), key="leaks_along")
    elif current.view == "top":
        st.plotly_chart(leak_figures.top(report, current.known, dark=dark), key="leaks_top")
        st.caption(words.leaks.TOP_NOTE)
    else:
        names = [words.leaks.FIELDS[name] for name in leaks.COLUMNS]
        rows = leaks.heat_rows(report, current.known)
        picked = heat_map(rows, names, key="heat", chosen=(current.row, current.column))
        if picked is not None and state.changed("heat", f"{scan.key}:{scan.version}", (picked, current.row)):
            same = picked == (current.row, current.column)
            row, column = (-1, -1) if same else picked
            state.save(replace(current, row=row, column=column, finding=0))
            st.rerun()


def _what_to_do(scan: Scan, report: LeakReport) -> None:
    assert scan.result is not None
    rows = leaks.action_rows(report, scan.result.suggestions, can_apply=not scan.is_saved)
    hint = words.leaks.SAVED_ONLY if scan.is_saved else words.leaks.WHAT_TO_DO_HINT
    chosen = actions(words.leaks.WHAT_TO_DO, hint, rows, empty=words.leaks.NOTHING_TO_DO, key="suggestions")
    if chosen:
        scan.apply(int(chosen))
        st.rerun()


def _findings(current: LeaksState, scan: Scan, report: LeakReport, query: str) -> None:
    names = leaks.producers(report)
    chosen = leaks.Chosen(
        producer=names[current.row] if 0 <= current.row < len(names) else "",
        field=leaks.COLUMNS[current.column] if 0 <= current.column < len(leaks.COLUMNS) else "",
        known=current.known,
        query=query,
    )
    found, total, traces = leaks.findings(report, chosen)
    if not found:
        if report.totals.leaks:
            st.info(words.leaks.NOTHING_FOUND if query.strip() else words.leaks.NOTHING_HERE)
        return
    with st.container(horizontal=True, key="leaks_shown", gap="small", vertical_alignment="center"):
        about = words.leaks.findings(len(found), total, traces)
        name = " · ".join(filter(None, (one_line(chosen.producer), chosen.field)))
        source_line(key="leaks_shown_line", name=name or words.leaks.ALL_FINDINGS, about=about)
        if (chosen.producer or chosen.field) and st.button(words.leaks.SHOW_ALL, key="leaks_all", type="tertiary"):
            state.save(replace(current, row=-1, column=-1, finding=0))
            st.rerun()
    left, right = st.columns([5, 7], gap="small")
    with left:
        number = _list(current, scan, found, hash(query))
        leaks_options.accept(scan, report, found[number])
    with right:
        _message(scan, found[number], low=current.view == "coverage")


def _list(current: LeaksState, scan: Scan, found: list[Occurrence], version: int) -> int:
    names = words.leaks.FINDING_COLUMNS
    with st.container(key="leaks_list"):
        event = st.dataframe(
            pd.DataFrame(leaks.finding_rows(found)),
            hide_index=True,
            row_height=30,
            height="stretch",
            on_select="rerun",
            selection_mode="single-row-required",
            selection_default={"selection": {"rows": [min(current.finding, len(found) - 1)]}},
            key=f"findings:{scan.key}:{scan.version}:{current.row}:{current.column}:{current.known}:{version:x}",
            placeholder="–",  # what stands in a tool definition is in no message
            column_config={
                names["message"]: st.column_config.NumberColumn(width=54),
                # Whole, a long one would push what is behind it out of sight; it stands above the message, too.
                names["place"]: st.column_config.TextColumn(width=150),
            },
        )
    rows = cast("dict[str, Any]", event)["selection"]["rows"]
    number = min(int(rows[0]) if rows else current.finding, len(found) - 1)
    if number != current.finding:
        state.save(replace(current, finding=number))
    return number


def _message(scan: Scan, occurrence: Occurrence, *, low: bool) -> None:
    where = f"messages[{occurrence.message}].{occurrence.path}" if occurrence.message >= 0 else occurrence.path
    st.code(displayable("  ".join(filter(None, (where, occurrence.json_path)))), language=None)
    if occurrence.message < 0:
        st.caption(words.leaks.IN_TOOLS)
        return
    analysis = scan.message_of(occurrence)
    if analysis is None:
        st.caption(words.leaks.MESSAGE_GONE)
        return
    part = Part(first=occurrence.message, last=occurrence.message + 1)
    version = f"{scan.key}:{scan.version}:{occurrence.trace}:{occurrence.conversation}:{occurrence.message}"
    linked_view(
        view_part(analysis, [part], 0),
        # Its height is fitted once: a view that leaves it less room has one of its own.
        key="leak_message_low" if low else "leak_message",
        titles=words.leaks.MESSAGE_TITLES,
        rev=version,
        base=version,
        goto=occurrence.message,
        detail=False,
        alone=True,
        least=98 if low else 170,
    )
