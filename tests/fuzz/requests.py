"""What an application passes in around a model call: tool definitions, tool results, pages of a wiki, observations.

All of it was written by other people's servers and by models: it is rendered, routed and restored, or left alone.
"""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any, Final

from modelcontext_core import (
    ChatResponse,
    Message,
    Registry,
    Tool,
    ToolCall,
    ToolImage,
    ToolResult,
    WikiRouteResolver,
    WikiScope,
    observe_generation,
    observe_tool_call,
    page_in_scope,
    wiki_scopes,
)
from modelcontext_core.observe import generation_attributes, tool_call_attributes
from modelcontext_core.toolresults.render import RENDERERS
from modelcontext_core.wiki_routing import WikiCreateTarget, WikiRouteError
from tests.fuzz import conversations, mutations, texts, worlds

__all__ = ["run"]

_SOURCE: Final = re.compile(r'<source id="(url://[0-9]+)"')
_WIKIS: Final = ("kb-000001", worlds.UUID_A, worlds.UUID_B, " ", "", "kb\0")
_ROUTED: Final = ("router", "call_mcp_tool", "discover_mcp_tools", "mcp_other")
_SLUGS: Final = ("home", " home ", "index", "", "a/b", "\ud800", "log")


def run(number: int) -> None:
    """Runs one case; raises `AssertionError` when a law is broken."""
    rng = random.Random(f"requests {number}")
    (_tools_law, _results_law, _wiki_law, _observation_law)[number % 4](rng)


def _registry(rng: random.Random) -> Registry:
    return worlds.registry(citations=rng.random() < 0.5, issues=rng.random() < 0.5, pack=rng.random() < 0.5)


# ------------------------------------------------------------------------------------------------------------ tools


def _tools_law(rng: random.Random) -> None:
    """Definitions are copied, encoded once for all, and what the model answers with them is routed back."""
    registry = _registry(rng)
    tools = [_tool(rng) for _ in range(rng.randint(1, 4))]
    before = copy.deepcopy(tools)
    encoded = registry.encode_tools(tools)
    assert before == tools, "encoding changed what it was given"
    assert encoded == registry.encode_tools(encoded), f"encoded twice: {encoded}"
    assert encoded == registry.encode_tools(tools)
    for old, new in zip(tools, encoded, strict=True):
        for name, was, now in _enums(old, new):
            if was == now:
                continue
            arguments = json.dumps({name: now})
            [call] = registry.decode_tool_calls([ToolCall(name=old.name, arguments=arguments)])
            assert {name: was.strip()} == json.loads(call.arguments), f"{was!r} became {now!r} in {old.name}"
            assert not call.unresolved_handles


def _tool(rng: random.Random) -> Tool:
    keys = ("server_id", "tool_ref", "server_id", "Tool_Ref", rng.choice(conversations.KEYS))
    properties: dict[str, Any] = {}
    for key in rng.choices(keys, k=rng.randint(0, 3)):
        values = [
            rng.choice((*conversations.IDS, *conversations.HANDLES, "server-1", 7)) for _ in range(rng.randint(0, 3))
        ]
        properties[key] = {"type": "string", "enum": values}
    parameters: Any = {"type": "object", "properties": properties}
    if rng.random() < 0.4:
        parameters = mutations.mutated(rng, parameters, conversations.IDS)
    directory = json.dumps({"servers": [{"server_id": rng.choice(conversations.IDS)}], "server_id": "server-1"})
    service = f'[MCP service server_id="{rng.choice(conversations.IDS)}" (external)] '
    description = "".join(
        rng.choice((directory, service, "\n", conversations.prose(rng, 3), "{", 'server_id="server-1"'))
        for _ in range(rng.randint(0, 4))
    )
    name = rng.choice((*_ROUTED, *_ROUTED, rng.choice(conversations.TOOLS)))
    return Tool(name=name, description=description, parameters=parameters if isinstance(parameters, dict) else {})


def _enums(old: Tool, new: Tool) -> list[tuple[str, str, str]]:
    found = []
    properties = old.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        values = schema.get("enum") if isinstance(schema, dict) else None
        if isinstance(values, list):
            now = new.parameters["properties"][name]["enum"]
            found += [(name, a, b) for a, b in zip(values, now, strict=True) if isinstance(a, str)]
    return found


# ---------------------------------------------------------------------------------------------------------- results


def _results_law(rng: random.Random) -> None:
    """A result is shown alike by two registries, is not changed by encoding the history that it goes into, and every
    link that it lists can be cited."""
    state = rng.getstate()
    one = _registry(rng)
    rng.setstate(state)
    other = _registry(rng)
    name = "mcp_other" if rng.random() < 0.3 else rng.choice(("call_mcp_tool", *conversations.TOOLS))
    result = _result(rng)
    shown = one.model_tool_result(result, name)
    assert shown == other.model_tool_result(result, name)
    assert one.tool_image_sources_note(result) == other.tool_image_sources_note(result)
    assert len(one.handles()) == len(other.handles())
    for handle in _SOURCE.findall(shown.rpartition("<external_source_candidates>")[2]):
        if one.citations_enabled and "<external_source_candidates>" in shown:
            cited = one.decode_output_text(f'<ref id="{handle}"/>')
            assert cited.startswith('<web url="'), f"{handle} of {shown!r} is cited as {cited!r}"
    message = Message(role="tool", name=name, tool_call_id="call", content=shown)
    [first] = one.encode_messages([message])
    [again] = one.encode_messages([first])
    assert first == again, f"encoded twice: {first.content!r} != {again.content!r}"


def _result(rng: random.Random) -> ToolResult:
    output = rng.choice((conversations.prose, conversations.json_text))(rng)
    if rng.random() < 0.3:
        link = f"https://e.com/{rng.choice(conversations.IDS)}"
        output += rng.choice((link, json.dumps(link), f"&quot;{link}&quot;", f"\\u0022{link}\\u0022", f"({link})"))
    data: Any = json.loads(conversations.json_text(rng, top="object")) if rng.random() < 0.7 else None
    if isinstance(data, dict):
        rows = [conversations.members(rng) for _ in range(rng.randint(0, 3))]
        data |= {rng.choice(("results", "chunks", "documents", "rows", "servers")): rows}
        data["display_type"] = rng.choice(sorted(RENDERERS))
        data = mutations.mutated(rng, data, conversations.IDS) if rng.random() < 0.5 else data
    return ToolResult(
        success=rng.random() < 0.8,
        output=output if rng.random() < 0.9 else "",
        error=conversations.prose(rng, 3),
        data=data if isinstance(data, dict) else None,
        output_files=rng.choice((None, [], [rng.choice(conversations.IDS)])),
        images=[ToolImage(chunk_id=rng.choice(conversations.IDS)) for _ in range(rng.randint(0, 2))],
    )


# ------------------------------------------------------------------------------------------------------------- wiki


def _page(rng: random.Random) -> dict[str, Any]:
    page: dict[str, Any] = {
        "slug": rng.choice(_SLUGS),
        "out_links": [rng.choice(_SLUGS) for _ in range(2)],
        "source_refs": [rng.choice((f"{rng.choice(conversations.IDS)}|title", "|", "")) for _ in range(2)],
        "tag_ids": [rng.choice(conversations.IDS)],
        "page_type": rng.choice(("index", "page", "INDEX", None)),
    }
    changed: Any = mutations.mutated(rng, page, conversations.IDS) if rng.random() < 0.5 else page
    return changed if isinstance(changed, dict) else {}


def _wiki_law(rng: random.Random) -> None:
    """Whatever pages and targets say, no page outside the scope is asked for, found, made or shown."""
    targets = [
        rng.choice(
            (_page(rng), {"knowledge_base_id": rng.choice(_WIKIS), "knowledge_ids": _some(rng), "type": "knowledge"})
        )
        for _ in range(3)
    ]
    wikis = rng.sample(_WIKIS, rng.randint(0, 4))
    scopes = wiki_scopes(targets, wikis)
    allowed = {scope.knowledge_base_id for scope in scopes}
    assert allowed <= {wiki.strip() for wiki in wikis} - {""}
    resolver = WikiRouteResolver()
    pages = {wiki.strip(): _page(rng) for wiki in rng.sample(_WIKIS, 3)}

    def lookup(slug: str, wiki: str) -> Any:
        assert wiki in allowed, f"{wiki!r} is asked and not allowed"
        return pages.get(wiki)

    for _ in range(6):
        slug, wiki = rng.choice(_SLUGS), rng.choice(_WIKIS)
        rng.choice((resolver.remember, resolver.forget))(slug, wiki)
        resolver.remember_page(_page(rng), wiki)
        try:
            found = resolver.read_all(slug, scopes, lookup)
        except WikiRouteError as error:
            assert str(error)
            continue
        assert {each.knowledge_base_id for each in found} <= allowed
        made = resolver.resolve_create(slug, scopes, _some(rng))
        if isinstance(made, WikiCreateTarget):
            assert made.knowledge_base_id in allowed
        assert {scope.knowledge_base_id for scope in resolver.scopes_for(slug, scopes)} <= allowed
    for scope in (*scopes, WikiScope(knowledge_base_id="kb-000001", knowledge_ids=(worlds.UUID_A,))):
        page = _page(rng)
        seen = page_in_scope(page, scope)
        if scope.limited and not page.get("source_refs"):
            assert not seen, f"{page} proves nothing"


def _some(rng: random.Random) -> list[str]:
    return [rng.choice((*conversations.IDS, *_WIKIS)) for _ in range(rng.randint(0, 3))]


# ----------------------------------------------------------------------------------------------------- observations


def _observation_law(rng: random.Random) -> None:
    """What is recorded can be sent as JSON, and says nothing of the values of a sensitive tool."""
    registry = _registry(rng)
    messages = registry.encode_messages(conversations.conversation(rng))
    secret = "secret-0001"
    asked = tuple(
        ToolCall(
            id="call", name=rng.choice(("database_query", *conversations.TOOLS)), arguments=conversations.arguments(rng)
        )
        for _ in range(2)
    )
    hidden = ToolCall(id="call", name="vault", arguments=json.dumps({"id": secret, "q": f"{secret} doc://1"}))
    told = Message(role="tool", name="vault", tool_call_id="call", content=f"{secret} {conversations.prose(rng, 2)}")
    pack = registry.policies.extend(worlds.SENSITIVE)
    response = ChatResponse(content=texts.text(rng), reasoning=texts.text(rng), tool_calls=(*asked, hidden))
    calls = (*response.tool_calls, *registry.decode_response(response).tool_calls)
    observed = [
        generation_attributes(observe_generation([*messages, told], response, pack)),
        *(tool_call_attributes(observe_tool_call(call, pack)) for call in calls),
    ]
    for attributes in observed:
        for value in attributes.values():
            assert secret not in str(value), f"{value!r} tells a secret"
        json.dumps(attributes)
