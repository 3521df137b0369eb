"""`Registry`: the one boundary of one request between durable identities and the handles that a model sees.

The facade holds the state and the order of the steps, nothing else. Make one for each request, register what enters the
context, encode right before the model call, decode what comes back before anything runs or is stored.

The rules are told in `docs/concepts/`: `lifecycle.md` (the order of things), `spaces.md` (what is a handle, and
what an id), `citations.md` (what may be cited, tool results), `streaming.md`, `leaks.md`; which fields of tools count
is told in `docs/policies.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from modelcontext_core import decode, leaks, mcp, resources
from modelcontext_core.encode import Encoder
from modelcontext_core.grammar import (
    WORD_PREFIXES,
    Space,
    format_handle,
    handle_tokens,
    whole_handle,
    whole_word_handle,
)
from modelcontext_core.messages import (
    ChatResponse,
    ChunkReference,
    Message,
    SearchResult,
    Tool,
    ToolCall,
    ToolResult,
)
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies, ToolPolicy
from modelcontext_core.prompt import protocol_prompt
from modelcontext_core.rewriting import Rewriting
from modelcontext_core.scanner import Event
from modelcontext_core.sources import HandleSpaces, Origin
from modelcontext_core.stream import StreamDecoder, output_rules
from modelcontext_core.toolcalls import decode_tool_call
from modelcontext_core.toolresults import (
    RenderContext,
    image_sources_note,
    render_tool_result,
    tool_image_sources_note,
)
from modelcontext_core.wrong_types import check_type, checked, wrong_type

__all__ = ["EncodeReport", "HandleRow", "Registry", "Span"]

# A result without a tool name is treated as that of a source tool.
_UNNAMED: Final = ToolPolicy(name="", output="source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One replacement: `[start, end)` of the text at `path` became `[out_start, out_end)`, the place of `handle`.

    Offsets are characters; for tool-call arguments they point into the JSON text as it is written.
    """

    message: int
    path: str
    start: int
    end: int
    out_start: int
    out_end: int
    handle: str
    space: Space


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeReport:
    """Encoded messages, and what was replaced in them, in the order of the text."""

    messages: Sequence[Message]
    spans: Sequence[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleRow:
    """One issued handle. `first_message` is -1 when it was registered outside of messages; `uses` counts the
    replacements of the last `encode_with_report`."""

    handle: str
    durable: str
    space: Space
    citable: bool
    first_message: int
    first_path: str
    uses: int


class Registry:
    """Every handle of one request. Not for storing, not for sharing between requests or threads.

    What is no record of the right type, or no text, is refused with a `TypeError` that says where it stands.
    """

    def __init__(self, citations_enabled: bool = True, policies: ToolPolicies = DEFAULT_POLICIES) -> None:
        """`policies` is a pack as `ToolPolicies.load(path)` gives it; with `citations_enabled` off, no source can be
        cited."""
        check_type("citations_enabled", citations_enabled, bool)
        check_type("policies", policies, ToolPolicies)
        self.citations_enabled = citations_enabled
        self.policies = policies
        self._spaces = HandleSpaces(policies.uri_scheme)
        self._uses: Counter[str] = Counter()

    # ------------------------------------------------------------------------------------------------ registering

    def register_chunk(self, reference: ChunkReference) -> str | None:
        """The handle of a retrieved chunk, citable from now on. Registering again only fills empty metadata."""
        check_type("reference", reference, ChunkReference)
        return self._spaces.register_chunk(reference, citable=True)

    def register_context_chunk(self, reference: ChunkReference) -> str | None:
        """The handle of a chunk that tools may navigate to, without evidence that could be cited."""
        check_type("reference", reference, ChunkReference)
        return self._spaces.register_chunk(reference, citable=False)

    def register_document(self, durable_id: str) -> str | None:
        """The handle of a document; None when the id is blank or has the shape of a handle that is not known."""
        return self._spaces.register_document(durable_id)

    def register_knowledge_base(self, durable_id: str) -> str | None:
        """The handle of a knowledge base; None when the id is blank or handle-shaped."""
        return self._spaces.register_knowledge_base(durable_id)

    def register_web(self, url: str, title: str = "") -> str | None:
        """The handle of a web page, citable from now on: one for each URL without its fragment."""
        check_type("title", title, str)
        return self._spaces.register_web(url, title, citable=True)

    def register_search_results(self, results: Iterable[SearchResult]) -> list[str | None]:
        """Registers document, knowledge base and chunk of each result; gives the chunk handles in their order."""
        handles = []
        for result in checked("results", results, SearchResult):
            self._spaces.register_document(result.knowledge_id)
            self._spaces.register_knowledge_base(result.knowledge_base_id)
            reference = ChunkReference(
                chunk_id=result.id,
                knowledge_id=result.knowledge_id,
                knowledge_base_id=result.knowledge_base_id,
                document_title=result.knowledge_title if result.knowledge_title.strip() else result.knowledge_filename,
                chunk_index=result.chunk_index,
                chunk_type=result.chunk_type,
            )
            handles.append(self._spaces.register_chunk(reference, citable=True))
        return handles

    def register_issue(self, durable_id: str) -> str | None:
        """The `iN` handle of a wiki issue."""
        return self._spaces.register_word("issue", durable_id)

    def chunk_handle(self, durable_id: str) -> str | None:
        """The handle of a chunk that is known already, or None."""
        check_type("durable_id", durable_id, str)
        token = whole_handle(durable_id)
        if token is not None and token.space == "chunk" and self._spaces.durable("chunk", token.number) is not None:
            return format_handle("chunk", token.number or 0)
        return self._spaces.handle_of("chunk", durable_id)

    # --------------------------------------------------------------------------------------------------- encoding

    def encode_messages(self, messages: Iterable[Message]) -> list[Message]:
        """The messages as the model may see them; the input is not touched. Encoding twice changes nothing."""
        encoder = Encoder(checked("messages", messages, Message), self._spaces, self.policies)
        encoder.run()
        return encoder.messages()

    def encode_with_report(self, messages: Iterable[Message]) -> EncodeReport:
        """The same, and every replacement with its place on both sides."""
        encoder = Encoder(checked("messages", messages, Message), self._spaces, self.policies)
        encoder.run()
        written: dict[str, tuple[str, Space]] = {}  # what was written -> the handle in it
        spans = []
        for message, path, replacements in encoder.replacements():
            for start, end, out_start, out_end, text in replacements:
                known = written.get(text) or written.setdefault(text, _handle_in(text))
                spans.append(
                    Span(
                        message=message,
                        path=path,
                        start=start,
                        end=end,
                        out_start=out_start,
                        out_end=out_end,
                        handle=known[0],
                        space=known[1],
                    )
                )
        self._uses = Counter(span.handle for span in spans)
        return EncodeReport(messages=tuple(encoder.messages()), spans=tuple(spans))

    def encode_tools(self, tools: Iterable[Tool]) -> list[Tool]:
        """Copies of tool definitions with the routing ids of the MCP bridge replaced."""
        return mcp.encode_tools(checked("tools", tools, Tool), self._spaces, self.policies)

    def compact_known_text(self, text: str) -> str:
        """`text` with stored references and URIs, then known source ids, replaced."""
        check_type("text", text, str)
        return self._compacted(text).text

    def encode_known_issues(self, text: str) -> str:
        """`text` with known wiki issue ids replaced."""
        check_type("text", text, str)
        return mcp.compact_words(text, self._spaces, ("issue",))[0]

    def _compacted(self, text: str) -> Rewriting:
        rewriting = Rewriting(text, "")
        found = resources.find(text, self._spaces.uri_scheme)
        if found:
            rewriting.apply(resources.replace_found(text, found, self._spaces, uris=True))
        rewriting.apply(self._spaces.compact(rewriting.text))
        return rewriting

    # --------------------------------------------------------------------------------------------------- decoding

    def decode_tool_calls(self, calls: Iterable[ToolCall]) -> list[ToolCall]:
        """The calls as they may run. One with `unresolved_handles` must not run."""
        return [decode_tool_call(call, self._spaces, self.policies) for call in checked("calls", calls, ToolCall)]

    def decode_output_text(self, text: str) -> str:
        """A complete answer as a reader may see it. Apply it once: it removes canonical tags."""
        check_type("text", text, str)
        return decode.decode_output_text(text, self._spaces, citations=self.citations_enabled)

    def decode_with_report(self, text: str) -> decode.DecodeReport:
        """The same, and what became of every handle, tag and near miss."""
        check_type("text", text, str)
        return decode.decode_with_report(text, self._spaces, citations=self.citations_enabled)

    def decode_response(self, response: ChatResponse) -> ChatResponse:
        """A complete response: texts decoded, calls restored; a signature of reasoning that changed is dropped."""
        check_type("response", response, ChatResponse)
        reasoning = self.decode_output_text(response.reasoning)
        return replace(
            response,
            content=self.decode_output_text(response.content),
            reasoning=reasoning,
            reasoning_signature=response.reasoning_signature if reasoning == response.reasoning else "",
            tool_calls=tuple(self.decode_tool_calls(response.tool_calls)),
        )

    def stream_decoder(self, events: list[Event] | None = None) -> StreamDecoder:
        """A new decoder for one channel of one response. `events`, when given, gets what each feed replaces or drops,
        with places in the text that the feed looked at (`scanner.Event`)."""
        return StreamDecoder(output_rules(self._spaces, citations=self.citations_enabled), events=events)

    def orphan_resource_handles(self, text: str) -> list[str]:
        """The resource handles of a text that this request never issued, canonical, in order, once each."""
        check_type("text", text, str)
        orphans: dict[str, None] = {}
        for token in handle_tokens(text):
            if token.space == "resource" and self._spaces.durable("resource", token.number) is None:
                orphans[text[token.start : token.end].lower()] = None
        return list(orphans)

    # ----------------------------------------------------------------------------------------------- tool results

    def model_tool_result(self, result: ToolResult, tool_name: str = "") -> str:
        """What the model is shown of a tool result; sources of a successful one become citable."""
        check_type("result", result, ToolResult)
        return render_tool_result(result, tool_name, self._render_context())

    def image_sources_note(self, chunk_ids: Sequence[str], offset: int = 0) -> str:
        """Which image shows which chunk, numbered from `offset + 1`; "" for none."""
        if isinstance(chunk_ids, str):
            raise wrong_type("chunk_ids", chunk_ids, "a list of str")
        return image_sources_note(chunk_ids, self._render_context(), offset)

    def tool_image_sources_note(self, result: ToolResult) -> str:
        """The same for the images of a result; "" without images."""
        check_type("result", result, ToolResult)
        return tool_image_sources_note(result, self._render_context())

    def _render_context(self) -> RenderContext:
        spaces = self._spaces
        return RenderContext(
            register_chunk=lambda reference, citable: spaces.register_chunk(reference, citable=citable),
            register_document=spaces.register_document,
            register_knowledge_base=spaces.register_knowledge_base,
            register_web=lambda url, title, citable: spaces.register_web(url, title, citable=citable),
            chunk_handle=self.chunk_handle,
            compact=self.compact_known_text,
            compact_tracked=self._compacted,
            encode_output=self._encode_output,
            is_external=lambda name: mcp.is_external(name, self.policies),
            key_kinds=self.policies.result_keys,
        )

    def _encode_output(self, text: str, tool_name: str, succeeded: bool) -> str:
        if mcp.is_external(tool_name, self.policies):
            links = mcp.link_candidates(text, self._spaces) if succeeded and self.citations_enabled else ""
            return text + links
        message = Message(role="tool", name=tool_name, content=text)
        encoder = Encoder(
            [message], self._spaces, self.policies, citable=succeeded, tool_policy=None if tool_name else _UNNAMED
        )
        encoder.run()
        return encoder.messages()[0].content

    # ----------------------------------------------------------------------------------------------------- reports

    def protocol_prompt(self) -> str:
        """What the model is told about handles and citations."""
        return protocol_prompt(self.citations_enabled)

    def leaked_identifiers(self, messages: Sequence[Message]) -> list[leaks.IdentifierLeak]:
        """UUID-shaped values left in encoded messages, the user's texts aside: each once for each field of a message,
        however often it stands there."""
        return leaks.leaked_identifiers(checked("messages", messages, Message), self._spaces)

    def raw_identifiers(self, messages: Sequence[Message]) -> Iterator[leaks.RawIdentifier]:
        """Every place of such a value with its span, the user's texts included: a value that stands twice in a text
        comes twice."""
        return leaks.raw_identifiers(checked("messages", messages, Message), self._spaces, self.policies)

    def handles(self) -> tuple[HandleRow, ...]:
        """A row for every issued handle: sources and resources, then issues and MCP ids, in the order of numbers."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[HandleRow]:
        spaces = self._spaces
        issued: list[tuple[str, str, Space, bool]] = []
        for space, table in spaces.tables.items():
            for number in table:
                citable = number in spaces.citable[space]
                issued.append((format_handle(space, number), spaces.durable(space, number) or "", space, citable))
        for word_space in WORD_PREFIXES:
            issued += [(handle, value, word_space, False) for handle, value in spaces.words[word_space].items()]
        for handle, durable, space, citable in issued:
            origin = spaces.origins.get(handle, Origin())
            yield HandleRow(
                handle=handle,
                durable=durable,
                space=space,
                citable=citable,
                first_message=origin.message,
                first_path=origin.path,
                uses=self._uses[handle],
            )


def _handle_in(written: str) -> tuple[str, Space]:
    """The handle, and its space, of what encoding wrote in one place: a handle alone, or one inside a citation."""
    token = next(handle_tokens(written), None)
    if token is not None:
        return written[token.start : token.end], token.space
    word = whole_word_handle(written)
    assert word is not None
    return written, word[0]
