"""Codec between an application's durable identifiers and the short handles that a model sees.

registry = Registry()
registry.register_document("5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a")
encoded = registry.encode_messages(messages)          # right before the model call
answer = registry.decode_output_text(model_answer)    # before anything is shown, run or stored
"""

from modelcontext_core.decode import DecodeItem, DecodeReport
from modelcontext_core.errors import ModelContextError, PolicyError, UnreadableTrace
from modelcontext_core.handles import HandleTable
from modelcontext_core.leaks import IdentifierLeak, RawIdentifier, summarize_leaks
from modelcontext_core.messages import (
    ChatResponse,
    ChunkReference,
    Message,
    Part,
    SearchResult,
    Tool,
    ToolCall,
    ToolImage,
    ToolResult,
)
from modelcontext_core.observe import observe_generation, observe_tool_call
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies, ToolPolicy, has_tool_policy
from modelcontext_core.registry import EncodeReport, HandleRow, Registry, Span
from modelcontext_core.roundtrip import Difference, RoundTrip, check_round_trip
from modelcontext_core.stream import HandleStreamDecoder, StreamDecoder
from modelcontext_core.wiki_routing import WikiRouteResolver, WikiScope, page_in_scope, wiki_scopes

__all__ = [
    "DEFAULT_POLICIES",
    "ChatResponse",
    "ChunkReference",
    "DecodeItem",
    "DecodeReport",
    "Difference",
    "EncodeReport",
    "HandleRow",
    "HandleStreamDecoder",
    "HandleTable",
    "IdentifierLeak",
    "Message",
    "ModelContextError",
    "Part",
    "PolicyError",
    "RawIdentifier",
    "Registry",
    "RoundTrip",
    "SearchResult",
    "Span",
    "StreamDecoder",
    "Tool",
    "ToolCall",
    "ToolImage",
    "ToolPolicies",
    "ToolPolicy",
    "ToolResult",
    "UnreadableTrace",
    "WikiRouteResolver",
    "WikiScope",
    "check_round_trip",
    "has_tool_policy",
    "observe_generation",
    "observe_tool_call",
    "page_in_scope",
    "summarize_leaks",
    "wiki_scopes",
]
