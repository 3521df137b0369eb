"""Where `.streamlit/` and `sample_sessions/` are: at the top of a checkout, or inside the installed package, since the
wheel holds a copy of both. No other module looks for them. And where what somebody typed is.

Beside the entry, where Streamlit looks for the settings of its script, a checkout has the few that are read before the
entry can give the others. In a wheel the whole file lies there.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["file_settings", "samples_dir", "settings_file", "typed_path"]

_PACKAGE = Path(__file__).resolve().parent
_BUNDLED = _PACKAGE / "_bundled"


def settings_file() -> Path:
    """The one `config.toml` of the project, in a checkout or in the installed package."""
    top = _PACKAGE.parent / ".streamlit" / "config.toml"
    return top if _is_checkout() else _PACKAGE / ".streamlit" / "config.toml"


def typed_path(text: str) -> Path:
    """The path that somebody typed or put into a link, `~` expanded. What no file can be called names none."""
    try:
        nameable = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        nameable = False
    path = Path(text if nameable else text.replace("\0", "\ufffd").encode(errors="replace").decode())
    try:
        return path.expanduser()
    except RuntimeError:
        return path  # `~somebody` who is no user here


def samples_dir() -> Path:
    """The folder of the sample sessions, in a checkout or in the installed package."""
    return (_PACKAGE.parent if _is_checkout() else _BUNDLED) / "sample_sessions"


def _is_checkout() -> bool:
    return not _BUNDLED.is_dir()


def file_settings() -> dict[str, object]:
    """Every setting of `config.toml` by its dotted name."""
    with settings_file().open("rb") as file:
        return dict(_flatten(tomllib.load(file)))


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
