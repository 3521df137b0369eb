"""The reader's own policy pack: uploaded, pasted or named by its path; it lives as long as the tab.

The functions that take no argument are callbacks of widgets. A pack with faults changes nothing: what was loaded stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

from inspector_app import launch, places, state, words
from inspector_app.page_state.playground import PlaygroundState
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.policies.toml_schema import read_pack_file

__all__ = ["FILE_FIELD", "PASTE_FIELD", "PATH_FIELD", "OwnPack", "faults", "loaded", "paste", "path", "upload"]

FILE_FIELD: Final = "pack_file"
PASTE_FIELD: Final = "pack_paste"
PATH_FIELD: Final = "pack_path"
_PACK: Final = "own_pack"
_FAULTS: Final = "own_pack_faults"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPack:
    """A pack that can be used: its name, its rules as TOML that needs no other file, and how many tools it declares."""

    name: str
    text: str
    tools: int
    own: int


def loaded() -> OwnPack | None:
    """Return the pack of this tab, if one was loaded."""
    return cast("OwnPack | None", state.kept(_PACK))


def faults() -> Sequence[PolicyError]:
    """Return what was wrong with the pack that was tried last."""
    return cast("Sequence[PolicyError]", state.kept(_FAULTS) or ())


def _take(text: str, source: str, file: Path | None = None) -> None:
    found = ToolPolicies.check(text, source, path=file)
    if not found:
        try:
            pack = ToolPolicies.load(file) if file is not None else ToolPolicies.loads(text, source)
            made = OwnPack(name=pack.name, text=pack.dumps(), tools=len(pack.tools), own=_own_tools(pack))
        except PolicyError as error:
            found = (error,)
        else:
            state.keep(_PACK, made)
            state.save(replace(state.load(PlaygroundState), pack="own", off=()))
            state.clear(PASTE_FIELD, PATH_FIELD)
    state.keep(_FAULTS, tuple(found))


def _own_tools(pack: ToolPolicies) -> int:
    return sum(DEFAULT_POLICIES.tools.get(name) != policy for name, policy in pack.tools.items())


# --- callbacks


def upload() -> None:
    """Use the file that was uploaded."""
    uploaded = state.field(FILE_FIELD)
    if uploaded is None:
        return
    try:
        text = uploaded.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        state.keep(
            _FAULTS, (PolicyError(f"is not UTF-8 text: byte {error.start} cannot be read", source=uploaded.name),)
        )
        return
    _take(text, uploaded.name)


def paste() -> None:
    """Use what was pasted."""
    _take(state.field(PASTE_FIELD) or "", words.sources.PASTED_PACK)


def path() -> None:
    """Use the file that the path field names; it may extend another file beside it."""
    named = (state.field(PATH_FIELD) or "").strip()
    if not named or not launch.local_files_allowed():
        return
    file = places.typed_path(named)
    try:
        text = read_pack_file(file)
    except PolicyError as error:
        state.keep(_FAULTS, (error,))
        return
    _take(text, file.name, file)
