"""The generated samples are what the script writes, and the readers give back what was said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelcontext_core import formats
from modelcontext_core.messages import Message
from tests.make_samples import FOLDER, conversations, files

FILES = files()
SAID = conversations()
FORMATS = {
    "mcp_agent": ("anthropic_messages", 34),
    "wiki_agent": ("openai_responses", 22),
    "sql_agent": ("otel_genai", 16),
    "parallel_tools": ("gemini", 19),
    "chinese": ("openai_chat", 12),
    "leaking_agent": ("langfuse_export", 41),
    "damaged_file": ("openai_chat", 213),
}
# Spans and observations repeat what was said before; Gemini's results have no ids.
EXPECTED_NOTICES = {
    "sql_agent": {"merged"},
    "leaking_agent": {"merged"},
    "parallel_tools": {"fallback"},
    "damaged_file": {"damaged", "unknown"},
}
NAMES = {path.partition("/")[0]: path for path in FILES}


@pytest.mark.parametrize("path", FILES)
def test_the_script_writes_the_file(path: str) -> None:
    """A sample that is changed by hand would be lost the next time."""
    assert (FOLDER / path).read_bytes() == FILES[path]


@pytest.mark.parametrize("name", FORMATS)
def test_a_generated_sample_opens_as_its_card_says(name: str) -> None:
    """Format, one conversation with so many messages, and no notice but those that its format cannot do without."""
    trace = formats.read(FILES[NAMES[name]])
    expected, number = FORMATS[name]

    assert trace.format == expected
    assert [len(conversation.messages) for conversation in trace.conversations] == [number]
    assert {notice.kind for notice in trace.notices} == EXPECTED_NOTICES.get(name, set())


@pytest.mark.parametrize("name", SAID)
def test_a_reader_gives_back_what_was_said(name: str) -> None:
    """Texts, reasoning, arguments byte for byte, results with the names of their tools."""
    [conversation] = formats.read(FILES[NAMES[name]]).conversations
    assert [without_ids(message) for message in conversation.messages] == [without_ids(each) for each in SAID[name]]


def without_ids(message: Message) -> Message:
    """A message without the ids of its calls, which not every format has."""
    calls = tuple(replace(call, id="") for call in message.tool_calls)
    return replace(message, tool_call_id="", tool_calls=calls)
