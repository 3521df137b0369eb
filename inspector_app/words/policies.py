"""Words of the Policies page."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import OurName, plural

PAGE: Final = "Policies"
OPEN: Final = "Open pack…"
UPLOAD: Final = "A pack as TOML"
BUILTIN: Final = "Begin with the built-in pack"
SAMPLE: Final = "Open the sample pack"
UNDO: Final = "Undo"
SAVE: Final = "Save pack"
SAVE_HELP: Final = "Downloads the pack as TOML. The Playground, the Leaks page and the command line take it."
LISTED: Final = "Which tools are listed"
NONE_LISTED: Final = "No tool is like this. Clear the search or list all tools."
TOOLS: Final = {
    "details": "More",
    "tool": "Tool",
    "from": "From",
    "ids": "Id fields",
    "sql": "SQL",
    "output": "Output",
    "mine": "Mine",
    "sensitive": "Sensitive",
}
HELP: Final = {
    "details": "Ticked rows show their issues, routing and keys beside the table.",
    "tool": "The name under which the model calls the tool.",
    "from": "built-in, changed (a built-in tool that says something else here), or own.",
    "ids": "Arguments that hold an id: the tool gets the bare id. Several are separated by commas.",
    "sql": "Arguments that hold SQL: handles in its string literals become ids.",
    "output": "What happens to its results. source: ids are read and replaced. compact: known ids are replaced. "
    "opaque: left alone. directory: an envelope of the MCP bridge.",
    "mine": "uuid or url: every one in its results gets a handle, wherever it stands.",
    "sensitive": "Observers report keys and counts of its arguments, never values.",
}
ORIGINS: Final = {"built-in": "built-in", "changed": "changed", "own": "own"}
DETAILS: Final = {"tool": "Tool", "setting": "Setting", "value": "Value"}
DETAILS_TITLE: Final = "**Issues and routing of the ticked rows**"
DETAILS_NONE: Final = "Tick More in a row of the table: its issues, routing and keys then stand here."
SETTING_HELP: Final = (
    "issues.decode: arguments in which i1 becomes an issue. issues.register: keys of results that hold issues. "
    "issues.compact: true replaces known issues in results. routing: server_id = server, tool_name = tool."
)
NO_SWITCH: Final = 'is neither "true" nor "false"'
SPACES_TITLE: Final = "What their id fields hold"
SPACE_COLUMNS: Final = (("Id field", "40%"), ("Space", "30%"), ("From", "30%"))
KINDS: Final = {
    "chunk": "chunk",
    "document": "document",
    "document_ref": "document",
    "knowledge_base": "knowledge base",
    "web": "web",
    "known": "any known id",
}
NO_SPACE: Final = "none: name it below"
KEY_FROM: Final = {False: "shared table", True: "this pack"}
KEYS: Final = {"key": "Key", "space": "Space"}
KEYS_TITLE: Final = "**Keys of this pack**"
KEYS_HINT: Final = (
    "Beside the shared table: what a field of your own holds, in arguments and in results of source tools."
)
NEW_NAME: Final = "my-app"
CHECKED: Final = "Checked after every edit"
FAULT_COLUMNS: Final = (("What is wrong, and where", "100%"),)
TWICE: Final = "This name stands in two rows; the first counts."
NOT_OPENED: Final = "This file is no sound pack, so the one below stays"
SOUND: Final = "The pack is sound."
NOT_SAVED: Final = "! not saved"
EFFECT: Final = "Effect on what is open on the Leaks page"
MEASURE: Final = "Measure"
EFFECT_COLUMNS: Final = (("Tool or role", "52%"), ("Raw ids before", "24%"), ("With this pack", "24%"))
EFFECT_NONE: Final = "Open traces on the Leaks page to see what the changes do there."
EFFECT_WAITS: Final = "Not computed until the faults are gone."
COMPARE: Final = "Compare…"
COMPARE_WITH: Final = "Compare this pack with"
COMPARE_CHOICES: Final = {"opened": "what was opened", "builtin": "the built-in pack", "file": "another pack (TOML)"}
COMPARE_UPLOAD: Final = "The other pack"
COMPARE_FIRST: Final = "Choose the file of the other pack first."
COMPARED: Final = "Where they differ"
SAME: Final = "Both say the same."
DIFFERENCE_COLUMNS: Final = (("Where", "46%"), ("This pack", "27%"), ("The other", "27%"))
DECLARED: Final = "declared"
NOT_THERE: Final = "–"
ON_TRACES: Final = "On traces"
ON_TRACES_NONE: Final = (
    "To compare what they leave, open traces on the Leaks page first: without traces, only rules differ."
)
MEASURE_BOTH: Final = "Count what both leave in the open traces"
TRY: Final = "Try a call"
TRY_TOOL: Final = "Tool"
TRY_TOOL_HINT: Final = "Name of the tool"
TRY_WAYS: Final = {"call": "Model → tool", "result": "Result → model"}
TRY_TEXT: Final = "Text"
TRY_CALL_HINT: Final = 'Arguments as the model writes them, as in {"knowledge_id": "doc://1"}'
TRY_RESULT_HINT: Final = "A result as the tool returns it"
TRY_FIRST: Final = "Name a tool and write a text to see both forms of it."
TRY_EXAMPLE_TOOL: Final = "database_query"
TRY_EXAMPLES: Final = {
    "call": "{\"sql\": \"SELECT price FROM orders WHERE doc_id = 'doc://1' AND chunk = 'chunk://2'\"}",
    "result": '{"rows": [{"knowledge_id": "8c3f1b7e-2a54-4d0b-9a61-5f0e7c2d9b13", "price": 129.0}]}',
}
TITLES_CALL: Final = ("Handle", "what the model wrote", "Durable", "what the tool receives (ids are made up)")
TITLES_RESULT: Final = ("Durable", "what the tool returned", "Handle", "what the model reads")
_LISTED: Final = {"all": "All", "own": "Own", "changed": "Changed", "faults": "With faults"}


def about(tools: int, own: int, changed: int) -> str:
    """What is in the pack."""
    return f"{tools} {plural(tools, 'tool')} · {own} own, {changed} changed"


def listed(name: OurName, number: int) -> str:
    """One entry of the choice of which tools are listed."""
    return f"{_LISTED.get(name, name)} {number}"


def faults(number: int) -> str:
    """Beside the title of the checks."""
    return f"{number} {plural(number, 'fault')}" if number else "no fault"


def differences(number: int) -> str:
    """Beside the title of a comparison."""
    return f"{number} {plural(number, 'difference')}"


def sound(number: int) -> str:
    """How many tools are sound, beside some that are not."""
    return f"{number} other {plural(number, 'tool')} {'is' if number == 1 else 'are'} sound"
