"""The files below a folder, for the pages and the commands alike."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

__all__ = ["files_below"]


def files_below(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted; hidden ones, pipes, devices and links to nothing are left out.

    A folder that may not be opened stands in the list itself: whoever opens it hears of it. A check that passed over
    it would say too much.
    """
    found: list[Path] = []

    def keep(error: OSError) -> None:
        found.append(Path(error.filename))

    for here, folders, files in os.walk(folder, onerror=keep):
        folders[:] = [each for each in folders if not each.startswith(".")]
        found += [path for each in files if not each.startswith(".") and _can_be_read(path := Path(here, each))]
    return sorted(found)


def _can_be_read(path: Path) -> bool:
    """A file that is forbidden says so when it is opened."""
    try:
        return S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True
