"""What the running server was told: its address, the file to open, whether local files are open, and by whom.

The command line and the pages speak through environment variables: the pages run in threads of the server, started
later. The entry calls `by_hand`, which does nothing when `launch` started it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from inspector_app.security import is_loopback

__all__ = [
    "LOCAL_FILES_OPTION",
    "LOCAL_FILES_VARIABLE",
    "OPEN_VARIABLE",
    "address",
    "by_hand",
    "by_launch",
    "warn_of_others",
]

OPEN_VARIABLE = "MODELCONTEXT_INSPECTOR_OPEN"
LOCAL_FILES_VARIABLE = "MODELCONTEXT_INSPECTOR_ALLOW_LOCAL_FILES"
LOCAL_FILES_OPTION = "--allow-local-files"

_ENTRY = Path(__file__).resolve().with_name("entry.py")

# What Streamlit calls the origin of a setting that whoever started it gave.
_BY_FLAG = "command-line argument"

_by_launch = False


def address() -> str:
    """The address that the running server was given, flags included; empty when nobody gave one."""
    from streamlit import config

    return str(config.get_option("server.address") or "")


def by_launch(path: Path | None, *, allow_local_files: bool) -> None:
    """Say what `launch.serve` was given, before anything of the app is imported; what another start left in the
    environment must not count."""
    global _by_launch
    _by_launch = True
    _tell(path, allow_local_files=allow_local_files)


def by_hand(settings: Mapping[str, object]) -> None:
    """Do for a start by other means (`streamlit run`, an ASGI server) what `launch.serve` does: take care that the
    `settings` hold, take the switch for local files from the arguments, and warn when other machines can reach the
    server. The entry calls it."""
    if _by_launch:
        return
    _settle(settings)
    allowed = LOCAL_FILES_OPTION in sys.argv[1:]
    _tell(None, allow_local_files=allowed)
    if address():
        warn_of_others(address(), allow_local_files=allowed)


def _settle(settings: Mapping[str, object]) -> None:
    from streamlit import config

    by_streamlit = Path(sys.argv[0]).resolve() == _ENTRY
    for name, value in settings.items():
        if name == "server.address" and not by_streamlit:
            # Where another server listens is not known here, so it is not taken for this machine alone.
            config.set_option(name, None)
        elif not config.get_where_defined(name).startswith(_BY_FLAG):
            config.set_option(name, value)


def _tell(path: Path | None, *, allow_local_files: bool) -> None:
    os.environ[OPEN_VARIABLE] = str(path.resolve()) if path else ""
    os.environ[LOCAL_FILES_VARIABLE] = "1" if allow_local_files else ""


def warn_of_others(listening: str, *, allow_local_files: bool) -> None:
    """Say on standard error who can reach a server, and whether local files are open, unless only this machine can."""
    if is_loopback(listening):
        return
    reached = listening or "Every address of this machine"
    state = f"open ({LOCAL_FILES_OPTION})" if allow_local_files else "closed"
    print(
        f"Warning: {reached} can be reached from other machines. Whoever reaches it can use the app, "
        f"without a password and unencrypted. Inputs for local paths and stores are {state}.",
        file=sys.stderr,
    )
