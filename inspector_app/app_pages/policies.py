"""The Policies page: the pack as a table that is checked after every edit, and calls tried against it."""

from __future__ import annotations

from inspector_app import pack_drafts, state
from inspector_app.app_pages import policies_editor, policies_try
from inspector_app.page_state.policies import PoliciesState


def _page() -> None:
    current = state.save(state.load(PoliciesState))
    draft = state.kept("draft")
    if draft is None:
        draft = pack_drafts.Draft()
        state.keep("draft", draft)
    policies_editor.editor(current, draft)
    policies_try.try_area(current, draft)


_page()
