"""The app in a test: its pages without a browser, and what a command leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from streamlit.testing.v1 import AppTest

MAIN: Final = str(Path(__file__).parents[2] / "inspector_app" / "main.py")


def calm(app: AppTest) -> AppTest:
    """The app, after it was seen to have thrown nothing."""
    assert [error.message for error in app.exception] == []
    return app


def parameters(app: AppTest) -> dict[str, str]:
    """The query parameters, each with its one value."""
    return {name: values[0] if isinstance(values, list) else values for name, values in app.query_params.items()}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]
