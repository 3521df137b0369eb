"""One digest for a whole commit request: what tells a retry from a conflict, and a sound commit from a damaged one.

The bytes of payloads enter by their own digests. So the fingerprint of a stored commit can be computed again after a
payload was revoked and its bytes are gone, and still depends on every byte of the request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from modelcontext_core.contextstate.errors import InvalidRecordError
from modelcontext_core.contextstate.jsonio import to_json, write_json
from modelcontext_core.contextstate.records import CommitRequest
from modelcontext_core.contextstate.refs import digest

__all__ = ["is_same_request", "request_fingerprint"]


def request_fingerprint(request: CommitRequest, data_digests: Sequence[str] | None = None) -> bytes:
    """The 32-byte fingerprint of `request`.

    `data_digests` stands for the payload bytes where they are not at hand: one digest a payload, "" where the request
    had none. Raises `InvalidRecordError` for a field that is not of its type.
    """
    if data_digests is None:
        data_digests = [digest(record.data) if record.data else "" for record in request.payloads]
    checkpoint = request.checkpoint
    light = replace(
        request,
        payloads=tuple(replace(record, data=b"") for record in request.payloads),
        checkpoint=replace(checkpoint, active_context=b""),
    )
    state = hashlib.sha256(to_json(light))
    state.update(write_json([digest(checkpoint.active_context), *data_digests]))
    return state.digest()


def is_same_request(request: CommitRequest, fingerprint: bytes, data_digests: Sequence[str] | None = None) -> bool:
    """Whether `request`, which nobody validated, is the one of this fingerprint."""
    try:
        return request_fingerprint(request, data_digests) == fingerprint
    except (InvalidRecordError, TypeError, AttributeError):
        # Not even of the right types: nothing like it was ever stored.
        return False
