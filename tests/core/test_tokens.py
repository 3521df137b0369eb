"""Token counts: named, offline, and honest about estimates."""

from __future__ import annotations

import pytest

from modelcontext_core import tokens

UUID = "7f3c2a10-94be-4a7d-8f21-0d6c5be19a44"
PROSE = "Goods may be returned within 30 days of delivery. Original packaging is not required if the item is unused. "
JSON = '{"sql": "SELECT price, shipped_at FROM orders WHERE id = 12", "limit": 5, "rows": [1, 2, 3]} '


def test_a_count_names_its_encoding_and_is_exact_with_the_extra() -> None:
    """With the vocabulary installed the count is exact and says which encoding it used."""
    counted = tokens.count(["hello world", ""], "o200k_base")

    assert counted.each == (2, 0)
    assert (counted.encoding, counted.estimated) == ("o200k_base", False)


def test_without_the_extra_the_count_is_labelled_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no vocabulary is installed the number is approximated and says so."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    counted = tokens.count([PROSE], "o200k_base")

    assert counted.estimated
    assert counted.tokens > 0


@pytest.mark.parametrize("text", [PROSE * 5, JSON * 5, f'<chunk id="{UUID}" />\n' * 5], ids=["prose", "json", "ids"])
def test_the_estimate_is_near_the_exact_count(text: str) -> None:
    """The estimate stays within a third of the exact count for prose, JSON and identifiers."""
    exact = tokens.count([text], "o200k_base").tokens

    assert abs(tokens.estimate([text])[0] - exact) <= exact / 3


def test_lone_surrogates_are_counted_instead_of_raising() -> None:
    """A lone surrogate, which no tokenizer takes, counts as the replacement character."""
    assert tokens.count(["a\ud83db"]).each == tokens.count(["a\ufffdb"]).each


def test_special_tokens_in_a_text_are_plain_text() -> None:
    """A text that holds a control token's name is counted as the characters it is made of."""
    assert tokens.count(["<|endoftext|>"]).tokens > 1


def test_a_counter_of_the_user_is_used_under_its_name() -> None:
    """Any callable that gives one number a text can count, and its name is kept."""
    counted = tokens.count(["abc", "de"], "mine", using=lambda texts: [len(text) for text in texts])

    assert (counted.each, counted.encoding, counted.estimated) == ((3, 2), "mine", False)


def test_an_unknown_encoding_is_refused_by_name() -> None:
    """A misspelt encoding raises with the known names instead of quietly becoming an estimate."""
    with pytest.raises(ValueError, match="o200k_base"):
        tokens.count(["x"], "o200k")
