"""Tests of the assertions that applications use: good ones pass, broken ones are caught, messages say all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modelcontext_core import HandleStreamDecoder, HandleTable, Message, Part, PolicyError, Registry, ToolCall
from modelcontext_core.policies import ToolPolicies
from modelcontext_core.testing import HURTFUL_TEXTS, assert_no_leaks, assert_stream_law

DOCUMENT = "5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a"
OTHER = "c4f1a2b3-9d8e-4f70-8a1b-2c3d4e5f6071"
CALL = ToolCall(id="call-1", name="read_document", arguments=f'{{"id": "{DOCUMENT}"}}')


def failure_of(*messages: Message, **options: object) -> str:
    """The message with which `assert_no_leaks` fails."""
    with pytest.raises(AssertionError) as caught:
        assert_no_leaks(messages, **options)  # type: ignore[arg-type]
    return str(caught.value)


# --- leaks


def test_messages_without_identifiers_pass() -> None:
    """Plain text, identifiers that get handles, and what the user typed are no leaks."""
    assert_no_leaks(
        [
            Message(role="user", content=f"What is in {OTHER}?"),
            Message(role="tool", name="list_documents", content=f'{{"knowledge_id": "{DOCUMENT}"}}'),
            Message(role="assistant", content="I look.", tool_calls=(CALL,)),
        ]
    )


def test_a_leak_is_reported_with_its_place_and_its_surroundings() -> None:
    """Message, role, tool, path, the identifier and the text around it."""
    message = Message(role="tool", name="find_order", content=f"Order {DOCUMENT} was shipped.")
    told = failure_of(Message(role="user", content="hello"), message)

    assert told.startswith('1 raw identifier would reach the model (policy pack "builtin"):')
    assert f'messages[1].content (result of tool "find_order"): {DOCUMENT}' in told
    assert f"'Order {DOCUMENT} was shipped.'" in told
    assert "declare the tool in the policy pack" in told


@pytest.mark.parametrize(
    ("message", "place", "remedy"),
    [
        (Message(role="system", content=DOCUMENT), "messages[0].content (system)", "nobody registered it"),
        (Message(role="tool", content=DOCUMENT), "a tool that is not named", "set `name`"),
        (
            Message(role="assistant", reasoning=DOCUMENT, reasoning_signature="s"),
            "messages[0].reasoning (assistant)",
            "with a signature",
        ),
        (
            Message(role="system", parts=(Part(type="image"), Part(type="text", text=f"https://a.example/{DOCUMENT}"))),
            "messages[0].parts[1].text (system)",
            "part of a URL",
        ),
        (
            Message(
                role="assistant", tool_calls=(ToolCall(name="run"), ToolCall(name="run", arguments=f'["{OTHER}"]'))
            ),
            "messages[0].tool_calls[1].arguments (assistant)",
            "nobody registered it",
        ),
    ],
)
def test_each_place_has_its_path_and_its_remedy(message: Message, place: str, remedy: str) -> None:
    """Every text of a message is looked at, and the message says what can be done there."""
    told = failure_of(message)

    assert place in told
    assert remedy in told


def test_a_registered_identifier_in_an_undeclared_place_says_so() -> None:
    """The registry has a handle, but no rule reaches that text."""
    registry = Registry()
    registry.register_document(DOCUMENT)
    told = failure_of(Message(role="system", content=f"Prefer {DOCUMENT}."), registry=registry)

    assert "it has a handle, but no rule reaches this text" in told


def test_the_pack_decides(tmp_path: Path) -> None:
    """What leaks under the built-in pack does not under one that declares the tool, given as value or as path."""
    pack = ToolPolicies.loads('name = "shop"\nextends = "builtin"\n[tools.find_order]\nmine = ["uuid"]\n')
    pack.save(tmp_path / "shop.toml")
    message = Message(role="tool", name="find_order", content=f"Order {DOCUMENT}")

    assert_no_leaks([message], pack)
    assert_no_leaks([message], tmp_path / "shop.toml")
    assert_no_leaks([message], registry=Registry(policies=pack))
    assert "find_order" in failure_of(message)


def test_a_pack_that_cannot_be_used_is_no_passed_test(tmp_path: Path) -> None:
    """A wrong pack raises `PolicyError`, never silence."""
    (tmp_path / "wrong.toml").write_text("name = 1")

    with pytest.raises(PolicyError):
        assert_no_leaks([], tmp_path / "wrong.toml")


def test_allowed_identifiers_may_stay() -> None:
    """An identifier that is meant to be seen is named once, in any letter case; others still fail."""
    message = Message(role="system", content=f"Tenant {DOCUMENT}, order {OTHER}")
    told = failure_of(message, allowed=[DOCUMENT.upper()])

    assert "1 raw identifier " in told
    assert_no_leaks([message], allowed=[DOCUMENT, OTHER])


def test_many_leaks_are_counted_and_the_first_are_listed() -> None:
    """A failing test stays readable."""
    content = " ".join(f"{number:08x}{DOCUMENT[8:]}" for number in range(30))
    told = failure_of(Message(role="system", content=content))

    assert told.startswith("30 raw identifiers would reach")
    assert told.endswith("… and 10 more")


def test_encoded_messages_are_checked_as_they_are() -> None:
    """What was encoded by the same registry has no leaks left, and is not touched."""
    registry = Registry()
    registry.register_document(DOCUMENT)
    encoded = registry.encode_messages([Message(role="assistant", tool_calls=(CALL,))])

    assert_no_leaks(encoded, registry=registry)
    assert '{"id": "doc://1"}' == encoded[0].tool_calls[0].arguments


# --- the law of streams


class Redactor:
    """A correct decoder of somebody else: `[name-1]` becomes `Ada`."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str, /) -> str:
        text = (self._held + chunk).replace("[name-1]", "Ada")
        at = text.rfind("[")
        cut = at if at >= 0 and "[name-1]".startswith(text[at:]) else len(text)
        self._held = text[cut:]
        return text[:cut]

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held


class Forgetful(Redactor):
    """Holds nothing back: a name that is cut stays a placeholder."""

    def feed(self, chunk: str, /) -> str:
        return chunk.replace("[name-1]", "Ada")


class Hoarding(Redactor):
    """Keeps what it held after `flush`."""

    def flush(self) -> str:
        return self._held


class Fragile(Redactor):
    """Fails for empty chunks."""

    def feed(self, chunk: str, /) -> str:
        return f"{chunk[0]}{chunk[1:]}"


TEXTS = ["Dear [name-1], this is [name-2] speaking.", "[name", "[[name-1]]", ""]


def test_the_decoders_of_a_registry_keep_the_law() -> None:
    """Handles of every space, tags and cut ends, against the whole-text decoder."""
    registry = Registry()
    registry.register_document(DOCUMENT)
    registry.register_web("https://example.com/a", "A")
    registry.register_issue("issue-1")

    assert_stream_law(registry.stream_decoder)
    assert_stream_law(registry.stream_decoder, decode=registry.decode_output_text)
    assert_stream_law(Registry(citations_enabled=False).stream_decoder)


def test_the_decoder_of_a_table_keeps_the_law() -> None:
    """A stand-alone table, with texts of its own."""
    table = HandleTable("ref-")
    table.register("chapter/one")

    assert_stream_law(lambda: HandleStreamDecoder(table), [*HURTFUL_TEXTS, "ref-1 ref-12 xref-1"])


def test_a_correct_decoder_of_another_kind_passes() -> None:
    """Anything with `feed` and `flush` can be held to the law."""
    assert_stream_law(Redactor, TEXTS)


def test_a_broken_decoder_is_caught_by_its_smallest_cut() -> None:
    """The text is shortened to what breaks, and two chunks are enough to show it."""
    with pytest.raises(AssertionError) as caught:
        assert_stream_law(Forgetful, TEXTS)
    told = str(caught.value)
    chunks = re.search(r"chunks +'(.*)' \+ '(.*)'\n", told)

    assert chunks is not None
    assert "[name-1]" == chunks[1] + chunks[2]
    assert "streamed   '[name-1]'\n  but whole  'Ada'" in told


def test_a_decoder_may_be_held_to_a_whole_text_function() -> None:
    """One that agrees with itself but not with `decode` is caught, uncut."""
    with pytest.raises(AssertionError, match="chunks     ''"):
        assert_stream_law(Redactor, [""], decode=lambda text: text + ".")


def test_a_decoder_that_keeps_something_after_flush_is_caught() -> None:
    """The message shows both texts and what came of the second."""
    with pytest.raises(AssertionError, match=r"not new after flush\(\)") as caught:
        assert_stream_law(Hoarding, ["[name", "x"])

    assert "fed first       '[name'" in str(caught.value)


def test_an_error_of_the_decoder_tells_the_chunks() -> None:
    """What it raises goes through, with a note."""
    with pytest.raises(IndexError) as caught:
        assert_stream_law(Fragile, ["ab"])

    assert ["while the decoder was fed ['', 'ab']"] == caught.value.__notes__


def test_the_same_seed_finds_the_same_cut() -> None:
    """A failing test fails alike everywhere."""
    found = []
    for _ in range(2):
        with pytest.raises(AssertionError) as caught:
            assert_stream_law(Forgetful, ["a [name-1] b [name-1] c"], seed=7)
        found.append(str(caught.value))

    assert found[0] == found[1]
