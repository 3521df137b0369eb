"""Writing a file whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that afterwards it is new and whole, or as it was: half of it is in no place.

    The data goes into a file beside it, which then takes its name. A device or a pipe is written to as it is. Raises
    `OSError`, for one that may not be written, too.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    # A link stays one: what it leads to is replaced.
    target = path.resolve()
    beside = target.with_name(f"{target.name}.part")
    there = target.exists()
    if there:
        # A rename asks the folder only; whoever protected the file meant the file.
        target.open("r+b").close()
    try:
        beside.write_bytes(data)
        if there:
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
