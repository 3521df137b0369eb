"""Words of the Policies page."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import plural

PAGE: Final = "Policies"
OPEN: Final = "Open pack…"
UPLOAD: Final = "A pack as TOML"
BUILTIN: Final = "Begin with the built-in pack"
UNDO: Final = "Undo"
SAVE: Final = "Save pack"
VIEW: Final = "What is edited"
VIEWS: Final = {"tools": "Tools", "more": "Issues and routing", "keys": "Keys"}
TOOLS: Final = {
    "tool": "Tool",
    "from": "From",
    "ids": "Id fields",
    "sql": "SQL",
    "output": "Output",
    "mine": "Mine",
    "sensitive": "Sensitive",
}
MORE: Final = {
    "tool": "Tool",
    "decode": "Issue fields",
    "register": "Issue ids of results",
    "compact": "Compact issues",
    "routing": "Routing",
}
KEYS: Final = {"key": "Key", "space": "Space"}
HINT: Final = "Several fields are separated by commas. Routing: server_id = server."
KEYS_HINT: Final = "Keys beside the shared table: they are read from the results of every source tool."
NEW_NAME: Final = "my-app"
CHECKED: Final = "Checked while you type"
FAULT_COLUMNS: Final = (("What is wrong", "58%"), ("Where", "42%"))
TWICE: Final = "This name stands in two rows; the first counts."
NOT_OPENED: Final = "This file is no sound pack, so the one below stays"
SOUND: Final = "The pack is sound."
NOT_SAVED: Final = "! not saved"
EFFECT: Final = "Effect on what is open on the Leaks page"
MEASURE: Final = "Measure"
EFFECT_COLUMNS: Final = (("Tool or role", "52%"), ("Raw ids before", "24%"), ("With this pack", "24%"))
EFFECT_NONE: Final = "Open traces on the Leaks page to see what the changes do there."
EFFECT_WAITS: Final = "Not computed until the faults are gone."
TRY: Final = "Try a call"
TRY_TOOL: Final = "Tool"
TRY_TOOL_HINT: Final = "Name of the tool"
TRY_WAYS: Final = {"call": "Model → tool", "result": "Result → model"}
TRY_TEXT: Final = "Text"
TRY_CALL_HINT: Final = 'Arguments as the model writes them, as in {"knowledge_id": "doc://1"}'
TRY_RESULT_HINT: Final = "A result as the tool returns it"
TITLES_CALL: Final = ("Handle", "what the model wrote", "Durable", "what the tool receives (ids are made up)")
TITLES_RESULT: Final = ("Durable", "what the tool returned", "Handle", "what the model reads")


def about(tools: int, own: int, changed: int) -> str:
    """What is in the pack."""
    return f"{tools} {plural(tools, 'tool')} · {own} own, {changed} changed"


def faults(number: int) -> str:
    """Beside the title of the checks."""
    return f"{number} {plural(number, 'fault')}" if number else "no fault"
