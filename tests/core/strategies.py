"""Hypothesis strategies for the laws: they draw from the tokens of `tests/fuzz`, and shrink what fails."""

from __future__ import annotations

import random
from typing import Final

from hypothesis import strategies as st

from modelcontext_core import Message
from tests.fuzz import conversations, texts

# A row of tokens, of letters of tokens, and of anything at all: what shrinks best finds what is hardest to see.
ANSWERS: Final = st.one_of(
    st.lists(st.sampled_from(texts.TOKENS), max_size=12).map("".join),
    st.text(alphabet="<>/refkbw \n:dochunks01i\"'=\\的", max_size=60),
    st.text(max_size=30),
)
TABLE_TEXTS: Final = st.one_of(
    st.lists(st.sampled_from(texts.TABLE_TOKENS), max_size=12).map("".join),
    st.text(alphabet="c01ref-:/\\n .", max_size=40),
)


@st.composite
def cut_texts(draw: st.DrawFn, whole: st.SearchStrategy[str] = ANSWERS) -> tuple[str, list[str]]:
    """A text and the chunks that it is cut into."""
    text = draw(whole)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    return text, [text[i:j] for i, j in zip([0, *places], [*places, len(text)], strict=True)]


MESSAGES: Final[st.SearchStrategy[list[Message]]] = st.lists(
    st.integers(0, 2**32).map(lambda seed: conversations.message(random.Random(seed))), min_size=1, max_size=5
)
ARGUMENTS: Final[st.SearchStrategy[str]] = st.integers(0, 2**32).map(
    lambda seed: conversations.arguments(random.Random(seed))
)
IDS: Final = st.sampled_from(conversations.IDS)
