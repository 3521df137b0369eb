"""The seven families of handles as the app shows them: short code, order, tag."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["CODES", "FAMILIES", "family", "tag"]

# In the order of the chips. Both MCP spaces are one family: one colour, one chip.
FAMILIES: Final = ("chunk", "document", "knowledge_base", "web", "resource", "issue", "mcp")
CODES: Final = {
    "chunk": "ck",
    "document": "dc",
    "knowledge_base": "kb",
    "web": "wb",
    "resource": "rs",
    "issue": "i",
    "mcp": "m",
}
_NUMBER: Final = re.compile(r"0*([0-9]+)$")


def family(space: str) -> str:
    """Return the family of a space: `mcp_server` and `mcp_tool` are both `mcp`."""
    return "mcp" if space.startswith("mcp") else space


def tag(handle: str, space: str) -> str:
    """Return the short tag of a handle: `chunk://2` is `ck2`, `res://0001` is `rs1`; MCP handles stay."""
    if space.startswith("mcp"):
        return handle
    number = _NUMBER.search(handle)
    return CODES.get(space, "?") + (number[1] if number else "")
