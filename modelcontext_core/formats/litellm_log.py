"""LiteLLM's standard logging payload: one record a call, in OpenAI's form. Calls of one agent repeat its history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from modelcontext_core.formats import openai_messages
from modelcontext_core.formats.building.builder import Builder, ConversationBuilder
from modelcontext_core.formats.building.histories import Histories
from modelcontext_core.formats.nodes import Node
from modelcontext_core.formats.reader import Piece, Reader, Sample
from modelcontext_core.formats.tracing.payloads import tell_payload

__all__ = ["READER"]

_META: Final = (
    "model",
    "call_type",
    "custom_llm_provider",
    "api_base",
    "total_tokens",
    "response_cost",
    "status",
    "stream",
)


def detect(sample: Sample) -> bool:
    """Records with the keys that only this log has."""
    return sample.container != "text" and any(_known(node) for node in sample.nodes[:2])


def _known(node: Node) -> bool:
    first = node.at(0) if node.is_list else node
    return first.has("call_type") and first.has_any(
        frozenset({"response_cost", "model_map_information", "litellm_call_id"})
    )


def pieces(node: Node) -> Iterator[Piece]:
    """The records, each with the others that begin with the same message: only these can go on with each other."""
    for record in node if node.is_list else [node]:
        messages = record.get("messages").unpacked()
        said = (message for message in messages if message.get("role").text not in ("system", "developer"))
        begin = next(said, messages)
        text = begin.get("content").text or json.dumps(begin.value, sort_keys=True, default=str)
        yield Piece(node=record, trace=" ".join(text.split()))


def read(nodes: Iterable[Node], builder: Builder) -> None:
    """One conversation for all records that go on with each other."""
    histories = Histories(builder, across=True)
    for node in nodes:
        for record in node if node.is_list else [node]:
            _tell_record(histories, record)


def _tell_record(histories: Histories, record: Node) -> None:
    builder = histories.builder
    scratch = builder.scratch()
    request = record.get("messages").unpacked()
    tell_payload(scratch, request, "user")
    tell_payload(scratch, record.get("response"), "assistant")
    parameters = record.get("model_parameters", "optional_params").unpacked()
    openai_messages.tell_tools(scratch, parameters)
    _tell_error(scratch, record)
    turns = scratch.take()
    headers = record.get("hidden_params").get("additional_headers")
    for turn in turns[-1:]:
        turn.time = record.get("startTime").label
        if headers:
            turn.aside(headers, "response_headers", json.dumps(headers.value, ensure_ascii=False, default=str))
    if not turns:
        builder.notice("unknown", record, "a record without messages is skipped")
        return
    group = record.get("session_id").label or record.get("trace_id").label
    thread = histories.add(turns, group, where=record)
    thread.conversation.adopt_tools(scratch)
    builder.rest(parameters, {"tools", "functions", "messages"})
    for key in _META:
        builder.meta(key, record.get(key))


def _tell_error(scratch: ConversationBuilder, record: Node) -> None:
    failed = record.get("status").text == "failure"
    about = record.get("error_information")
    text = record.get("error_str") if record.get("error_str").text else about.get("error_message")
    if not failed and not text.text:
        return
    turn = scratch.turn("assistant", record)
    turn.is_error = True
    turn.aside(text, "error", text.text, type=about.get("error_class").text, code=about.get("error_code").label)
    if about.get("traceback").text:
        turn.aside(about.get("traceback"), "error", about.get("traceback").text)
    scratch.builder.notice("error", record, "the record is a call that failed")


READER = Reader(
    name="litellm_log",
    title="LiteLLM standard log",
    detect=detect,
    read=read,
    joined=True,
    keys=frozenset({"litellm_call_id", "model_map_information", "response_cost", "call_type", "hidden_params"}),
    pieces=pieces,
)
