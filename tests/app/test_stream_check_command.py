"""The command `stream-check`: what it checks, what it prints, and how decoders of other people are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app import cli
from tests.app.running import Ran, Run

ANSWER = "See doc://12 and doc://1.\n"
BROKEN = "modelcontext_core.testing_examples:forgets_word_boundaries"
STREAM = b"""data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "See \xe9\x80\x80 doc:"}}]}

data: {"choices": [{"index": 0, "delta": {"content": "//1."}, "finish_reason": "stop"}]}

data: [DONE]

"""
OWN_DECODER = '''
class Upper:
    """Needs no registry, and is right."""

    def feed(self, chunk):
        return chunk.upper()

    def flush(self):
        return ""
'''


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command in this process."""

    def run_command(*arguments: str) -> Ran:
        code = cli.main(["stream-check", *arguments])
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out.decode(), captured.err.decode())

    return run_command


@pytest.fixture
def answer(tmp_path: Path) -> str:
    """A pasted answer in a file."""
    file = tmp_path / "answer.txt"
    file.write_text(ANSWER, encoding="utf-8")
    return str(file)


@pytest.fixture
def capture(tmp_path: Path) -> str:
    """A captured stream in a file."""
    file = tmp_path / "capture.sse"
    file.write_bytes(STREAM)
    return str(file)


def test_an_answer_is_checked_with_handles_made_for_it(run: Run, answer: str) -> None:
    """All single cuts, all random ones, one character at a time; exit code 0, nothing on standard error in a pipe."""
    ran = run(answer)

    assert (0, "") == (ran.code, ran.err)
    assert "handles made for this text" in ran.out
    assert f"ok     single cuts: {len(ANSWER) - 1} of {len(ANSWER) - 1} equal" in ran.out


def test_a_decoder_that_is_wrong_is_caught_with_its_smallest_cut(run: Run, answer: str) -> None:
    """Exit code 1; the cut is printed as what one feeds."""
    ran = run(answer, "--decoder", BROKEN)

    assert 1 == ran.code
    assert "FAILED single cuts" in ran.out
    assert "feed('doc://1')\n    feed('2')\n    flush()" in ran.out


def test_a_decoder_of_the_current_folder_can_be_named(
    run: Run, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class without parameters is called without any."""
    (tmp_path / "my_decoder.py").write_text(OWN_DECODER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert 0 == run(answer, "--decoder", "my_decoder:Upper").code


@pytest.mark.parametrize(
    "named", ["no_colon", "no_such_module:factory", "json:no_such_name", "modelcontext_core.limits:MIB", ":x", "json:"]
)
def test_a_decoder_that_cannot_be_had_is_bad_usage(run: Run, answer: str, named: str) -> None:
    """Exit code 2 and one sentence that names it."""
    ran = run(answer, "--decoder", named)

    assert 2 == ran.code
    assert f"--decoder {named}:" in ran.err


def test_a_capture_is_checked_with_its_bytes_as_json(run: Run, capture: str) -> None:
    """The report has a tally for each kind and no failure."""
    ran = run(capture, "--json", "--seed", "5")
    [document] = json.loads(ran.out)
    tallies: dict[str, Any] = document["tallies"]

    assert 0 == ran.code
    assert (None, "made", 5, True, None) == (
        document["message"],
        document["registry"],
        document["seed"],
        document["ok"],
        document["failure"],
    )
    assert {"single", "multi", "characters", "bytes"} == set(tallies)
    assert all(tally["equal"] == tally["total"] > 0 for tally in tallies.values())


def test_a_handle_table_can_be_given(run: Run, answer: str, tmp_path: Path) -> None:
    """Then its handles count, and the text's others are unknown."""
    table = tmp_path / "handles.json"
    table.write_text('{"doc://1": "5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a"}', encoding="utf-8")
    [document] = json.loads(run(answer, "--handles", str(table), "--json", "--decoder", BROKEN).out)

    assert "given" == document["registry"]
    assert "5d0e7f93-a8b1-4c26-9e3f-b47c81d2065a2" == document["failure"]["streamed"]


@pytest.mark.parametrize("content", [b"", b'{"messages": [{"role": "user", "content": "hello"}]}'])
def test_what_holds_no_answer_is_bad_input(run: Run, tmp_path: Path, content: bytes) -> None:
    """Nothing was checked, so it is no success."""
    file = tmp_path / "empty.json"
    file.write_bytes(content)

    assert 2 == run(str(file)).code
