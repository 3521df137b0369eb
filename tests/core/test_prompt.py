"""Tests of the protocol prompt."""

from __future__ import annotations

import pytest

from modelcontext_core import grammar
from modelcontext_core.prompt import protocol_prompt


@pytest.mark.parametrize("citations", [True, False])
def test_every_space_is_named(citations: bool) -> None:
    """The model is told what each kind of handle stands for, with or without citations."""
    prompt = protocol_prompt(citations)

    for name in ("chunk://N", "doc://N", "kb://N", "url://N", "res://NNNN", "`iN`", "`msN`", "`mtN`"):
        assert name in prompt


def test_both_citation_forms_are_shown_when_citations_are_on() -> None:
    """Exactly the forms that decoding accepts."""
    prompt = protocol_prompt(True)

    assert '<ref id="chunk://N"/>' in prompt
    assert '<ref id="url://N"/>' in prompt


def test_no_citation_form_is_shown_when_citations_are_off() -> None:
    """A form that is shown is imitated."""
    assert "ref" not in protocol_prompt(False).lower().replace("references", "")


def test_the_prompt_reserves_no_number() -> None:
    """It is sent as a system message, where a handle with a number would take that number."""
    assert grammar.handle_spans(protocol_prompt(True) + protocol_prompt(False)) == []
