"""Options and downloads of the Playground."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from inspector_app import __version__, data, state, words
from inspector_app.app_pages.playground_source import own_pack_fields, read_as
from inspector_app.page_state.playground import PlaygroundState
from inspector_app.views import tables
from inspector_app.views.analysis import Analysis
from inspector_app.views.html_report import html_report
from inspector_app.views.texts import messages_json
from inspector_app.views.write_back import write_back
from modelcontext_core import tokens

__all__ = ["diagnostics", "downloads", "options"]


def options(held: data.Held, analysis: Analysis) -> None:
    """Draw the options: format, citations, rules, tokenizer, price."""
    current = state.load(PlaygroundState)
    read_as(current, held)
    st.toggle(words.playground.CITATIONS, **state.bind(PlaygroundState, "citations"))
    if held.trace.format == "text":
        st.toggle(words.playground.PLAIN_AS_RESULT, **state.bind(PlaygroundState, "as_result"))
    st.segmented_control(
        words.playground.PACK,
        list(words.playground.PACKS),
        format_func=lambda pack: words.playground.PACKS[pack],
        required=True,
        help=words.playground.PACK_HELP,
        **state.bind(PlaygroundState, "pack"),
    )
    if current.pack == "own":
        own_pack_fields()
    else:
        _rules(held, analysis)
    left, middle, right = st.columns([2, 1, 2], gap="small")
    left.number_input(
        words.playground.PRICE, min_value=0.0, max_value=1_000_000.0, step=0.5, **state.bind(PlaygroundState, "price")
    )
    middle.selectbox(words.playground.CURRENCY, words.playground.CURRENCIES, **state.bind(PlaygroundState, "currency"))
    right.selectbox(words.playground.ENCODING, tokens.ENCODINGS, **state.bind(PlaygroundState, "encoding"))


def _rules(held: data.Held, analysis: Analysis) -> None:
    if not analysis.proposals:
        st.caption(words.playground.NO_RULES)
        return
    st.caption(words.playground.RULES_TITLE)
    # The switches begin as they were when the table was first drawn; what was changed since is read from its result.
    version = f"{held.key}:{state.load(PlaygroundState).conversation}"
    begin = state.pinned("rules", version, analysis.off)
    rows = pd.DataFrame(tables.rule_rows(analysis.proposals, begin))
    edited = st.data_editor(
        rows,
        hide_index=True,
        height=min(36 + 30 * len(rows), 260),
        row_height=30,
        disabled=[name for name in rows.columns if name != words.playground.RULE_ON],
        key=f"rules:{version}",
    )
    off = _switched_off(edited[words.playground.RULE_ON].tolist())
    if off != state.load(PlaygroundState).off:
        state.save(replace(state.load(PlaygroundState), off=off))
        st.rerun()


def _switched_off(switches: Sequence[bool]) -> tuple[int, ...]:
    return tuple(number for number, on in enumerate(switches) if not on)


def downloads(current: PlaygroundState, held: data.Held, chosen: data.Options) -> None:
    """Draw the downloads, made when they are asked for, the link to this view and the diagnostics."""
    # The server keeps these functions with the tab: through `held` they let go of a trace that was closed.
    st.download_button(
        words.playground.SAVE_ENCODED,
        lambda: messages_json(data.analyse(held, chosen).encoded),
        file_name=words.playground.FILE_ENCODED,
        mime="application/json",
        on_click="ignore",
        key="save_encoded",
        width="stretch",
    )
    st.download_button(
        words.playground.SAVE_HANDLES,
        lambda: tables.handles_csv(data.analyse(held, chosen)),
        file_name=words.playground.FILE_HANDLES,
        mime="text/csv",
        on_click="ignore",
        key="save_handles",
        width="stretch",
    )
    st.download_button(
        words.playground.SAVE_REPORT,
        lambda: html_report(
            data.analyse(held, chosen),
            data.prove(held, chosen),
            name=held.name,
            price=current.price,
            currency=current.currency,
        ),
        file_name=words.playground.FILE_REPORT,
        mime="text/html",
        on_click="ignore",
        key="save_report",
        width="stretch",
    )
    writable = data.can_be_written_back(held) and not current.as_result
    st.download_button(
        words.playground.SAVE_TRACE,
        lambda: write_back(held.trace, held.data, data.analyse(held, chosen)),
        file_name=words.playground.FILE_TRACE,
        mime="application/json",
        on_click="ignore",
        key="save_trace",
        disabled=not writable,
        width="stretch",
    )
    if not writable:
        st.caption(words.playground.SAVE_TRACE_NOT)
    st.caption(words.playground.COPY_LINK if not current.key else words.playground.COPY_LINK_PRIVATE)
    st.code(state.link(current.shareable()), language=None, wrap_lines=True)
    st.caption(words.playground.COPY_DIAGNOSTICS)
    st.code(diagnostics(current), language=None, wrap_lines=True)


def diagnostics(current: PlaygroundState) -> str:
    """Return versions and settings for a bug report, without any text of a trace."""
    lines = [f"modelcontext-inspector {__version__}", f"Python {platform.python_version()} on {platform.system()}"]
    lines += [f"{name} {_version(name)}" for name in ("streamlit", "pandas", "orjson", "toktok-rs")]
    shown = {key: value for key, value in current.to_query().items() if key not in ("key", "path")}
    lines.append(urlencode(shown) or "defaults")
    return "\n".join(lines)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
