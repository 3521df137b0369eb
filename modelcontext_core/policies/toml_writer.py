"""Writing the TOML of a pack. The standard library only reads TOML.

What is written here is the small part of TOML that a pack needs: strings, booleans, lists of strings, and inline
tables of those. `tomllib.loads` of it gives the same values back, for every text that UTF-8 can hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from modelcontext_core.policies.rules import DEFAULT_SCHEME, KeyKind, ToolPolicy

__all__ = ["TomlValue", "dotted", "inline", "quoted", "write_pack"]

TomlValue = str | bool | Sequence[str] | Mapping[str, "TomlValue"]

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
# In a basic string: the two delimiters, the control characters that TOML does not allow raw, and those that it does
# allow but that cannot be seen: controls of C1, zero-width, bidi and tag characters.
_ESCAPED: Final = re.compile(
    '["\\\\\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]'
)
_SHORT: Final[Mapping[str, str]] = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def quoted(text: str) -> str:
    """A basic string of TOML that holds exactly this text."""

    def escape(match: re.Match[str]) -> str:
        char = match.group()
        return _SHORT.get(char) or (f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}")

    return f'"{_ESCAPED.sub(escape, text)}"'


def dotted(*keys: str) -> str:
    """A key path as TOML writes it: bare where it may be, quoted elsewhere (`tools."my tool".ids`)."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else quoted(key) for key in keys)


def inline(value: TomlValue) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{dotted(key)} = {inline(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return f"[{', '.join(inline(item) for item in value)}]"


def write_pack(
    *,
    name: str,
    extends: str,
    uri_scheme: str,
    keys: Mapping[str, KeyKind],
    tools: Mapping[str, ToolPolicy],
    base_tools: Mapping[str, ToolPolicy],
) -> str:
    """The TOML of a pack: `keys` beyond the shared key table, and of each tool what differs from `base_tools`."""
    lines = [f"name = {quoted(name)}"]
    if extends:
        lines.append(f"extends = {quoted(extends)}")
    if uri_scheme != DEFAULT_SCHEME:
        lines.append(f"uri_scheme = {quoted(uri_scheme)}")
    if keys:
        lines += ["", "[keys]", *(f"{dotted(key)} = {quoted(kind)}" for key, kind in keys.items())]
    for tool, policy in tools.items():
        base = base_tools.get(tool)
        if policy != base:
            changes = _changes(policy, base or ToolPolicy(name=tool))
            lines += ["", f"[{dotted('tools', tool)}]", *(f"{key} = {inline(value)}" for key, value in changes.items())]
    return "".join(f"{line}\n" for line in lines)


def _changes(policy: ToolPolicy, base: ToolPolicy) -> dict[str, TomlValue]:
    """The keys of a tool's table whose value is not the base's, in the order of the schema."""
    new, old = _schema(policy), _schema(base)
    changes = {key: value for key, value in new.items() if value != old[key]}
    if "issues" in changes:
        parts, old_parts = _issues(policy), _issues(base)
        changes["issues"] = {key: value for key, value in parts.items() if value != old_parts[key]}
    return changes


def _schema(policy: ToolPolicy) -> dict[str, TomlValue]:
    return {
        "ids": policy.ids,
        "sql": policy.sql,
        "output": policy.output,
        "issues": _issues(policy),
        "routing": dict(policy.routing),
        "mine": policy.mine,
        "sensitive": policy.sensitive,
    }


def _issues(policy: ToolPolicy) -> dict[str, TomlValue]:
    return {"decode": policy.issues_decode, "register": policy.issues_register, "compact": policy.issues_compact}
