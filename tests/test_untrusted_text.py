"""No text of a trace reaches a place where it is rendered, run or fetched.

Streamlit renders Markdown in labels, options, tooltips and messages, and Markdown fetches pictures. So every call of
Streamlit in the app is looked at: what it draws must be a literal, a name of `inspector_app.words`, or a call of a
function there whose parameters are numbers and names of our own. Text of a trace goes to the few calls in `SINKS`,
which draw it as it is, and to our own components, whose scripts write it through `textContent` only.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[1] / "inspector_app"

# Draw any text as it is, in their first argument.
SINKS = {"text", "code", "json", "dataframe", "data_editor", "plotly_chart"}
# Draw nothing of what they are given, or only arrange.
SILENT = {
    "cache_data", "columns", "container", "context", "divider", "empty", "fragment", "navigation", "query_params",
    "rerun", "session_state", "set_page_config", "spinner", "stop", "switch_page", "logo", "App", "progress",
}  # fmt: skip
# Draw words: every argument that is shown is checked.
SHOWN = {
    "Page", "button", "caption", "checkbox", "date_input", "dialog", "download_button", "error", "expander",
    "file_uploader", "header", "info", "link_button", "markdown", "menu_button", "metric", "multiselect",
    "number_input", "pills", "popover", "radio", "segmented_control", "select_slider", "selectbox", "slider", "status",
    "subheader", "success", "tabs", "text_area", "text_input", "title", "toast", "toggle", "warning",
}  # fmt: skip
# The value of a field is drawn as it is; the rest of these is never drawn, or is a name of the browser's.
UNSHOWN_KEYWORDS = {
    "value", "config", "key", "on_click", "on_change", "on_select", "args", "kwargs", "type", "icon", "width", "height",
    "mime", "data", "min_value", "max_value", "step", "disabled", "required", "label_visibility", "horizontal",
    "gap", "default", "index", "selection_mode", "selection_default", "anchor", "position", "expanded", "page_icon",
    "layout", "url_path", "shortcut", "hide_index", "row_height", "column_config", "language", "wrap_lines",
    "border", "column_order",
    "max_upload_size", "format", "accept_multiple_files", "vertical_alignment", "run_every", "scope",
    "placeholder_text", "visibility", "size",
}  # fmt: skip
COLUMNS = {"TextColumn", "NumberColumn", "CheckboxColumn", "ProgressColumn", "SelectboxColumn"}
# Constants of the core that are names of our own.
OWN_CONSTANTS = {"tokens.ENCODINGS"}
HARMLESS_TYPES = {"int", "float", "bool", "OurName"}
BAD_SCRIPT = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\s*\(|new Function|createContextualFragment"
    r"|srcdoc|javascript:|\.src\s*=|\.href\s*=|setAttribute\(\s*[\"'](?:src|href|style|on)|importScripts|fetch\s*\("
    r"|XMLHttpRequest|new Image"
)


# --- what is safe to draw


def is_words(node: ast.expr) -> bool:
    """A name of the words package: `words.page.NAME`, an entry of one, a list of its keys."""
    if isinstance(node, ast.Subscript):
        return is_words(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple"):
        return len(node.args) == 1 and is_words(node.args[0])
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "words"


def is_safe(node: ast.expr) -> bool:
    """Whether an expression can hold only words of our own."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.List | ast.Tuple):
        return all(is_safe(each) for each in node.elts)
    if isinstance(node, ast.IfExp):
        return is_safe(node.body) and is_safe(node.orelse)
    if isinstance(node, ast.Lambda):
        return is_safe(node.body)
    if isinstance(node, ast.Call) and is_words(node.func):
        return takes_harmless(node.func)
    return is_words(node) or ast.unparse(node) in OWN_CONSTANTS


def takes_harmless(function: ast.expr) -> bool:
    """Whether a function of the words package takes numbers and names of our own only."""
    path = ast.unparse(function).split(".")
    try:
        found = getattr(importlib.import_module(".".join(["inspector_app", *path[:-1]])), path[-1])
    except (ImportError, AttributeError):
        return False
    return all(str(each.annotation) in HARMLESS_TYPES for each in inspect.signature(found).parameters.values())


# --- what is found


def violations(source: str, name: str = "page.py", *, page: bool = True) -> Iterator[str]:
    """What in a module may draw text of a trace. In a page every method with a name of Streamlit's counts."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        where = f"{name}:{getattr(node, 'lineno', 0)}"
        source_module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if source_module.split(".")[0] == "streamlit" and source_module != "streamlit.components.v2.types":
            yield f"{where} imports from {source_module}: only `import streamlit as st`"
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "streamlit" and alias.asname != "st":
                    yield f"{where} imports {alias.name} under another name than st"
        if isinstance(node, ast.Attribute) and node.attr.endswith("Column") and node.attr not in COLUMNS:
            yield f"{where} uses {node.attr}, which may fetch or link"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from call_violations(node, node.func, where, imported if page else None)


def call_violations(node: ast.Call, function: ast.Attribute, where: str, imported: set[str] | None) -> Iterator[str]:
    """What one call may draw."""
    on_streamlit = isinstance(function.value, ast.Name) and function.value.id == "st"
    called = function.attr
    if any(keyword.arg == "unsafe_allow_html" for keyword in node.keywords):
        yield f"{where} allows HTML"
    if not on_streamlit and not (called in SHOWN | SINKS and may_be_container(function.value, imported)):
        return
    if called == "html" and on_streamlit and ast.unparse(node) == "st.html(_STATIC / 'frame.css')":
        return
    if called in SILENT:
        return
    if called not in SHOWN | SINKS:
        yield f"{where} calls {called}, which is not known to be safe"
        return
    shown = [each for each in node.args if not isinstance(each, ast.Starred)]
    if called in SINKS or called in ("download_button", "Page"):
        shown = shown[1:] if called != "download_button" else shown[:1]
    if called in ("selectbox", "segmented_control", "pills", "radio", "multiselect", "menu_button"):
        shown = options_shown(node, shown)
    shown += [each.value for each in node.keywords if each.arg and each.arg not in UNSHOWN_KEYWORDS]
    for each in shown:
        if not is_safe(each):
            yield f"{where} draws {ast.unparse(each)} in {called}"


def may_be_container(node: ast.expr, imported: set[str] | None) -> bool:
    """Whether a method may be one of a container: in a page, of a variable that is no module or class."""
    return imported is not None and isinstance(node, ast.Name) and node.id not in imported | {"self", "words"}


def options_shown(node: ast.Call, shown: list[ast.expr]) -> list[ast.expr]:
    """With a `format_func` the options themselves are not drawn; what it returns is."""
    return shown[:1] if any(each.arg == "format_func" for each in node.keywords) else shown


# --- the project


def modules() -> list[Path]:
    """Every module of the app."""
    return sorted(path for path in APP.rglob("*.py") if "_bundled" not in path.parts)


def test_no_call_of_streamlit_draws_text_of_a_trace() -> None:
    """Labels, options, tooltips and messages hold words of our own only, in every module of the app."""
    found = [
        each
        for path in modules()
        for each in violations(
            path.read_text(encoding="utf-8"),
            str(path.relative_to(APP)),
            page=path.parent.name == "app_pages" or path.name == "main.py",
        )
        if path.name not in ("assets.py", "entry.py", "launch.py", "started.py")
    ]

    assert found == []


def test_only_one_module_registers_components_and_none_with_html() -> None:
    """Components are registered in `components/assets.py`, from files, without markup."""
    registering = [path for path in modules() if "components.v2.component(" in path.read_text(encoding="utf-8")]
    calls = [
        node
        for path in registering
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "component"
    ]

    assert [path.relative_to(APP).as_posix() for path in registering] == ["components/assets.py"]
    assert [{keyword.arg for keyword in call.keywords} for call in calls] == [{"css", "js"}]


@pytest.mark.parametrize("path", sorted(APP.rglob("*.js")), ids=lambda path: path.name)
def test_scripts_write_text_only(path: Path) -> None:
    """No script of ours makes markup of text, sets an address, or asks for anything."""
    assert BAD_SCRIPT.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(APP.rglob("*.js")), ids=lambda path: path.name)
def test_scripts_are_short_functions(path: Path) -> None:
    """No function of a script is longer than 40 lines."""
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if re.match(r"(export default )?(async )?function", line)]
    lengths = {lines[start]: lines.index("}", start) - start + 1 for start in starts}

    assert {name: length for name, length in lengths.items() if length > 40} == {}


@pytest.mark.parametrize("path", sorted(APP.rglob("*.css")), ids=lambda path: path.name)
def test_styles_fetch_nothing(path: Path) -> None:
    """No style of ours loads a picture, a font or another sheet."""
    assert re.findall(r"url\(|@import|image-set", path.read_text(encoding="utf-8")) == []


# --- the test itself

PLANTED = [
    "st.markdown(message.content)",
    'st.button(f"Open {held.name}")',
    "st.error(str(error))",
    'left.selectbox(words.opening.FORMAT, [tool.name for tool in tools], key="x")',
    'st.text_input(words.opening.PATH, help=notice.text, key="x")',
    "st.html(text)",
    "st.write(value)",
    "st.caption(words.common.raw_ids_left(3) + name)",
    "st.toast(words.decoding.resolution(text))",
    "st.dataframe(rows, column_config={'a': st.column_config.LinkColumn()})",
    "st.markdown(words.opening.SAMPLES, unsafe_allow_html=True)",
    "from streamlit import markdown",
    'st.segmented_control(words.playground.VIEW, names, format_func=lambda name: name)',
    'st.metric(words.playground.FACT_RAW, value)',
]  # fmt: skip
ALLOWED = [
    "st.text(message.content)",
    "st.code(text, language=None)",
    "st.dataframe(pd.DataFrame(rows), hide_index=True)",
    'st.text_area(words.opening.PASTE, value=text, key="x")',
    "st.caption(words.common.raw_ids_left(count))",
    "st.button(words.opening.open_rest(failed.messages), key='open')",
    "st.selectbox(words.playground.ENCODING, tokens.ENCODINGS)",
    "st.segmented_control(words.playground.VIEW, views, format_func=lambda view: words.playground.VIEWS[view])",
    "st.info(words.playground.HANDLES_EMPTY if empty else words.playground.NO_HANDLE_FOUND)",
]


@pytest.mark.parametrize("source", PLANTED)
def test_a_planted_violation_is_found(source: str) -> None:
    """Each way of drawing foreign text that one may be tempted by is found."""
    assert list(violations(source)) != []


@pytest.mark.parametrize("source", ALLOWED)
def test_what_is_allowed_is_not_reported(source: str) -> None:
    """The ways of drawing text that the rule leaves open pass."""
    assert list(violations(source)) == []


@pytest.mark.parametrize("script", ["node.innerHTML = text", "image.src = text", 'a.setAttribute("href", text)'])
def test_a_planted_script_is_found(script: str) -> None:
    """A script that would make markup or an address of text is found."""
    assert BAD_SCRIPT.findall(script) != []
