"""Content addresses: SHA-256 of the bytes and nothing else.

The digest never mixes in a namespace or an owner, so equal bytes have one address whoever holds them.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

__all__ = ["HASH_PREFIX", "digest", "is_ref", "mint"]

HASH_PREFIX: Final = "sha256:"

_REF: Final = re.compile(r"sha256:[0-9a-f]{64}")


def digest(*chunks: bytes) -> str:
    """The SHA-256 of the concatenated chunks as 64 lowercase hexadecimal digits; of nothing, that of empty input."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


def mint(*chunks: bytes) -> str:
    """The reference of the concatenated chunks: `HASH_PREFIX` plus `digest`, so `mint(a, b) == mint(a + b)`."""
    return HASH_PREFIX + digest(*chunks)


def is_ref(text: str) -> bool:
    """Whether `text` is exactly a reference: prefix, 64 lowercase digits, no space before or after."""
    return _REF.fullmatch(text) is not None
