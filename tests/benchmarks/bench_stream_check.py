"""How long it takes to prove every cut of an answer of 20 KB that is full of handles, on one process.

`make bench` prints the times. The assertions are those that a user was promised, many times wider than measured.
"""

from __future__ import annotations

import time

from modelcontext_core.made_registry import registry_for
from modelcontext_core.stream_check import watch_every_cut

SENTENCE = (
    'An unused tent can come back within 30 days <ref id="chunk://1"/>, see also doc://2 and i3.\n'
    "The legal minimum would be 14 days (url://1); nothing in chunk://12 says otherwise.\n"
)
ANSWER = (SENTENCE * 200)[:20_480]


def test_all_single_cuts_of_20_kb_take_seconds_and_the_first_report_comes_at_once() -> None:
    """Within 30 seconds, the first counts within one."""
    start = time.perf_counter()
    first = single = 0.0
    for report in watch_every_cut(registry_for([ANSWER]), ANSWER):
        tally, now = report.tallies["single"], time.perf_counter() - start
        first = first or (now if tally.done else 0.0)
        single = single or (now if tally.done == tally.total else 0.0)

    print(f"\nfirst counts {first:.2f} s, {len(ANSWER) - 1:,} single cuts {single:.2f} s")
    assert report.ok
    assert first < 1
    assert single < 30
