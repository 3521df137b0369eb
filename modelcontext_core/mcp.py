"""The application's own MCP bridge: routing ids in tool definitions, directory envelopes and replayed calls, and the
list of links that follows an external result.

Only routing fields are touched. Schemas and results of external tools belong to the server that sent them.

Explained in `docs/concepts/spaces.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

from modelcontext_core import jsontext
from modelcontext_core.grammar import (
    SERVER_LABEL,
    WordSpace,
    find_links,
    free_before,
    handle_spans,
    html_unescaped,
    is_free_text_id,
    may_be_mined,
    without_fragment,
)
from modelcontext_core.grammar import WORD as WORD_CHARACTERS
from modelcontext_core.handles import Place, link_regions, replace_places
from modelcontext_core.limits import MAX_CANDIDATE_LINKS
from modelcontext_core.messages import Tool
from modelcontext_core.policies import RoutingKind, ToolPolicies
from modelcontext_core.sources import HandleSpaces

ROUTING_SPACES: Final[Mapping[RoutingKind, WordSpace]] = {"server": "mcp_server", "tool": "mcp_tool"}
_ENVELOPE_KEYS: Final[Mapping[str, WordSpace]] = {"server_id": "mcp_server", "tool_ref": "mcp_tool"}
_ENVELOPE_ROWS: Final = ("servers", "tools")
_EXTERNAL_PREFIX: Final = "mcp_"
_SERVICE_PREFIX: Final = re.compile(r"\[MCP service [^\n]*?\(external\)\]")
_JSON_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/])|[bfnrt])')


def is_external(tool_name: str, policies: ToolPolicies) -> bool:
    """Whether a tool's results come from somebody else's MCP server."""
    policy = policies.get(tool_name)
    if policy is None:
        return tool_name.startswith(_EXTERNAL_PREFIX)
    return policy.output == "opaque" and "tool" in policy.routing.values()


def routing_handle(spaces: HandleSpaces, space: WordSpace, value: str) -> str | None:
    """The handle of a routing id, registered when the value may be one; None leaves it as it is."""
    value = value.strip()
    known = spaces.words[space].handle(value)
    return known or (spaces.register_word(space, value) if may_be_mined(value) else None)


# ------------------------------------------------------------------------------------------------ tool definitions


def encode_tools(tools: Sequence[Tool], spaces: HandleSpaces, policies: ToolPolicies) -> list[Tool]:
    """Copies of the tools as the model may see them: routing ids in schemas and in directory lines are handles."""
    encoded = [replace(tool, parameters=_routing_enums(tool, spaces, policies)) for tool in tools]
    encoded = [
        replace(tool, description=_directory_lines(tool.description, spaces))
        if (policy := policies.get(tool.name)) is not None and policy.output == "directory"
        else tool
        for tool in encoded
    ]
    return [
        replace(tool, description=_service_prefix(tool.description, spaces))
        if tool.name.startswith(_EXTERNAL_PREFIX)
        else tool
        for tool in encoded
    ]


def _routing_enums(tool: Tool, spaces: HandleSpaces, policies: ToolPolicies) -> Mapping[str, Any]:
    parameters: dict[str, Any] = _copied(dict(tool.parameters))
    policy = policies.get(tool.name)
    properties = parameters.get("properties")
    if policy is None or not isinstance(properties, dict):
        return parameters
    for name, schema in properties.items():
        kind = policy.routing.get(name.lower()) if isinstance(name, str) else None
        if kind is not None and isinstance(schema, dict) and isinstance(schema.get("enum"), list):
            schema["enum"] = [
                (routing_handle(spaces, ROUTING_SPACES[kind], value) or value) if isinstance(value, str) else value
                for value in schema["enum"]
            ]
    return parameters


def _copied(value: Any) -> Any:
    """A copy of JSON-like data, made without recursion: a schema may be nested as deeply as its author likes."""
    result = [value]
    work: list[tuple[Any, Any]] = [(result, 0)]
    while work:
        holder, key = work.pop()
        source = holder[key]
        if isinstance(source, dict):
            holder[key] = dict(source)
            work += [(holder[key], name) for name in source]
        elif isinstance(source, list):
            holder[key] = list(source)
            work += [(holder[key], index) for index in range(len(source))]
    return result[0]


def _directory_lines(description: str, spaces: HandleSpaces) -> str:
    lines = description.split("\n")
    for index, line in enumerate(lines):
        if line.strip()[:1] == "{" and jsontext.is_valid(line):
            lines[index] = replace_places(line, _envelope_places(line, spaces, ("server_id",)))[0]
    return "\n".join(lines)


def _service_prefix(description: str, spaces: HandleSpaces) -> str:
    prefix = _SERVICE_PREFIX.match(description)
    if prefix is None:
        return description
    return compact_server_labels(prefix[0], spaces)[0] + description[prefix.end() :]


def compact_server_labels(text: str, spaces: HandleSpaces) -> tuple[str, list[Place]]:
    """`text` with the ids of known servers replaced under `server_id="…"`."""
    if "server_id=" not in text:
        return text, []
    places = []
    for label in SERVER_LABEL.finditer(text):
        handle = spaces.words["mcp_server"].handle(html_unescaped(label[1]))
        if handle is not None and free_before(text, label.start(), WORD_CHARACTERS | {"-"}):
            places.append(Place(label.start(1), label.end(1), handle))
    return replace_places(text, places)


# ------------------------------------------------------------------------------------------------------ directories


def encode_directory(text: str, spaces: HandleSpaces) -> tuple[str, list[Place]]:
    """A directory result with its routing ids replaced: top-level ones and those of the rows of `servers` and `tools`.
    A result that is no object is left for `compact_directory`."""
    if not _is_envelope(text):
        return text, []
    return replace_places(text, _envelope_places(text, spaces, tuple(_ENVELOPE_KEYS)))


def compact_directory(text: str, spaces: HandleSpaces) -> tuple[str, list[Place]]:
    """A directory result that is no object, with the routing ids replaced that are known once all were registered."""
    return (text, []) if _is_envelope(text) else compact_words(text, spaces, ("mcp_server", "mcp_tool"))


def _is_envelope(text: str) -> bool:
    return text.lstrip()[:1] == "{" and jsontext.is_valid(text)


def compact_words(text: str, spaces: HandleSpaces, families: Sequence[WordSpace]) -> tuple[str, list[Place]]:
    """`text` with known issue or routing ids replaced by the gluing rule, never inside URLs."""
    places: list[Place] = []
    keep: list[tuple[int, int]] = []
    for space in families:
        table = spaces.words[space]
        if table:
            places += [place for place in table.places(text) if is_free_text_id(text[place.start : place.end])]
            keep += table.tokens(text)
    if not places:
        return text, []
    return replace_places(text, places, keep + handle_spans(text), link_regions(text, scheme_handles=True))


def _envelope_places(text: str, spaces: HandleSpaces, keys: Sequence[str]) -> list[Place]:
    places = []
    for string in jsontext.strings(text):
        key = (string.key or "").lower()
        if string.is_key or key not in keys or not _in_envelope(string):
            continue
        literal = text[string.start : string.end]
        handle = routing_handle(spaces, _ENVELOPE_KEYS[key], jsontext.unquote(literal))
        if handle is not None and handle != literal[1:-1]:
            places.append(Place(string.start + 1, string.end - 1, handle))
    return places


def _in_envelope(string: jsontext.JsonString) -> bool:
    """A member of the top-level object, or of a row of its `servers` or `tools`."""
    row = string.container
    if row is None or row.kind != "{":
        return False
    if string.depth == 1:
        return True
    rows = row.parent
    return string.depth == 3 and rows is not None and rows.kind == "[" and (rows.key or "").lower() in _ENVELOPE_ROWS


# ------------------------------------------------------------------------------------------------ links of a result


def link_candidates(output: str, spaces: HandleSpaces) -> str:
    """What follows a successful external result: its distinct links, each citable from now on; "" without links."""
    links: dict[str, str] = {}
    scratch = _readable(output) if "\\" in output or "&" in output else output
    for start, end in find_links(scratch):
        link = scratch[start:end]
        links.setdefault(without_fragment(link), link)
        if len(links) >= MAX_CANDIDATE_LINKS:
            break
    rows = []
    for link in links.values():
        handle = spaces.register_web(link, citable=True)
        if handle is not None:
            rows.append(f'<source id="{handle}" url="{escape(link)}"/>\n')
    if not rows:
        return ""
    return (
        "\n\n<external_source_candidates>\n"
        'Links seen in this result. Cite one as <ref id="url://N"/> only where this result supports the claim; '
        "being listed does not mean that it was read.\n" + "".join(rows) + "</external_source_candidates>"
    )


def _readable(output: str) -> str:
    """A scratch copy with JSON escapes and then HTML entities undone; escaped surrogate pairs become one character."""
    text = _JSON_ESCAPE.sub(_unescaped, output)
    return html_unescaped(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return match[2] or " "
