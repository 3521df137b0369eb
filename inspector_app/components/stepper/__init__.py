"""The stepper: three bands (came in, held back, went out) and both texts of one step of a stream.

Why it is no linked view: that one aligns two forms of a finished text line by line and is never rebuilt by a pick.
Here both texts grow with every step, several times a second while it plays, and are shaded by chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector_app import words
from inspector_app.components.assets import register

__all__ = ["stepper"]

_mount = register("stepper")


def stepper(content: Mapping[str, Any], *, key: str, rev: str) -> None:
    """Draw `content` (of `views.stream_steps.step_view`); `rev` changes with it and nothing else."""
    texts = {
        "came": words.streams.CAME_IN,
        "held": words.streams.HELD_BACK,
        "out": words.streams.WENT_OUT,
        "left": words.streams.ANSWER,
        "right": words.streams.READER_SEES,
        "dropped": words.streams.DROPPED,
        "unresolved": words.streams.UNRESOLVED,
        "region": words.streams.REGION,
    }
    _mount(key=key, data={**content, "rev": rev, "words": texts})
