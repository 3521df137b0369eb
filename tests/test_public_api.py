"""The public names are those that docs/api.md lists, with the parameters that stand there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from types import ModuleType
from typing import Any

import pytest

import modelcontext_core
from modelcontext_core import testing
from tests.documents import ROOT, table_rows

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
KNOWN = {"DEFAULT_POLICIES": modelcontext_core.DEFAULT_POLICIES, "HURTFUL_TEXTS": testing.HURTFUL_TEXTS}
MODULES = ["modelcontext_core", "modelcontext_core.responses", "modelcontext_core.testing"]


def listed(heading: str) -> list[str]:
    """What the table below a heading lists: names, those of functions and classes with their parameters."""
    found = re.search(rf"^#+ `?{re.escape(heading)}`?\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/api.md has no heading {heading}"
    return [row[0].strip("`") for row in table_rows(found[1])]


def parameters(value: Any) -> list[tuple[str, str, Any]]:
    """Name, kind and default of each parameter. Those of records are all by keyword, which is said once for all."""
    record = inspect.isclass(value) and hasattr(value, "__dataclass_fields__")
    found = []
    for name, parameter in inspect.signature(value).parameters.items():
        default = {} if "factory" in repr(parameter.default) else parameter.default
        kind = "keyword" if parameter.kind is parameter.KEYWORD_ONLY and not record else "plain"
        if name != "self":
            found.append((name, "many" if parameter.kind is parameter.VAR_POSITIONAL else kind, default))
    return found


def documented(signature: str) -> list[tuple[str, str, Any]]:
    """The same, of a call as it is written on the page."""
    (function,) = ast.parse(f"def {signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    named = function.args.args
    missing = [inspect.Parameter.empty] * (len(named) - len(function.args.defaults))
    found = [
        (argument.arg, "plain", default)
        for argument, default in zip(named, [*missing, *map(_value, function.args.defaults)], strict=True)
    ]
    if function.args.vararg is not None:
        found.append((function.args.vararg.arg, "many", inspect.Parameter.empty))
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        found.append((argument.arg, "keyword", inspect.Parameter.empty if default is None else _value(default)))
    return found


def _value(node: ast.expr) -> Any:
    return KNOWN[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def disagreements(entries: list[str], owner: Any) -> list[str]:
    """The entries whose parameters are not those of the code. Functions must show theirs."""
    wrong = []
    for entry in entries:
        name, bracket, _ = entry.partition("(")
        value = getattr(owner, name)
        if (bracket and documented(entry) != parameters(value)) or (not bracket and inspect.isroutine(value)):
            wrong.append(entry)
    return wrong


def _rank(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _module(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("name", MODULES)
def test_the_public_names_are_sorted_and_exist(name: str) -> None:
    """`__all__` is ordered: constants, classes, functions, each by the alphabet; nothing in it is missing."""
    module = _module(name)

    assert sorted(module.__all__, key=_rank) == list(module.__all__)
    assert [] == [each for each in module.__all__ if not hasattr(module, each)]


@pytest.mark.parametrize("name", MODULES)
def test_the_page_lists_every_public_name_in_their_order(name: str) -> None:
    """A name that is added or removed must be added to or removed from docs/api.md."""
    assert list(_module(name).__all__) == [entry.partition("(")[0] for entry in listed(name)]


@pytest.mark.parametrize("name", MODULES)
def test_the_parameters_are_those_of_the_code(name: str) -> None:
    """Names, order, defaults, and what is given by keyword only."""
    assert [] == disagreements(listed(name), _module(name))


CLASSES = [
    "modelcontext_core.Registry",
    "modelcontext_core.ToolPolicies",
    "modelcontext_core.HandleTable",
    "modelcontext_core.StreamDecoder",
    "modelcontext_core.HandleStreamDecoder",
    "modelcontext_core.WikiRouteResolver",
    "modelcontext_core.responses.ResponseDecoder",
]


@pytest.mark.parametrize("path", CLASSES)
def test_the_methods_of_a_class_are_those_of_the_code(path: str) -> None:
    """Every public method and property has its line, with its parameters."""
    module, _, name = path.rpartition(".")
    owner = getattr(_module(module), name)
    public = {
        member
        for member in dir(owner)
        if not member.startswith("_")
        and (inspect.isroutine(getattr(owner, member)) or isinstance(getattr(owner, member), property))
    }
    entries = listed(name)

    assert public == {entry.partition("(")[0] for entry in entries}
    assert len(public) == len(entries)
    assert [] == disagreements(entries, owner)


def test_every_public_class_with_methods_is_checked() -> None:
    """Classes that hold state and are new to the API do not slip through."""
    stateful = {
        f"modelcontext_core.{name}"
        for name in modelcontext_core.__all__
        if inspect.isclass(value := getattr(modelcontext_core, name))
        and not issubclass(value, Exception)
        and any(inspect.isfunction(member) for key, member in vars(value).items() if not key.startswith("_"))
    }

    assert stateful <= set(CLASSES)


@pytest.mark.parametrize(
    "entry", ["feed(chunk, more)", "feed(piece)", 'feed(chunk="")', "feed(*, chunk)", "feed(*chunk)", "feed"]
)
def test_a_wrong_entry_is_found(entry: str) -> None:
    """Another number, name, default or kind of parameters is a disagreement."""
    assert [] == disagreements(["feed(chunk)"], modelcontext_core.StreamDecoder)
    assert [entry] == disagreements([entry], modelcontext_core.StreamDecoder)
