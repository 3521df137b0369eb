"""The facade: responses, prompts, reports, and that a registry is one request."""

from __future__ import annotations

from modelcontext_core import (
    ChatResponse,
    ChunkReference,
    Registry,
    ToolCall,
    ToolPolicies,
    ToolResult,
    has_tool_policy,
)
from tests.core.making import STORED, A, contents, result, user


def test_a_response_is_decoded_as_a_whole() -> None:
    """Content and reasoning as answers, calls as calls."""
    registry = Registry()
    registry.register_document("d-1")

    got = registry.decode_response(
        ChatResponse(
            content="doc://1<kb/>",
            reasoning="doc://1",
            tool_calls=(ToolCall(name="data_schema", arguments='{"knowledge_id": "doc://1"}'),),
        )
    )

    assert "weknora://doc/d-1" == got.content == got.reasoning
    assert '{"knowledge_id": "d-1"}' == got.tool_calls[0].arguments


def test_a_signature_is_dropped_when_its_text_changed() -> None:
    """It would no longer be true; otherwise it stays."""
    registry = Registry()
    registry.register_document("d-1")

    assert (
        "" == registry.decode_response(ChatResponse(reasoning="doc://1", reasoning_signature="s")).reasoning_signature
    )
    assert "s" == registry.decode_response(ChatResponse(reasoning="plain", reasoning_signature="s")).reasoning_signature


def test_compact_known_text_takes_references_uris_and_known_ids() -> None:
    """One text outside of any message; nothing is mined from it."""
    registry = Registry()
    registry.register_document("doc-000001")

    assert 'res://0001 kb://1 doc://1 kb_id="k-000001"' == registry.compact_known_text(
        f'{STORED} weknora://kb/x doc-000001 kb_id="k-000001"'
    )


def test_two_registries_share_nothing() -> None:
    """One registry is one request."""
    one, other = Registry(), Registry()
    one.register_document("d-1")

    assert () == other.handles()
    assert "" == other.decode_output_text("doc://1")


def test_reports_and_plain_functions_agree() -> None:
    """`encode_with_report` and `encode_messages`, `decode_with_report` and `decode_output_text`."""
    messages = [user(f"local://a {A}"), result(f"kb_id=\"k-1\" {A} knowledge_id='{A}'")]
    one, other = Registry(), Registry()

    assert one.encode_messages(messages) == list(other.encode_with_report(messages).messages)
    text = 'doc://1 <ref id="chunk://1"/> doc://9'
    assert one.decode_output_text(text) == other.decode_with_report(text).text


def test_uses_count_the_last_report() -> None:
    """Replacements, not occurrences of handles that stood there."""
    registry = Registry()
    registry.encode_with_report([result(f'knowledge_id="{A}" {A} {A} doc://1')])
    assert [3] == [row.uses for row in registry.handles()]

    registry.encode_with_report([user("nothing")])
    assert [0] == [row.uses for row in registry.handles()]


def test_a_policy_may_be_empty() -> None:
    """`has_tool_policy` says whether a tool is declared at all."""
    assert has_tool_policy("read_file")
    assert has_tool_policy("grep_chunks")
    assert not has_tool_policy("nobody_knows")
    assert not has_tool_policy("")


def test_the_prompt_follows_the_citation_mode() -> None:
    """With citations off no reference form is shown."""
    assert "<ref id=" in Registry().protocol_prompt()
    assert "<ref id=" not in Registry(citations_enabled=False).protocol_prompt()


def test_a_registry_takes_a_pack() -> None:
    """Its policies and its URI scheme."""
    pack = ToolPolicies.loads('name = "own"\nuri_scheme = "app"\n[keys]\nk = "document"\n[tools.t]\nids = ["k"]\n')
    registry = Registry(policies=pack)

    assert pack is registry.policies
    assert "app://doc/d-1" == registry.decode_output_text(str(registry.register_document("d-1")))


def test_an_unnamed_result_is_that_of_a_source_tool() -> None:
    """Labels are registered and citable, known ids replaced."""
    registry = Registry()

    assert '<chunk chunk_id="chunk://1"/>' == registry.model_tool_result(
        ToolResult(success=True, output='<chunk chunk_id="c-000001"/>')
    )
    assert [True] == [row.citable for row in registry.handles()]


def test_a_failed_result_is_no_evidence() -> None:
    """Its sources are navigable, not citable."""
    registry = Registry()
    registry.model_tool_result(ToolResult(success=False, output='<chunk chunk_id="c-000001"/>'), "grep_chunks")

    assert [False] == [row.citable for row in registry.handles()]


def test_a_whole_turn() -> None:
    """Register, encode, decode: what the model sees holds no id, what the reader sees holds no handle."""
    registry = Registry()
    registry.register_chunk(ChunkReference(chunk_id=A, knowledge_id="doc-000001", document_title="Terms"))

    [seen] = contents(registry, result(f'<chunk chunk_id="{A}" knowledge_id="doc-000001">30 days</chunk>'))
    answer = registry.decode_output_text('30 days <ref id="chunk://1"/>, see [terms](doc://1).')

    assert '<chunk chunk_id="chunk://1" knowledge_id="doc://1">30 days</chunk>' == seen
    assert f'30 days <kb doc="Terms" chunk_id="{A}" />, see [terms](weknora://doc/doc-000001).' == answer
