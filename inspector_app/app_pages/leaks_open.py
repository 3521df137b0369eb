"""Opening on the Leaks page: files, folders, saved reports, samples; and the scan with its progress."""

from __future__ import annotations

from typing import Final

import streamlit as st

from inspector_app import data, launch, leak_scans, opening, places, samples, state, words
from inspector_app.app_pages.playground_open import sample_cards
from inspector_app.components.cards import error_card
from inspector_app.leak_scans import Scan
from inspector_app.page_state.leaks import LeaksState
from inspector_app.page_state.playground import PlaygroundState
from modelcontext_core.leak_report.report_json import ReportError

__all__ = ["empty_page", "inputs", "opened", "scan_now"]

_FILES: Final = "leaks_files"
_PATH: Final = "leaks_path"


def opened(current: LeaksState) -> Scan | None:
    """Return what the state names, opening a sample or a path if need be; None when there is nothing."""
    source = f"leaks\n{current.sample}\n{current.path}"
    kept = state.kept("leaks") or ("", "")
    key = current.key or (kept[1] if kept[0] == source else "")
    scan = leak_scans.scans().get(key) if key else None
    if scan is None and current.key:
        state.save(LeaksState(problem=words.leaks.GONE))
    elif scan is None and current.is_open:
        scan = _open_named(current)
        if scan is not None:
            state.keep("leaks", (source, scan.key))
    return scan


def _open_named(current: LeaksState) -> Scan | None:
    sample = samples.find(current.sample) if current.sample else None
    problem = ""
    if current.sample and sample is None:
        problem = words.opening.UNKNOWN_SAMPLE
    elif sample is None and not launch.local_files_allowed():
        problem = words.opening.PATHS_ARE_OFF
    else:
        try:
            scan = leak_scans.open_path(sample.file if sample else places.typed_path(current.path))
            if scan.pieces or scan.result is not None:
                return leak_scans.hold(scan)
            problem = words.leaks.NOTHING_IN_IT
        except OSError:
            problem = words.leaks.NO_SUCH_PATH
        except ReportError:
            problem = words.leaks.BAD_REPORT
    _fail(problem)
    return None


def _fail(problem: str) -> None:
    state.save(LeaksState(problem=problem))


def scan_now(scan: Scan) -> None:
    """Scan what is open, showing how far it is; then the page is drawn anew with the result."""
    with st.container(horizontal=True, key="leaks_scan", gap="small", vertical_alignment="center"):
        st.text(words.leaks.SCANNING)
        bar = st.progress(0.0)
        amount = st.empty()
        st.button(words.leaks.STOP, key="leaks_stop", icon=":material/stop_circle:", on_click=_stop, args=(scan.key,))
    if not scan.version:
        st.caption(words.leaks.SCANNING_FIRST)
    total = max(1, scan.size)
    amount.caption(words.leaks.done(0.0, total / 1e6))
    seen = {"scan": 0, "measure": 0}

    def progress(step: str, size: int) -> None:
        # Drawing is also where a press of Stop, or another page, ends this run.
        seen[step] += size
        bar.progress(min(1.0, seen["scan"] / total))
        scanning = step == "scan"
        amount.caption(words.leaks.done(seen["scan"] / 1e6, total / 1e6) if scanning else words.leaks.MEASURING)

    scan.run(progress)
    # Drawn anew without the bar and the button.
    st.rerun()


def _stop(key: str) -> None:
    scan = leak_scans.scans().get(key)
    if scan is not None and scan.go_back():
        return
    leak_scans.scans().forget(key)
    state.save(LeaksState(problem=words.leaks.STOPPED))


def empty_page(current: LeaksState) -> None:
    """Draw the page without a source: what it is for, the inputs, the samples."""
    if current.problem:
        title = words.leaks.PROBLEM_TITLES.get(current.problem, words.opening.UNREADABLE_TITLE)
        error_card(title, current.problem, key="leaks_problem")
    else:
        st.title(words.leaks.EMPTY_TITLE, anchor=False)
        with st.container(key="empty_text"):
            st.text(words.leaks.EMPTY_TEXT)
    inputs("empty")


def inputs(where: str) -> None:
    """Draw the inputs: upload, path, the trace of the Playground, samples."""
    held = opening.opened(state.load(PlaygroundState)) if where == "empty" else None
    if held is not None:
        st.button(words.leaks.OPEN_CURRENT, key="leaks_current", type="primary", on_click=_take_current, args=(held,))
    left, right = st.columns(2, gap="small", vertical_alignment="bottom")
    with left:
        st.file_uploader(
            words.leaks.UPLOAD, key=f"{_FILES}:{where}", accept_multiple_files=True, on_change=_upload, args=(where,)
        )
    with right:
        if launch.local_files_allowed():
            st.text_input(
                words.leaks.PATH,
                key=f"{_PATH}:{where}",
                placeholder=words.leaks.PATH_HINT,
                icon=":material/folder:",
                label_visibility="collapsed",
                on_change=_path,
                args=(where,),
            )
    chosen = sample_cards(f"leaks_samples:{where}")
    if chosen:
        state.save(state.load(LeaksState).opened(sample=chosen))
        st.rerun()


def _take_current(held: data.Held) -> None:
    _take(leak_scans.of_trace(held))


def _upload(where: str) -> None:
    uploaded = state.field(f"{_FILES}:{where}") or []
    files = [(each.name, each.getvalue()) for each in uploaded]
    if not files:
        return
    try:
        _take(leak_scans.open_files(files[0][0] if len(files) == 1 else words.leaks.UPLOADED, files))
    except ReportError:
        _fail(words.leaks.BAD_REPORT)


def _take(scan: Scan) -> None:
    leak_scans.hold(scan)
    state.save(state.load(LeaksState).opened(key=scan.key))


def _path(where: str) -> None:
    named = (state.field(f"{_PATH}:{where}") or "").strip()
    if named:
        state.save(state.load(LeaksState).opened(path=named))
