"""Gemini's contents and parts.

A part has no type: one of its keys says what it is. Keys are in camelCase or snake_case, even mixed. Calls have ids
only from some SDKs; results are linked by name and order otherwise.
"""

from __future__ import annotations

from typing import Final

from modelcontext_core.formats.building.builder import ConversationBuilder
from modelcontext_core.formats.building.opaque import kind_of_media
from modelcontext_core.formats.building.turns import Turn
from modelcontext_core.formats.nodes import Node

__all__ = ["PART_KEYS", "looks_like_content", "role_of", "tell_content", "tell_grounding", "tell_part", "tell_tools"]

PART_KEYS: Final = frozenset(
    {
        "text",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "executableCode",
        "executable_code",
        "codeExecutionResult",
        "code_execution_result",
        "toolCall",
        "tool_call",
        "toolResponse",
        "tool_response",
    }
)
_ROLES: Final = {"model": "assistant", "function": "tool", "": "user"}
_CODE: Final = "code_execution"


def looks_like_content(node: Node) -> bool:
    """True for an object with a list of parts that this API writes."""
    part = node.get("parts").at(0)
    return part.is_object and not part.has("type") and not part.has("kind") and part.has_any(PART_KEYS)


def role_of(content: Node, default: str = "") -> str:
    """The role in our words; a content without one is the user's unless `default` says otherwise."""
    role = content.get("role").text or default
    return _ROLES.get(role, role)


def tell_content(conversation: ConversationBuilder, content: Node, *, role: str = "") -> Turn:
    """Tell one content: a turn with its parts (or a string)."""
    told_role = role or role_of(content)
    turn = conversation.turn("user" if told_role == "tool" else told_role, content)
    parts = content.get("parts") if content.is_object else content
    if parts.is_list:
        for part in parts:
            tell_part(turn, part)
    elif parts.is_object:
        tell_part(turn, parts)
    else:
        turn.json(parts)
    return turn


def tell_part(turn: Turn, part: Node) -> None:
    """Tell one part."""
    signature = part.get("thoughtSignature", "thought_signature")
    call = part.get("functionCall", "function_call", "toolCall", "tool_call")
    answer = part.get("functionResponse", "function_response", "toolResponse", "tool_response")
    if part.is_text:
        turn.text(part)
    elif part.get("thought").value is True:
        turn.reasoning(part.get("text"), signature=signature.text)
        return
    elif part.get("text").is_text:
        turn.text(part.get("text"))
    elif call.is_object:
        name = call.get("name", "toolType", "tool_type").label
        turn.call(call, id=call.get("id").label, name=name, arguments=call.get("args", "arguments"))
    elif answer.is_object:
        _tell_answer(turn, answer)
    elif not _tell_code(turn, part) and not _tell_media(turn, part) and part and not signature:
        turn.unknown(part, "a part of an unknown kind")
    if signature.text:
        turn.opaque(signature, "thought_signature")


def _tell_answer(turn: Turn, answer: Node) -> None:
    """Tell what a function gave back. `response.error` is the convention for a failure."""
    response = answer.get("response")
    name = answer.get("name", "toolType", "tool_type").label
    result = turn.result(answer, call_id=answer.get("id").label, name=name, is_error=bool(response.get("error")))
    result.json(response)
    for part in answer.get("parts"):
        tell_part(result, part)


def _tell_code(turn: Turn, part: Node) -> bool:
    """Tell code that the provider ran, or what the code printed."""
    code = part.get("executableCode", "executable_code")
    output = part.get("codeExecutionResult", "code_execution_result")
    if code.is_object:
        turn.call(code, id=code.get("id").label, name=_CODE, arguments=code)
    elif output.is_object:
        failed = output.get("outcome").text not in ("", "OUTCOME_OK")
        result = turn.result(output, call_id=output.get("id").label, name=_CODE, is_error=failed)
        result.text(output.get("output"))
    return code.is_object or output.is_object


def _tell_media(turn: Turn, part: Node) -> bool:
    """Tell bytes inside the part, or a file elsewhere."""
    data, file = part.get("inlineData", "inline_data"), part.get("fileData", "file_data")
    found = data if data.is_object else file
    if not found.is_object:
        return False
    media_type = found.get("mimeType", "mime_type").text
    name = found.get("displayName", "display_name").text
    kind = kind_of_media(media_type)
    url = found.get("fileUri", "file_uri").text
    turn.media(part, kind, url=url, data=found.get("data").text, media_type=media_type, name=name)
    return True


def tell_tools(conversation: ConversationBuilder, tools: Node) -> None:
    """Keep the declarations of functions, and by name what the provider runs itself."""
    for tool in tools if tools.is_list else [tools]:
        declared = tool.get("functionDeclarations", "function_declarations")
        for function in declared:
            schema = function.get("parameters", "parametersJsonSchema", "parameters_json_schema")
            conversation.tool(function.get("name").label, function.get("description").text, schema)
        for key, _ in tool.members():
            if key not in ("functionDeclarations", "function_declarations", "name", "type"):
                conversation.tool(key)


def tell_grounding(turn: Turn, candidate: Node) -> None:
    """Tell the sources of an answer: pages, retrieved texts, searches, citations."""
    grounding = candidate.get("groundingMetadata", "grounding_metadata")
    for chunk in grounding.get("groundingChunks", "grounding_chunks"):
        source = chunk.get("web", "retrievedContext", "retrieved_context", "maps")
        about = {"url": source.get("uri").text, "title": source.get("title").text}
        turn.aside(source, "citation", source.get("text").text, **about)
    for query in grounding.get("webSearchQueries", "web_search_queries"):
        turn.aside(query, "search_query", query.text)
    entry = grounding.get("searchEntryPoint", "search_entry_point").get("renderedContent", "rendered_content")
    if entry.text:
        turn.aside(entry, "search_entry_point", entry.text)
    citations = candidate.get("citationMetadata", "citation_metadata").get("citationSources", "citations")
    for source in citations:
        turn.aside(source, "citation", "", url=source.get("uri").text, title=source.get("title").text)
    fetched = candidate.get("urlContextMetadata", "url_context_metadata").get("urlMetadata", "url_metadata")
    for page in fetched:
        turn.aside(page, "citation", "", url=page.get("retrievedUrl", "retrieved_url").text)
