"""The scanner by itself, under rules of a test's own: events, prose, and what is written."""

from __future__ import annotations

import re

from modelcontext_core.grammar import HandleToken
from modelcontext_core.scanner import Event, Restored, Rules, Scanner


def tag(match: re.Match[str]) -> str | None:
    """Keeps `<ref/>` as a mark, drops all others."""
    return "[ref]" if match[0] == "<ref/>" else None


def handle(token: HandleToken) -> Restored | None:
    """Knows odd numbers; chunks have an address besides."""
    if token.number is None or token.number % 2 == 0:
        return None
    if token.space == "chunk":
        return Restored("[chunk]", address="app://chunk", is_tag=True)
    return Restored(f"app://{token.space}", is_uri=token.space == "document")


def scan(text: str, *, tags: bool = True, handles: bool = True) -> tuple[str, list[Event]]:
    """The output and the events of a whole text."""
    events: list[Event] = []
    rules = Rules(tag=tag if tags else None, handle=handle if handles else None)
    return Scanner(rules, events=events).decode(text), events


def test_a_text_is_prose_and_events() -> None:
    """Each event says what part of the input became what, by which rule."""
    out, events = scan("a <ref/> <kb> url://1 doc://2 chunk://1")

    assert "a [ref]  app://web  [chunk]" == out
    assert [
        (2, 8, "[ref]", "tag"),
        (9, 13, "", "tag"),
        (14, 21, "app://web", "handle"),
        (22, 29, "", "unknown"),
        (30, 39, "[chunk]", "tag"),
    ] == [tuple(event) for event in events]


def test_rules_that_are_none_mean_no_such_thing() -> None:
    """Without a tag rule tags are prose, without a handle rule handles are."""
    assert "<kb> app://web" == scan("<kb> url://1", tags=False)[0]
    assert " url://1" == scan("<kb> url://1", handles=False)[0]


def test_an_address_is_written_where_one_stands() -> None:
    """Behind `](`, `](<`, `<`, `="` and `='`."""
    for before in ("](", "](<", "<", '="', "='"):
        assert f"{before}app://chunk" == scan(f"{before}chunk://1")[0]
    for before in ("(", "=", '"', "] ("):
        assert f"{before}[chunk]" == scan(f"{before}chunk://1")[0]


def test_a_uri_is_bracketed_when_it_would_be_read_on() -> None:
    """Only what is marked as a URI."""
    assert "<app://document>-x app://web-x" == scan("doc://1-x url://1-x")[0]


def test_an_opener_belongs_to_the_event_that_took_it() -> None:
    """The removed stretch begins at the opener."""
    assert ("", [Event(0, 6, "", "tag")]) == scan("<<kb/>"[:6])
    assert ("x", [Event(1, 9, "", "unknown")]) == scan("x<doc://2")


def test_ends_that_are_cut_off_are_events() -> None:
    """An unclosed tag, a bare scheme."""
    assert ("a ", [Event(2, 8, "", "unclosed")]) == scan("a <ref x")
    assert ("a ", [Event(2, 8, "", "bare_scheme")]) == scan("a doc://")


def test_a_bracket_that_is_left_out_is_an_event() -> None:
    """Its own, one character long."""
    out, events = scan("<<re</ref>ref>")

    assert "<ref" == out
    assert (13, 14, "", "closer") == tuple(events[-1])


def test_one_scanner_serves_one_text_after_another() -> None:
    """Whole texts and streams in any order."""
    scanner = Scanner(Rules(tag=tag, handle=handle))

    assert "app://web" == scanner.decode("url://1")
    assert "x" == scanner.feed("x url:")[:1]
    assert "url:" == scanner.flush()
    assert "app://web" == scanner.decode("url://1")
