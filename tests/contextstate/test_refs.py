"""Content addresses."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.contextstate import HASH_PREFIX, digest, is_ref, mint


@given(st.lists(st.binary(max_size=50), max_size=6))
def test_where_the_chunks_are_cut_does_not_matter(chunks: list[bytes]) -> None:
    """A digest is that of the concatenation, a reference is prefix and digest."""
    whole = b"".join(chunks)

    assert hashlib.sha256(whole).hexdigest() == digest(*chunks)
    assert HASH_PREFIX + digest(whole) == mint(*chunks) == mint(whole)
    assert is_ref(mint(*chunks))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256:",
        "sha256:" + "0" * 63,
        "sha256:" + "0" * 65,
        "sha256:" + "G" * 64,
        "sha256:" + "A" * 64,
        "sha256:" + "٠" * 64,
        "SHA256:" + "0" * 64,
        "sha256:" + "0" * 64 + "\n",
        "\tsha256:" + "0" * 64,
    ],
)
def test_nothing_else_is_a_reference(text: str) -> None:
    """Exactly prefix and 64 lowercase ASCII digits, no line end after them."""
    assert not is_ref(text)
