"""Proves that a stream decoder gives the same however its stream is cut, or finds the smallest cut where it does not.

Tried are single cuts, seeded cuts into many chunks, one character at a time; for captures also other orders of the
channels that arrive at the same time, and cuts of the bytes. Reports grow while the check runs, so that it can be
watched, and stopped by closing the iterator.

Explained in `docs/concepts/streaming.md`.
"""

from modelcontext_core.stream_check.report import CheckKind, CutFailure, CutReport, Decoder, MakeDecoder, Tally
from modelcontext_core.stream_check.watch import MULTI_CUTS, check_every_cut, watch_every_cut

__all__ = [
    "MULTI_CUTS",
    "CheckKind",
    "CutFailure",
    "CutReport",
    "Decoder",
    "MakeDecoder",
    "Tally",
    "check_every_cut",
    "watch_every_cut",
]
