"""Reading in a thread: progress, stopping, what is said about files that cannot be read."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from inspector_app import data
from inspector_app.reading import Given, Reading, given_below, takes_long
from modelcontext_core.errors import UnreadableTrace
from modelcontext_core.formats.base import Trace

CHAT = json.dumps({"messages": [{"role": "user", "content": "Hi"}]}).encode()


def read(*sources: Given) -> Trace:
    """What is read of these sources."""
    held = Reading(sources, "made").held()
    trace = held.trace
    data.shelf().forget(held.key)
    return trace


def test_all_is_counted_when_it_has_ended() -> None:
    """Files, messages and bytes."""
    reading = Reading([Given(name="a", content=CHAT), Given(name="b", content=CHAT)], "made")
    assert reading.wait(20)

    assert (reading.done, reading.messages, reading.share, reading.running) == (2, 2, 1.0, False)


def test_what_was_read_when_it_is_stopped_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends after the record that is being read, and a notice says where."""
    monkeypatch.setattr(Reading, "_ended", property(lambda reading: reading.messages > 1))
    found = read(*(Given(name=f"{number}.json", content=CHAT) for number in range(5)))

    assert [each.title for each in found.conversations] == ["0.json", "1.json"]
    assert [(notice.kind, notice.text) for notice in found.notices] == [
        ("limit", "reading was stopped after 1 of 5 files")
    ]


def test_nothing_readable_is_one_sentence() -> None:
    """Of one source as its reader says it, of many the first."""
    with pytest.raises(UnreadableTrace, match="PNG"):
        read(Given(name="x.png", content=b"\x89PNG\r\n\x1a\n\x00"))
    with pytest.raises(UnreadableTrace, match="PNG"):
        read(Given(name="x.png", content=b"\x89PNG\r\n\x1a\n\x00"), Given(name="y", content=b""))


def test_a_file_that_went_away_is_an_error_of_the_system(tmp_path: Path) -> None:
    """The page says that there is no such file."""
    with pytest.raises(OSError, match="gone"):
        Reading([Given(name="gone", path=tmp_path / "gone")], "made").held()


def test_hidden_files_of_a_folder_are_left_out(tmp_path: Path) -> None:
    """All others, sorted, by their path below the folder."""
    for name in ("b.json", ".hidden", "a/c.json", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(CHAT)

    assert [each.name for each in given_below(tmp_path)] == ["a/c.json", "b.json"]


def test_a_folder_that_may_not_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is read, and the notice names what nobody could look into."""
    closed, scandir = tmp_path / "closed", os.scandir
    closed.mkdir()
    (tmp_path / "a.json").write_bytes(CHAT)

    def refuse(path: str) -> object:
        if path == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)
    held = Reading(given_below(tmp_path), "made").held()

    assert ["closed"] == [notice.where for notice in held.trace.notices]
    assert held.conversation.messages


def test_zips_and_large_files_take_long() -> None:
    """Small ones are read at once."""
    assert takes_long(Given(name="x", content=b"PK\x03\x04"))
    assert takes_long(Given(name="x", content=b" " * (4 * 1024 * 1024 + 1)))
    assert not takes_long(Given(name="x", content=CHAT))


def test_what_was_read_is_encoded_under_the_options() -> None:
    """The page that opens it finds its first part drawn."""
    reading = Reading([Given(name="a", content=CHAT)], "made", options=data.Options())
    held = reading.held()
    drawn = list(held.drawn)
    data.shelf().forget(held.key)

    assert reading.encoding
    assert drawn == [(data.Options(encoding=""), 0)]


def test_one_trace_that_is_a_whole_file_can_be_stopped(tmp_path: Path) -> None:
    """Spans of a large file are collected before the first trace is there: stopping does not wait for that."""
    span = {"traceId": "%032x", "spanId": "%016x", "name": "chat", "attributes": {"gen_ai.prompt": "word " * 200}}
    line = json.dumps(span).encode() + b"\n"
    path = tmp_path / "spans.jsonl"
    path.write_bytes(b"".join(line % (number, number) for number in range(16_000)))
    reading = Reading([Given(name="spans.jsonl", path=path)], "spans")
    while reading.share < 0.1:
        reading.wait(0.005)
    reading.stop()
    held = reading.held()
    trace = held.trace
    data.shelf().forget(held.key)

    assert len(trace.conversations) < 16_000
    assert "reading was stopped after 0 of 1 files" in [notice.text for notice in trace.notices]
