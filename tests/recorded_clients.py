"""Clients that replay recorded answers, for the recipes of the documentation: no vendor's SDK is needed to run them.

They offer what the recipes use of the clients of OpenAI and Anthropic: one method that takes the request and gives an
answer or its stream, plain or asynchronous. Each keeps the requests that it was sent. Anthropic's has a last answer,
too, for the request that holds results of its calls. The recordings are made up, in the shape in which the vendors'
APIs send them; handles are cut where a stream may cut them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

__all__ = ["ANTHROPIC_STREAM", "NAMES", "OPENAI_STREAM"]

_TEXT = 'You get 30 days <ref id="chunk://1"/>. I open doc://1 for the details.'


def _chunk(finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "m", "choices": [choice],
    }  # fmt: skip


def _openai_call(index: int, arguments: str, **start: str) -> dict[str, Any]:
    """A piece of a call: id, type and name come with the first one only."""
    call: dict[str, Any] = {"index": index, "function": {"arguments": arguments}}
    if start:
        call |= {"id": start["id"], "type": "function"}
        call["function"] = {"name": start["name"], "arguments": arguments}
    return _chunk(tool_calls=[call])


OPENAI_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": _TEXT,
                "refusal": None,
                "tool_calls": [
                    {
                        "id": "call_a",
                        "type": "function",
                        "function": {"name": "read_document", "arguments": '{"id": "doc://1"}'},
                    },
                    {
                        "id": "call_b",
                        "type": "function",
                        "function": {"name": "get_document_info", "arguments": '{"knowledge_ids": ["doc://1"]}'},
                    },
                ],
            },
        }
    ],
}

OPENAI_STREAM = [
    _chunk(role="assistant", content=""),
    _chunk(content="You get 30 days <re"),
    _chunk(content='f id="chunk:/'),
    _chunk(content='/1"/>. I open doc'),
    _chunk(content="://"),
    _chunk(content="1 for the details."),
    _openai_call(0, "", id="call_a", name="read_document"),
    _openai_call(0, '{"id": "do'),
    _openai_call(1, "", id="call_b", name="get_document_info"),
    _openai_call(0, 'c://1"}'),
    _openai_call(1, '{"knowledge_ids": ["doc:'),
    _openai_call(1, '//1"]}'),
    _chunk(finish_reason="tool_calls"),
    {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "m",
        "choices": [],
        "usage": {"prompt_tokens": 90, "completion_tokens": 40, "total_tokens": 130},
    },
]

_MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "stop_sequence": None,
    "usage": {"input_tokens": 90, "output_tokens": 40},
}

ANTHROPIC_ANSWER = _MESSAGE | {
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "The passage says 30 days.", "signature": "c2lnbmVk"},
        {"type": "text", "text": _TEXT},
        {"type": "tool_use", "id": "toolu_a", "name": "read_document", "input": {"id": "doc://1"}},
        {"type": "tool_use", "id": "toolu_b", "name": "get_document_info", "input": {"knowledge_ids": ["doc://1"]}},
    ],
}


ANTHROPIC_LAST_ANSWER = _MESSAGE | {
    "stop_reason": "end_turn",
    "content": [{"type": "text", "text": 'Your lead signs it <ref id="chunk://1"/>, see doc://1.'}],
}


def _block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _json_deltas(*pieces: str) -> list[dict[str, Any]]:
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


ANTHROPIC_STREAM = [
    {"type": "message_start", "message": _MESSAGE | {"content": [], "stop_reason": None}},
    *_block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "The passage says"},
        {"type": "thinking_delta", "thinking": " 30 days."},
        {"type": "signature_delta", "signature": "c2lnbmVk"},
    ),
    {"type": "ping"},
    *_block(
        1,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "You get 30 days <re"},
        {"type": "text_delta", "text": 'f id="chunk:/'},
        {"type": "text_delta", "text": '/1"/>. I open doc'},
        {"type": "text_delta", "text": "://1 for the details."},
    ),
    *_block(
        2,
        {"type": "tool_use", "id": "toolu_a", "name": "read_document", "input": {}},
        *_json_deltas("", '{"id": "do', 'c://1"}'),
    ),
    *_block(
        3,
        {"type": "tool_use", "id": "toolu_b", "name": "get_document_info", "input": {}},
        *_json_deltas("", '{"knowledge_ids": ["doc:', '//1"]}'),
    ),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 40},
    },
    {"type": "message_stop"},
]


class _Record(SimpleNamespace):
    """A JSON object with attributes. As in the SDKs, an optional field that was not sent is None."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _records(value: Any) -> Any:
    if isinstance(value, list):
        return [_records(member) for member in value]
    if isinstance(value, dict):
        # The input of a call is the model's own object: the SDKs leave it a dictionary.
        return _Record(**{name: field if name == "input" else _records(field) for name, field in value.items()})
    return value


class _Replay:
    """Answers every request with the recording, and keeps the requests as they would go over the wire."""

    def __init__(self, answer: dict[str, Any], stream: list[dict[str, Any]], last: dict[str, Any]) -> None:
        self._answer = answer
        self._last = last
        self._stream = stream
        self.requests: list[dict[str, Any]] = []

    def create(self, **request: Any) -> Any:
        """The whole answer, or with `stream=True` an iterator of its pieces."""
        self.requests.append(json.loads(json.dumps(request)))
        called = "toolu_a" in json.dumps(request)
        return self._pieces() if request.get("stream") else _records(self._last if called else self._answer)

    async def create_async(self, **request: Any) -> Any:
        """The same of the asynchronous clients: awaited, and an asynchronous iterator."""
        answer = self.create(**request)
        return self._async_pieces() if request.get("stream") else answer

    def _pieces(self) -> Iterator[Any]:
        yield from map(_records, self._stream)

    async def _async_pieces(self) -> AsyncIterator[Any]:
        for piece in self._pieces():
            yield piece


def _openai(*, asynchronous: bool) -> SimpleNamespace:
    replay = _Replay(OPENAI_ANSWER, OPENAI_STREAM, OPENAI_ANSWER)
    completions = SimpleNamespace(create=replay.create_async if asynchronous else replay.create)
    return SimpleNamespace(chat=SimpleNamespace(completions=completions), requests=replay.requests)


def _anthropic(*, asynchronous: bool) -> SimpleNamespace:
    replay = _Replay(ANTHROPIC_ANSWER, ANTHROPIC_STREAM, ANTHROPIC_LAST_ANSWER)
    messages = SimpleNamespace(create=replay.create_async if asynchronous else replay.create)
    return SimpleNamespace(messages=messages, requests=replay.requests)


NAMES = {
    "OpenAI": lambda: _openai(asynchronous=False),
    "AsyncOpenAI": lambda: _openai(asynchronous=True),
    "Anthropic": lambda: _anthropic(asynchronous=False),
    "AsyncAnthropic": lambda: _anthropic(asynchronous=True),
}
"""What the recipes find under the names of the SDKs' clients."""
