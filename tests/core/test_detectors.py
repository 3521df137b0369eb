"""What counts as an identifier, and that no pattern of a user can hang a scan."""

from __future__ import annotations

import pickle

import pytest

from modelcontext_core.detectors import (
    DEFAULT_DETECTORS,
    DETECTORS,
    Detectors,
    PatternError,
    PatternTime,
    UserPattern,
    find_hits,
    normalised,
)
from tests.core.leak_report.leaking import A, B

HEX = A.replace("-", "")
ALL = Detectors(kinds=tuple(DETECTORS))


def kinds(text: str, detectors: Detectors) -> list[tuple[str, str]]:
    """The findings in a text: kind and value."""
    return [(hit.kind, text[hit.start : hit.end]) for hit in find_hits(text, detectors, "weknora")]


def test_only_uuids_are_found_unless_more_is_asked_for() -> None:
    """The default finds UUIDs in any case and nothing else."""
    text = f"{A} {B.upper()} {HEX} https://example.org/x resource://{'a' * 22}"

    assert [("uuid", A), ("uuid", B.upper())] == kinds(text, DEFAULT_DETECTORS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"id={HEX};", [("uuid_hex", HEX)]),
        (f"{{{A}}}", [("uuid_braced", f"{{{A}}}")]),
        (f"urn:uuid:{A}", [("uuid_urn", f"urn:uuid:{A}")]),
        (f"URN:UUID:{A}", [("uuid_urn", f"URN:UUID:{A}")]),
        (f"summary/{A}", [("resource", f"summary/{A}")]),
        (f"weknora://doc/{A}", [("uri", f"weknora://doc/{A}")]),
        ("s3://bucket/key.png", [("storage", "s3://bucket/key.png")]),
        (f"{HEX}0", []),
        (f"{A}a", []),
    ],
)
def test_each_detector_finds_its_kind_once(text: str, expected: list[tuple[str, str]]) -> None:
    """What lies inside a braced or URN UUID, a reference or a URI is not counted a second time."""
    assert expected == kinds(text, ALL)


def test_a_uuid_in_a_url_is_both() -> None:
    """A URL does not cover the id in it: the page may be public while the id is not."""
    text = f"https://example.org/{A}"

    assert [("url", text), ("uuid", A)] == kinds(text, ALL)


def test_refinements_that_are_off_leave_a_plain_uuid() -> None:
    """With the braced detector off, a UUID in braces is a UUID."""
    assert [("uuid", A)] == kinds(f"{{{A}}}", DEFAULT_DETECTORS)


def test_user_patterns_carry_their_name() -> None:
    """Findings of a pattern of one's own have its name as kind; empty matches are none."""
    detectors = Detectors(patterns=(UserPattern(name="ticket", pattern=r"(?:TCK-\d+)?"),))

    assert [("ticket", "TCK-12"), ("uuid", A)] == kinds(f"TCK-12 {A}", detectors)


@pytest.mark.parametrize("pattern", [r"(?:a|aa)+$", r"(?:a|aa|aaa)*$", r"(?:a|aa)+(?=!\d)"])
def test_a_pattern_that_backtracks_is_stopped(pattern: str) -> None:
    """The time of a message is 0.2 s for all its texts together; what was cut short is said."""
    time = PatternTime()
    for _ in range(5):
        time.find("a" * 40 + "!", UserPattern(name="slow", pattern=pattern))

    assert time.spent


def test_a_pattern_with_endless_matches_is_stopped() -> None:
    """Matching quickly for ever is stopped as well."""
    time = PatternTime(0.02)
    time.find("ab" * 500_000, UserPattern(name="many", pattern="."))

    assert time.spent


@pytest.mark.parametrize(
    "make",
    [
        lambda: Detectors(kinds=("guid",)),
        lambda: Detectors(patterns=(UserPattern(name="x", pattern="("),)),
        lambda: Detectors(patterns=(UserPattern(name="uuid", pattern="x"),)),
        lambda: Detectors(patterns=(UserPattern(name="", pattern="x"),)),
        lambda: Detectors(patterns=(UserPattern(name="x", pattern="y" * 1001),)),
    ],
)
def test_what_cannot_be_used_is_refused(make) -> None:  # type: ignore[no-untyped-def]
    """Unknown detectors, broken or huge patterns and taken names raise `PatternError`."""
    with pytest.raises(PatternError):
        make()


def test_detectors_can_be_sent_to_workers() -> None:
    """Detectors are values: pickled and read back they are the same."""
    detectors = Detectors(kinds=("uuid", "url"), patterns=(UserPattern(name="ticket", pattern=r"T\d"),))

    assert detectors == pickle.loads(pickle.dumps(detectors))
    assert ("uuid", "url", "ticket") == detectors.names


@pytest.mark.parametrize("written", [A.upper(), HEX, f"{{{A}}}", f"urn:uuid:{A}"])
def test_spellings_of_one_uuid_are_one_identifier(written: str) -> None:
    """Case, hyphens, braces and the URN prefix make no other identifier."""
    assert A == normalised(written, "uuid_hex")
