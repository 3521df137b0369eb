"""Who may import whom, and what no module may do: read from the sources, nothing is run.

The order of the layers is data (`LAYERS`): a module imports from its own layer and from those before it. A new
module has to be given a place there. Each rule is first shown to find a planted violation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = "modelcontext_core"
APP = "inspector_app"

# Left never imports right. A name stands for the module and for the package with everything in it.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "errors", "wrong_types", "messages", "limits", "files", "grammar", "jsontext", "jsonvalue", "sqltext",
        "short_handles", "scanner", "hidden",
    ),
    ("handles", "rewriting", "discovery"),
    ("policies",),
    ("sources", "resources", "citations", "labels", "mcp", "message_texts", "sqlhandles", "wiki_routing"),
    ("encode", "decode", "toolcalls", "stream", "toolresults", "leaks", "prompt"),
    ("registry",),
    (
        "responses", "roundtrip", "observe", "observe_otel", "detectors", "leak_report", "chunking", "made_registry",
        "simulate", "stream_check", "tokens", "testing", "testing_examples",
    ),
)  # fmt: skip
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}

# Parts of the core that stand beside the layers, and all that they may import of it.
FORMATS_MAY_IMPORT = {"formats", "errors", "messages", "limits", "jsontext", "jsonvalue"}
CONTEXTSTATE_MAY_IMPORT = {"contextstate"}
# What works on whole traces, not on messages alone.
MAY_IMPORT_FORMATS = ("leak_report",)

# Packages of others, and where alone they may be imported. The base installation brings only orjson.
DRIVERS = {
    "orjson": (CORE, APP),
    "toktok_rs": (f"{CORE}.tokens",),
    "regex": (f"{CORE}.detectors",),
    "psycopg": (f"{CORE}.contextstate.stores",),
    "dask": (f"{CORE}.leak_report.cluster",),
    "distributed": (f"{CORE}.leak_report.cluster",),
    "fsspec": (f"{CORE}.leak_report.cluster",),
    "opentelemetry": (f"{CORE}.observe_otel",),
    "streamlit": (APP,),
    "starlette": (f"{APP}.entry",),
    "pandas": (APP,),
    "plotly": (f"{APP}.views",),
}
# The modules of our own that need an optional package to be imported at all.
OPTIONAL = {f"{CORE}.contextstate.stores.postgres", f"{CORE}.leak_report.cluster"}

# The codec opens nothing, reads no clock and throws no dice. Loaders and stores may do what their work asks for.
IMPURE = {
    "asyncio", "datetime", "http", "multiprocessing", "os", "random", "secrets", "shutil", "socket", "sqlite3",
    "subprocess", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
MAY_BE_IMPURE = (
    "formats", "contextstate", "testing", "simulate", "chunking", "stream_check", "detectors", "leak_report.runners",
    "leak_report.cluster",
)  # fmt: skip

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PAGE_LINES = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module of the project: its dotted name and its source."""

    name: str
    source: str

    @property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return _parse(self.source)

    @property
    def part(self) -> str:
        """The name below its package: `grammar` for `modelcontext_core.grammar`, `formats` for all formats."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""

    def within(self, *names: str) -> bool:
        """Whether this is one of the modules named, or inside one of the packages named."""
        return any(self.name == name or self.name.startswith(f"{name}.") for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import: the dotted name, its line, and whether it stands inside a function."""

    target: str
    line: int
    in_function: bool


@cache
def _parse(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def project_modules() -> tuple[Module, ...]:
    """Every module of both packages."""
    found = []
    for package in (CORE, APP):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(name=name, source=path.read_text(encoding="utf-8")))
    return tuple(found)


@cache
def imports_of(module: Module) -> tuple[Import, ...]:
    """The imports of a module, those for type checkers too; `from a import b` counts as `a.b`."""
    inside = {
        id(node)
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found: list[Import] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = module.name.split(".")[: -node.level] or [""]
                base = ".".join(filter(None, [*anchor, base]))
            targets = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [Import(target=each, line=node.lineno, in_function=id(node) in inside) for each in targets]
    return tuple(found)


def _core_part(target: str) -> str | None:
    parts = target.split(".")
    return parts[1] if parts[0] == CORE and len(parts) > 1 else None


# --- the rules: each yields a sentence for every violation in one module


def layer_violations(module: Module) -> Iterator[str]:
    """The core: layers, the two parts beside them, and never the app."""
    if not module.within(CORE) or module.name == CORE:
        return
    beside = {"formats": FORMATS_MAY_IMPORT, "contextstate": CONTEXTSTATE_MAY_IMPORT}.get(module.part)
    if beside is None and module.part not in LAYER_OF:
        yield f"{module.name} has no layer: give it a place in LAYERS"
        return
    for each in imports_of(module):
        if each.target.split(".")[0] == APP:
            yield f"{module.name}:{each.line} imports the app ({each.target})"
        part = _core_part(each.target)
        if part is None:
            continue
        # What is no module is a name of the package itself, which imports everything.
        in_order = LAYER_OF.get(part, len(LAYERS)) <= LAYER_OF.get(module.part, -1)
        in_order = in_order or (part == "formats" and module.part in MAY_IMPORT_FORMATS)
        if part not in beside if beside is not None else not in_order:
            yield f"{module.name}:{each.line} may not import {each.target}"


def driver_violations(module: Module) -> Iterator[str]:
    """Packages of others are imported only where they belong."""
    for each in imports_of(module):
        top = each.target.split(".")[0]
        if top in DRIVERS and not module.within(*DRIVERS[top]):
            yield f"{module.name}:{each.line} may not import {top}"


def purity_violations(module: Module) -> Iterator[str]:
    """The codec does no I/O and reads no clock; only `policies` opens a file, the one it is asked to load."""
    if not module.within(CORE) or module.within(*(f"{CORE}.{name}" for name in MAY_BE_IMPURE)):
        return
    for each in imports_of(module):
        if any(each.target == name or each.target.startswith(f"{name}.") for name in IMPURE):
            yield f"{module.name}:{each.line} may not import {each.target}: the codec is pure"
    for node in ast.walk(module.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"open", "print", "input"}
        ):
            yield f"{module.name}:{node.lineno} calls {node.func.id}: the codec is pure"


def hidden_import_violations(module: Module) -> Iterator[str]:
    """No import of our own inside a function or by a name: it would hide a cycle. Only `launch` puts off the whole app,
    and who needs an optional package asks for our module of it when it is wanted."""
    for each in imports_of(module):
        if each.in_function and each.target.split(".")[0] in {CORE, APP} and not module.within(f"{APP}.launch"):
            yield f"{module.name}:{each.line} imports {each.target} inside a function"
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or "import_module" not in ast.dump(node.func):
            continue
        named = str(node.args[0].value) if node.args and isinstance(node.args[0], ast.Constant) else ""
        if named.split(".")[0] in {CORE, APP} and named not in OPTIONAL:
            yield f"{module.name}:{node.lineno} imports {named} by its name"


def app_violations(module: Module) -> Iterator[str]:
    """The app: views are pure, one door to the state, a command line without Streamlit, one finder of files."""
    if not module.within(APP):
        return
    without_streamlit = module.within(*(f"{APP}.{name}" for name in ("views", "words", "security", "cli", "commands")))
    for each in imports_of(module):
        is_streamlit = each.target.split(".")[0] == "streamlit"
        if is_streamlit and without_streamlit:
            yield f"{module.name}:{each.line} may not import Streamlit"
        if is_streamlit and module.name == f"{APP}.launch" and not each.in_function:
            yield f"{module.name}:{each.line} imports Streamlit before the app starts"
        if module.within(f"{APP}.views") and each.target.startswith(
            (f"{APP}.state", f"{APP}.data", f"{APP}.app_pages")
        ):
            yield f"{module.name}:{each.line} a view takes values, it does not fetch them ({each.target})"
        if module.within(f"{APP}.cli", f"{APP}.commands") and each.target.startswith(f"{APP}.app_pages"):
            yield f"{module.name}:{each.line} the command line knows no page"
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Attribute | ast.Constant):
            continue
        touched = node.attr if isinstance(node, ast.Attribute) else ""
        if touched in {"session_state", "query_params"} and not module.within(f"{APP}.state"):
            yield f"{module.name}:{node.lineno} touches {touched}: only state.py does"
        named = node.value if isinstance(node, ast.Constant) else ""
        if named in {".streamlit", "sample_sessions", "_bundled"} and not module.within(f"{APP}.places"):
            yield f"{module.name}:{node.lineno} looks for {named!r}: only places.py does"


def page_violations(module: Module) -> Iterator[str]:
    """Pages are thin: they read state, call `data` and a view, draw, write state. They never call the codec."""
    if not module.within(f"{APP}.app_pages"):
        return
    lines = len(module.source.splitlines())
    if lines > MAX_PAGE_LINES:
        yield f"{module.name} has {lines} lines (at most {MAX_PAGE_LINES}): move work to data or views"
    for each in imports_of(module):
        if _core_part(each.target) in {"registry", "encode", "decode", "stream", "toolcalls", "leaks"}:
            yield f"{module.name}:{each.line} calls the codec ({each.target}): only data.py does"
    for node in ast.walk(module.tree):
        loops = [node.iter] if isinstance(node, ast.For | ast.comprehension) else []
        if any(isinstance(each, ast.Attribute) and each.attr == "messages" for each in loops):
            yield f"{module.name} loops over messages"


def size_violations(module: Module) -> Iterator[str]:
    """A module can be read at a sitting, a function fits a screen (its docstring aside)."""
    lines = len(module.source.splitlines())
    if lines > MAX_MODULE_LINES:
        yield f"{module.name} has {lines} lines (at most {MAX_MODULE_LINES})"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
            length = (node.end_lineno or 0) - first.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{module.name}:{node.lineno} {node.name} has {length} lines (at most {MAX_FUNCTION_LINES})"


def cycles(modules: Iterable[Module]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (names for type checkers aside)."""
    known = {module.name: module for module in modules}
    graph: dict[str, set[str]] = {}
    for name, module in known.items():
        skipped = _typing_only(module)
        targets = {_nearest(each.target, known) for each in imports_of(module) if each.line not in skipped}
        # A package's own __init__ gathers names; what its modules take from it would be a cycle, and is reported.
        graph[name] = {each for each in targets if each and each != name}
    reach = {name: _reachable(name, graph) for name in graph}
    groups = {tuple(sorted(other for other in reach[name] if name in reach[other])) for name in graph}
    return [list(group) for group in sorted(groups) if len(group) > 1]


def _typing_only(module: Module) -> set[int]:
    return {
        inner.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    }


def _nearest(target: str, known: dict[str, Module]) -> str:
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for each in graph.get(todo.pop(), ()):
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return seen


RULES = (
    layer_violations,
    driver_violations,
    purity_violations,
    hidden_import_violations,
    app_violations,
    page_violations,
    size_violations,
)


# --- the project


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.removesuffix("_violations"))
def test_no_module_breaks_a_rule(rule) -> None:  # type: ignore[no-untyped-def]
    """The sources of both packages keep every rule of this module."""
    assert [] == [violation for module in project_modules() for violation in rule(module)]


def test_no_two_modules_import_each_other() -> None:
    """The imports of the project form no cycle."""
    assert [] == cycles(project_modules())


def test_the_whole_project_is_read() -> None:
    """The rules see the modules: an empty list would pass every test."""
    names = {module.name for module in project_modules()}

    assert {CORE, APP, f"{CORE}.errors", f"{APP}.launch", f"{APP}.commands.encode"} <= names


# --- the rules are able to fail

PLANTED = [
    (layer_violations, f"{CORE}.grammar", f"from {CORE}.handles import HandleTable"),
    (layer_violations, f"{CORE}.grammar", "from .handles import HandleTable"),
    (layer_violations, f"{CORE}.handles", f"import {CORE}.policies"),
    (layer_violations, f"{CORE}.policies.packs", f"from {CORE} import registry"),
    (layer_violations, f"{CORE}.encode", f"from {CORE} import Registry"),
    (layer_violations, f"{CORE}.registry", f"from {APP} import words"),
    (layer_violations, f"{CORE}.formats.openai_chat", f"from {CORE}.grammar import find"),
    (layer_violations, f"{CORE}.contextstate.refs", f"from {CORE}.limits import MIB"),
    (layer_violations, f"{CORE}.brand_new", "import re"),
    (driver_violations, f"{CORE}.leaks", "import streamlit as st"),
    (driver_violations, f"{CORE}.leaks", "def f():\n    import pandas"),
    (driver_violations, f"{CORE}.leaks", "from plotly import graph_objects"),
    (driver_violations, f"{CORE}.contextstate.records", "import psycopg"),
    (driver_violations, f"{APP}.app_pages.leaks", "import plotly.express"),
    (purity_violations, f"{CORE}.encode", "import time"),
    (purity_violations, f"{CORE}.encode", "from urllib.request import urlopen"),
    (purity_violations, f"{CORE}.encode", "open('x')"),
    (hidden_import_violations, f"{CORE}.encode", f"def f():\n    from {CORE} import handles"),
    (hidden_import_violations, f"{APP}.launch", f"import importlib\nimportlib.import_module('{APP}.entry')"),
    (app_violations, f"{APP}.views.tables", "import streamlit"),
    (app_violations, f"{APP}.views.tables", f"from {APP} import state"),
    (app_violations, f"{APP}.commands.encode", "from streamlit import config"),
    (app_violations, f"{APP}.launch", "import streamlit"),
    (app_violations, f"{APP}.app_pages.leaks", "import streamlit as st\nst.session_state['x'] = 1"),
    (app_violations, f"{APP}.data", "import streamlit as st\nst.query_params.clear()"),
    (app_violations, f"{APP}.data", "folder = 'sample_sessions'"),
    (page_violations, f"{APP}.app_pages.leaks", "x = 1\n" * (MAX_PAGE_LINES + 1)),
    (page_violations, f"{APP}.app_pages.leaks", f"from {CORE}.registry import Registry"),
    (page_violations, f"{APP}.app_pages.leaks", "for m in trace.messages: pass"),
    (page_violations, f"{APP}.app_pages.leaks", "x = [m for m in trace.messages]"),
    (size_violations, f"{CORE}.encode", "x = 1\n" * (MAX_MODULE_LINES + 1)),
    (size_violations, f"{CORE}.encode", "def f():\n" + "    x = 1\n" * (MAX_FUNCTION_LINES + 1)),
]


@pytest.mark.parametrize(("rule", "name", "source"), PLANTED)
def test_a_planted_violation_is_found(rule, name: str, source: str) -> None:  # type: ignore[no-untyped-def]
    """Each rule reports a source that breaks it, exactly once."""
    assert 1 == len(list(rule(Module(name=name, source=source))))


ALLOWED = [
    (f"{CORE}.handles", f"from {CORE}.grammar import find\nfrom {CORE} import errors"),
    (f"{CORE}.formats.openai_chat", f"from {CORE}.formats.base import Trace\nfrom {CORE} import limits"),
    (f"{CORE}.contextstate.stores.postgres", "import psycopg\nimport time"),
    (f"{CORE}.tokens", "def f():\n    import toktok_rs"),
    (f"{APP}.views.figures", f"import pandas\nimport plotly.graph_objects\nfrom {CORE}.registry import Registry"),
    (f"{APP}.state", "import streamlit as st\nst.session_state['x'] = 1"),
    (f"{APP}.launch", "def f():\n    from streamlit import config"),
    (f"{APP}.places", "folder = 'sample_sessions'"),
    (
        f"{APP}.app_pages.leaks",
        f"import streamlit as st\nfrom {APP} import data, state\nfrom {APP}.views import tables",
    ),
]


@pytest.mark.parametrize(("name", "source"), ALLOWED)
def test_what_is_allowed_is_not_reported(name: str, source: str) -> None:
    """The rules let through what the layout asks for."""
    assert [] == [violation for rule in RULES for violation in rule(Module(name=name, source=source))]


def test_a_planted_cycle_is_found() -> None:
    """Two modules that import each other through a third are reported as one group."""
    names = [f"{CORE}.{name}" for name in ("encode", "decode", "stream")]
    modules = [
        Module(name=name, source=f"from {CORE} import {other.rpartition('.')[2]}")
        for name, other in zip(names, names[1:] + names[:1], strict=True)
    ]

    assert [sorted(names)] == cycles(modules)
