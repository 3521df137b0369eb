"""Values of a wrong Python type, refused in one sentence at the place where they come in.

Nothing is converted: of a list in place of a text the pictures would be lost, and `str(None)` is a word. Who passes
such a value has forgotten a step, and where that step is plain the sentence names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, Final, TypeVar

_Record = TypeVar("_Record")

# What stands in a field by mistake, by the name of the field and of the type.
_ADVICE: Final = {
    ("arguments", "dict"): "it is JSON text, as json.dumps writes it",
    ("arguments", "list"): "it is JSON text, as json.dumps writes it",
    ("content", "list"): "the parts of a message are Part records in `parts`",
    ("output", "dict"): "structured output goes into `data`",
    ("output", "list"): "structured output goes into `data`",
    ("policies", "str"): "ToolPolicies.load(path) reads a pack",
    ("policies", "PosixPath"): "ToolPolicies.load(path) reads a pack",
    ("citations_enabled", "ToolPolicies"): "a pack is given as policies=…",
}


def wrong_type(where: str, value: object, wanted: str) -> TypeError:
    """The exception for a `value` that is not what is `wanted`: where it stands, what it is, and what to do."""
    given = type(value).__name__
    advice = _ADVICE.get((where.rpartition(".")[2], given), "")
    if wanted == "str" and not advice:
        advice = _advice_for_text(value)
    return TypeError(f"{where} must be {wanted}, not {given}" + (f": {advice}" if advice else ""))


def _advice_for_text(value: object) -> str:
    if value is None:
        return 'an empty text is ""'
    if isinstance(value, (bytes, bytearray)):
        return "decode it first"
    if isinstance(value, PurePath):
        return "read the file first"
    return "" if isinstance(value, (dict, list, tuple)) else "str(value) gives its text"


def check_type(where: str, value: object, wanted: type) -> None:
    """Raises `TypeError` for a `value` that is no `wanted`."""
    if not isinstance(value, wanted):
        raise wrong_type(where, value, _named(wanted))


def check_texts(record: object, *names: str) -> None:
    """Raises `TypeError` for the first of some fields of a record that holds no text."""
    for name in names:
        value = getattr(record, name)
        if not isinstance(value, str):
            raise wrong_type(f"{type(record).__name__}.{name}", value, "str")


def check_items(record: object, name: str, kind: type) -> None:
    """Raises `TypeError` for a field of a record that is no sequence of `kind`, such as a tuple or a list of them."""
    values, where = getattr(record, name), f"{type(record).__name__}.{name}"
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise wrong_type(where, values, f"a sequence of {kind.__name__}")
    for index, value in enumerate(values):
        check_type(f"{where}[{index}]", value, kind)


def checked(where: str, values: Iterable[_Record], kind: type[_Record]) -> list[_Record]:
    """What a call was given as a list of `kind`; raises `TypeError` for one of another type, or one in no list."""
    given: object = values
    if isinstance(given, kind) or not isinstance(given, Iterable):
        raise wrong_type(where, given, f"a list of {kind.__name__}")
    found: list[Any] = list(given)
    for index, value in enumerate(found):
        if not isinstance(value, kind):
            raise wrong_type(f"{where}[{index}]", value, _named(kind))
    return found


def _named(wanted: type) -> str:
    name = wanted.__name__
    if wanted.__module__ == "builtins":
        return name
    return f"an {name}" if name[0] in "AEIO" else f"a {name}"
