"""Beside the table of tools: issues and routing of the ticked rows, what their id fields hold, and the key table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from inspector_app import state, words
from inspector_app.components.cards import table
from inspector_app.pack_drafts import Draft
from inspector_app.views import policies
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies.rules import KEY_SPACES

__all__ = ["details", "keys"]

_ROW_HEIGHT = 28
_MOST_ROWS = 9


def details(draft: Draft) -> Sequence[PolicyError]:
    """Draw issues and routing of the ticked rows and take their edits; what could not be read."""
    tools = [tool for tool in draft.ticked if tool in draft.current.tools]
    if not tools:
        st.info(words.policies.DETAILS_NONE)
        return ()
    # What the editor begins with must stay while it is drawn: its edits are told by position.
    version = f"{draft.version}:{tools!r}"
    rows = state.pinned("pack_details", version, policies.detail_rows(draft.current, tools))
    names = words.policies.DETAILS
    st.markdown(words.policies.DETAILS_TITLE)
    edited = st.data_editor(
        pd.DataFrame(rows, columns=[*names.values(), policies.WAS], dtype="str"),
        key=f"pack_details:{draft.version}:{hash(version):x}",
        hide_index=True,
        height=_height(len(rows)),
        row_height=_ROW_HEIGHT,
        disabled=[names["tool"], names["setting"]],
        column_order=list(names.values()),
        column_config={names["setting"]: st.column_config.TextColumn(help=words.policies.SETTING_HELP, width=112)},
    )
    pack, unread = policies.with_details(draft.current, _records(edited), tools)
    draft.edit(pack)
    spaces = policies.spaces_of(pack, tools)
    if spaces:
        table(words.policies.SPACES_TITLE, "", words.policies.SPACE_COLUMNS, spaces, key="pack_spaces")
    return unread


def keys(draft: Draft) -> None:
    """Draw the keys that the pack adds to the shared key table, and take their edits."""
    names = words.policies.KEYS
    st.markdown(words.policies.KEYS_TITLE, help=words.policies.KEYS_HINT)
    rows = policies.key_rows(draft.base)
    edited = st.data_editor(
        pd.DataFrame(rows, columns=list(names.values()), dtype="str"),
        key=f"pack_keys:{draft.version}",
        hide_index=True,
        num_rows="dynamic",
        height=_height(len(rows) + 2),
        row_height=_ROW_HEIGHT,
        column_config={
            names["space"]: st.column_config.SelectboxColumn(
                options=sorted(set(KEY_SPACES.values())), default="document", required=True
            )
        },
    )
    draft.edit(policies.with_keys(draft.current, _records(edited)))


def _height(rows: int) -> int:
    return 37 + _ROW_HEIGHT * min(rows, _MOST_ROWS)


def _records(edited: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in edited.to_dict("records")]
