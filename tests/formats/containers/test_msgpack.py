"""MessagePack without a library."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.formats.containers.msgpack import BadMsgpack, unpack


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x07", 7),
        (b"\xff", -1),
        (b"\xd1\xfe\x00", -512),
        (b"\xcf" + b"\xff" * 8, 2**64 - 1),
        (b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5),
        (b"\xc0", None),
        (b"\xc3", True),
        (b"\xa2hi", "hi"),
        (b"\xd9\x03\xe2\x82\xac", "€"),
        (b"\xc4\x03abc", "[3 bytes]"),
        (b"\x92\x01\x90", [1, []]),
        (b"\x82\xa1a\x01\x05\xa1b", {"a": 1, "5": "b"}),
        (b"\xd4\x63\x00", "[extension 99, 1 bytes]"),
    ],
)
def test_values(data: bytes, value: Any) -> None:
    """Each kind of value; keys become texts, bytes and foreign extensions are named by their length."""
    assert unpack(data) == value


def test_objects_are_their_fields() -> None:
    """A class is only a name: its fields are data, `type` says which class where they do not."""
    inner = b"\x93\xa1m\xa5Thing\x81\xa1x\x01"

    assert unpack(b"\xc7" + bytes([len(inner), 5]) + inner) == {"type": "Thing", "x": 1}


@pytest.mark.parametrize(
    "data", [b"", b"\xa5hi", b"\xdd\xff\xff\xff\xff", b"\x91" * 1000 + b"\x01", b"\xc8\x00\x05\x05\x93"]
)
def test_broken_data_is_refused(data: bytes) -> None:
    """Cut texts, lists that claim to be huge, deep nesting."""
    with pytest.raises(BadMsgpack):
        unpack(data)


@given(st.binary(max_size=200))
def test_nothing_else_is_raised(data: bytes) -> None:
    """Any bytes are a value or a `BadMsgpack`."""
    refused: str | None = None
    try:
        unpack(data)
    except BadMsgpack as error:
        refused = str(error)

    assert refused != ""
