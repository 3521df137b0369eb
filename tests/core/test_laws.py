"""The laws of the codec on random input: streams equal whole texts, encoding is idempotent and can be undone, nothing
is forged and nothing declared is left. `make fuzz` runs the same cases, and others, without an end."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given

from modelcontext_core import ChunkReference, HandleStreamDecoder, HandleTable, Message, Registry, ToolCall, jsontext
from tests.core.strategies import ARGUMENTS, IDS, MESSAGES, TABLE_TEXTS, cut_texts
from tests.fuzz import laws, worlds
from tests.fuzz.cases import run

CASES = 20_000
PART = 1000


@pytest.mark.parametrize("start", range(0, CASES, PART))
def test_twenty_thousand_numbered_cases_hold(start: int) -> None:
    """Texts × cuts and conversations, seeded by their number, keep every law."""
    for number in range(start, start + PART):
        run(number)


@given(cut_texts())
def test_a_stream_equals_the_whole_text(case: tuple[str, list[str]]) -> None:
    """However an answer is cut, the stream gives what decoding it at once gives, forges nothing and reports exactly."""
    whole, chunks = case

    for citations in (True, False):
        laws.decode_laws(worlds.registry(citations=citations, issues=True), whole, [chunks, list(whole)])


@given(cut_texts(TABLE_TEXTS))
def test_a_table_stream_equals_the_whole_text(case: tuple[str, list[str]]) -> None:
    """The same law for a stand-alone table."""
    whole, chunks = case

    for table in worlds.tables():
        laws.stream_law(whole, table.decode_known_text(whole), lambda: HandleStreamDecoder(table), [chunks])  # noqa: B023


@given(MESSAGES)
def test_encoding_is_idempotent_reversible_and_complete(messages: list[Message]) -> None:
    """Encoding twice changes nothing, the round trip holds, JSON stays JSON, declared ids are gone."""
    laws.encode_laws(messages, lambda: worlds.registry(citations=True, issues=True, pack=True))


@given(ARGUMENTS)
def test_decoding_arguments_changes_only_string_values(arguments: str) -> None:
    """Keys, numbers, spacing and every literal that is not replaced come out byte for byte; a second run is none."""
    registry = worlds.registry(citations=True, issues=True, pack=True)

    for tool in ("find", "query", "wiki_update_issue", "nobody_knows"):
        [call] = registry.decode_tool_calls([ToolCall(name=tool, arguments=arguments)])
        assert [call] == registry.decode_tool_calls([call])
        assert (arguments == call.arguments) == (call.argument_resolution in ("unchanged", "unresolved"))
        if jsontext.is_valid(arguments):
            laws.json_law(arguments, call.arguments, keys=True)
        else:
            assert arguments == call.arguments


@given(IDS)
def test_a_declared_id_comes_back_byte_for_byte(durable: str) -> None:
    """Whatever characters an id has, replayed arguments that hold it decode to what they were."""
    registry = Registry(policies=worlds.POLICIES)
    registry.register_document(durable)
    quoted = durable.replace("'", "''")
    calls = [
        ToolCall(name="find", arguments=json.dumps({"order_id": [durable], "n": 1.0}, ensure_ascii=False)),
        ToolCall(name="query", arguments=json.dumps({"sql": f"select '{quoted}'"}, ensure_ascii=False)),
    ]

    [encoded] = registry.encode_messages([Message(role="assistant", tool_calls=calls)])
    decoded = registry.decode_tool_calls(encoded.tool_calls)

    for before, after in zip(calls, decoded, strict=True):
        assert json.loads(before.arguments) == json.loads(after.arguments) or durable != durable.strip()


@given(IDS)
def test_a_table_gives_back_any_value(value: str) -> None:
    """Encoding known text and decoding it is the identity, whatever the value, URLs aside."""
    table = HandleTable("ref-")
    table.register(value)
    text = f"see {value.strip()}, ({value.strip()}) and x{value.strip()}x"

    encoded = table.encode_known_text(text)

    assert encoded == table.encode_known_text(encoded)
    if "://" not in text and "ref-" not in text:
        assert text == table.decode_known_text(encoded)


@given(IDS)
def test_a_uri_reads_back_as_itself(durable: str) -> None:
    """A restored URI, whatever follows it, is found again as the same document."""
    registry = Registry()
    handle = registry.register_document(durable)
    if handle is None or "://" in durable or "\ud800" in durable:
        return

    for after in ("", " ", ".", "...", "-x", "~", "%41", ".a", "的", ")", "/x", ":"):
        text = registry.decode_output_text(handle + after)
        [encoded] = Registry().encode_messages([Message(role="user", content=text)])
        assert handle in encoded.content, text


PROGRAM = """
import hashlib, random
from tests.fuzz import conversations, texts, worlds
digest = hashlib.sha256()
for seed in range(60):
    rng = random.Random(seed)
    registry = worlds.registry(citations=True, issues=True, pack=seed % 2 == 1)
    report = registry.encode_with_report(conversations.conversation(rng))
    answer = registry.decode_with_report(texts.text(rng))
    digest.update(ascii((report, answer, registry.handles(), registry.leaked_identifiers(report.messages))).encode())
print(digest.hexdigest())
"""


def test_fresh_processes_with_other_hash_seeds_give_the_same_bytes() -> None:
    """Nothing depends on the order of a set or on the process: reports, handles and leaks are equal."""
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }

    assert 1 == len(digests)
    assert len(hashlib.sha256().hexdigest()) + 1 == len(digests.pop())


def test_registering_during_a_stream_does_not_corrupt_it() -> None:
    """A handle that is issued while a stream runs is restored or, when it was seen before, dropped: nothing else."""
    registry = worlds.registry(citations=True, issues=True)
    decoder = registry.stream_decoder()

    got = decoder.feed("a doc://9") + decoder.feed(" b ")
    registry.register_document("late-0001")
    registry.register_chunk(ChunkReference(chunk_id="late-0002"))
    got += decoder.feed("doc://9 c") + decoder.flush()

    assert "a  b weknora://doc/late-0001 c" == got
