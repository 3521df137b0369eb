"""Policy packs as TOML: the schema, the messages for wrong packs, files that extend files, writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES, KeyKind, MineKind, OutputKind, ToolPolicies, ToolPolicy

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions" / "packs"


def rules(pack: ToolPolicies) -> tuple[str, str, Mapping[str, str], Mapping[str, ToolPolicy]]:
    """What two packs must agree in to be the same rules."""
    return pack.name, pack.uri_scheme, dict(pack.keys), dict(pack.tools)


def fault(text: str) -> PolicyError:
    """The error that loading a pack gives."""
    with pytest.raises(PolicyError) as caught:
        ToolPolicies.loads(text, "shop.toml")
    return caught.value


# --- reading TOML


def test_only_a_name_is_needed() -> None:
    """Every table and key is optional but the name; the key table is there in every pack."""
    pack = ToolPolicies.loads('name = "small"')

    assert (pack.name, pack.uri_scheme, len(pack.tools)) == ("small", "weknora", 0)
    assert pack.keys == DEFAULT_POLICIES.keys


def test_an_unknown_base_hides_no_other_fault() -> None:
    """`check` says everything: what is wrong in the pack itself, then that its base cannot be found."""
    text = 'name = "a"\nextends = "nobody"\n[keys]\nx = "server"\n'

    assert ["keys.x", "extends"] == [fault.path for fault in ToolPolicies.check(text)]
    assert fault(text).path == "keys.x"


def test_full_schema() -> None:
    """Every key of the schema is read."""
    pack = ToolPolicies.loads(
        """
        name = "my-app"
        extends = "builtin"
        uri_scheme = "my-app"
        [keys]
        order_id = "document"
        shelf = "kb"
        [tools.orders]
        ids = ["order_id", "shelf"]
        sql = ["statement"]
        output = "source"
        issues = { decode = ["ticket"], register = ["id"], compact = true }
        routing = { backend = "server" }
        mine = ["url", "uuid"]
        sensitive = true
        """
    )

    assert pack.uri_scheme == "my-app"
    assert pack.keys["shelf"] == "knowledge_base"
    assert pack.tools["orders"] == ToolPolicy(
        name="orders",
        ids=("order_id", "shelf"),
        sql=("statement",),
        output="source",
        issues_decode=("ticket",),
        issues_register=("id",),
        issues_compact=True,
        routing={"backend": "server"},
        mine=("uuid", "url"),
        sensitive=True,
    )
    assert pack.tools["read_document"] == DEFAULT_POLICIES.tools["read_document"]


def test_an_extended_tool_keeps_what_is_not_stated() -> None:
    """A pack that states one key of a tool of its base changes that key alone; an empty list clears one."""
    pack = ToolPolicies.loads(
        'name = "a"\nextends = "builtin"\n[tools.wiki_read_issue]\nsensitive = true\nissues = { register = [] }'
        "\n[tools.read_document]\nids = []"
    )
    issue = pack.tools["wiki_read_issue"]

    assert (issue.sensitive, issue.output, issue.issues_register) == (True, "source", ())
    assert issue.issues_decode == ("issue_id", "issue_ids")
    assert (pack.tools["read_document"].ids, pack.tools["read_document"].output) == ((), "source")
    assert DEFAULT_POLICIES.tools["read_document"].ids == ("id",)


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("", "name", "needs a name"),
        ("name = 3", "name", "must be a string, not 3"),
        ('name = " "', "name", "printable text"),
        ('name = "a"\ntool = {}', "tool", 'unknown key; nearest is "tools"; allowed: "name"'),
        ('name = "a"\nkeys = 1', "keys", "must be a table, not 1"),
        ('name = "a"\n[keys]\nsku = "dokument"', "keys.sku", '"dokument" is no space; nearest is "document"; allowed:'),
        ('name = "a"\n[keys]\nsku = "document_ref"', "keys.sku", "is no space"),
        ('name = "a"\n[keys]\nsku = "known"', "keys.sku", "is no space"),
        ('name = "a"\n[keys]\nsku = ["web"]', "keys.sku", "is no space"),
        ('name = "a"\n[keys]\nURL = "document"', "keys.url", 'is "web" in the key table of the built-in pack'),
        ('name = "a"\n[keys]\nsku = "web"\nSKU = "kb"', "keys.SKU", "another letter case"),
        ('name = "a"\nuri_scheme = "My App"', "uri_scheme", "is no URI scheme; allowed: lower-case"),
        ('name = "a"\nuri_scheme = "https"', "uri_scheme", "would be read as a handle, a link"),
        ('name = "a"\nuri_scheme = "my-doc"', "uri_scheme", "would be read as a handle, a link"),
        ('name = "a"\nextends = "bultin"', "extends", 'unknown pack "bultin"; allowed: "builtin"'),
        ('name = "a"\nextends = "base.toml"', "extends", "unknown pack"),
        ('name = "a"\n[tools]\nx = 1', "tools.x", "must be a table, not 1"),
        ('name = "a"\n[tools.x]\nid = []', "tools.x.id", 'unknown key; nearest is "ids"; allowed: "ids", "sql"'),
        ('name = "a"\n[tools.x]\nids = "url"', "tools.x.ids", 'must be a list of strings, not "url"'),
        ('name = "a"\n[tools.x]\nids = ["url", 7]', "tools.x.ids[1]", "must be a string, not 7"),
        ('name = "a"\n[tools.x]\nids = ["source_ref"]', "tools.x.ids[0]", 'nearest is "source_refs"'),
        ('name = "a"\n[tools.x]\nids = ["url", "URL"]', "tools.x.ids[1]", '"url" is named twice'),
        (
            'name = "a"\n[tools.x]\nids = ["url"]\nsql = ["url"]',
            "tools.x.sql[0]",
            "under ids too; a field has one role",
        ),
        ('name = "a"\n[tools.x]\nsql = [""]', "tools.x.sql[0]", "printable text"),
        (
            'name = "a"\n[tools."x y"]\noutput = "src"',
            'tools."x y".output',
            '"src" is not allowed; nearest is "source"',
        ),
        ('name = "a"\n[tools.x]\noutput = true', "tools.x.output", "true is not allowed; allowed:"),
        ('name = "a"\n[tools.x.issues]\ndecodes = []', "tools.x.issues.decodes", 'nearest is "decode"'),
        ('name = "a"\n[tools.x.issues]\ncompact = "yes"', "tools.x.issues.compact", "must be true or false"),
        ('name = "a"\n[tools.x.routing]\nto = "servers"', "tools.x.routing.to", 'nearest is "server"'),
        (
            'name = "a"\n[tools.x]\nmine = ["uuid", "urls"]',
            "tools.x.mine[1]",
            'nearest is "url"; allowed: "uuid", "url"',
        ),
        ('name = "a"\n[tools.x]\nmine = ["uuid"]\noutput = "opaque"', "tools.x.mine", "nothing is read from results"),
        ('name = "a"\n[tools.x]\nsensitive = 1', "tools.x.sensitive", "must be true or false, not 1"),
        ('name = "a"\n[tools."a\\u0000b"]', 'tools."a\\u0000b"', "printable text"),
    ],
)
def test_faults_name_file_key_value_and_what_is_allowed(text: str, path: str, reason: str) -> None:
    """A wrong pack is refused with the file, the key as it stands in the TOML, and a sentence."""
    error = fault(text)

    assert (error.source, error.path) == ("shop.toml", path)
    assert reason in error.reason
    assert str(error) == f"shop.toml: {path}: {error.reason}"


@pytest.mark.parametrize(("text", "line"), [('name = "a"\nids = [', "line 2"), ('name = "a"\n\n= 1', "line 3")])
def test_broken_toml_tells_the_line(text: str, line: str) -> None:
    """What is no TOML at all is refused with the line."""
    error = fault(text)

    assert error.source == "shop.toml"
    assert "not valid TOML" in error.reason
    assert line in error.reason


def test_deep_toml_is_refused() -> None:
    """Nesting beyond what the parser can do is an error of the pack, not of the program."""
    assert "not valid TOML" in fault(f'name = "a"\nx = {"[" * 100_000}').reason


def test_a_number_too_long_for_the_parser_is_refused() -> None:
    """Thousands of digits are an error of the pack, not of the program."""
    assert "too many digits" in fault(f'name = "a"\nx = {"9" * 5000}').reason


def test_check_gives_every_fault() -> None:
    """A check shows all faults at once, and none for a sound pack."""
    text = 'name = "a"\n[tools.x]\nids = ["nope", "no"]\nmine = ["uuid"]\noutput = "opaque"'

    assert [error.path for error in ToolPolicies.check(text)] == ["tools.x.ids[0]", "tools.x.ids[1]", "tools.x.mine"]
    assert ToolPolicies.check('name = "a"') == ()
    assert [error.path for error in ToolPolicies.check('name = "a"\nextends = "b"')] == ["extends"]


def test_packs_built_in_memory_are_checked_by_validate() -> None:
    """A pack that an editor built is not checked until asked, and cannot be written with a fault."""
    pack = ToolPolicies(
        name="a",
        keys={"ref": "known", "url": "chunk"},
        tools={"x": ToolPolicy(name="y", output="all", mine=("uid",), routing={"r": "to"})},  # type: ignore[arg-type,dict-item]
    )

    paths = [error.path for error in pack.faults()]
    assert paths == ["keys.url", "keys.ref", "tools.x", "tools.x.output", "tools.x.routing", "tools.x.mine"]
    with pytest.raises(PolicyError):
        pack.validate()
    with pytest.raises(PolicyError):
        pack.dumps()


# --- files


def test_load_a_file_that_extends_a_file(tmp_path: Path) -> None:
    """`extends` may name a file beside the pack, which may extend another."""
    (tmp_path / "base.toml").write_text('name = "base"\nextends = "builtin"\nuri_scheme = "shop"\n[keys]\nsku = "web"')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "top.toml").write_text('name = "top"\nextends = "../base.toml"\n[tools.t]\nids = ["sku"]')

    pack = ToolPolicies.load(tmp_path / "sub" / "top.toml")

    assert (pack.name, pack.uri_scheme, dict(pack.tools["t"].id_kinds)) == ("top", "shop", {"sku": "web"})
    assert "read_document" in pack


def test_circles_are_refused(tmp_path: Path) -> None:
    """Packs that extend each other are refused with the circle."""
    (tmp_path / "a.toml").write_text('name = "a"\nextends = "b.toml"')
    (tmp_path / "b.toml").write_text('name = "b"\nextends = "./a.toml"')

    with pytest.raises(PolicyError) as caught:
        ToolPolicies.load(tmp_path / "a.toml")

    assert caught.value.path == "extends"
    assert '"a.toml" -> "b.toml" -> "a.toml"' in caught.value.reason


def test_a_key_of_the_extended_file_keeps_its_space(tmp_path: Path) -> None:
    """A pack adds keys to its base; it cannot change one."""
    (tmp_path / "a.toml").write_text('name = "a"\nextends = "b.toml"\n[keys]\nsku = "web"')
    (tmp_path / "b.toml").write_text('name = "b"\n[keys]\nsku = "document"')

    with pytest.raises(PolicyError) as caught:
        ToolPolicies.load(tmp_path / "a.toml")

    assert (caught.value.path, caught.value.source) == ("keys.sku", str(tmp_path / "a.toml"))
    assert 'is "document" in the key table that this pack extends' in caught.value.reason


@pytest.mark.parametrize(("data", "reason"), [(None, "cannot be read"), (b"name = \xff", "not UTF-8")])
def test_unreadable_files_are_named(tmp_path: Path, data: bytes | None, reason: str) -> None:
    """A missing file and one that is no text give the same kind of error as a wrong pack."""
    path = tmp_path / "p.toml"
    if data is not None:
        path.write_bytes(data)

    with pytest.raises(PolicyError) as caught:
        ToolPolicies.load(path)

    assert caught.value.source == str(path)
    assert reason in caught.value.reason


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Editors on Windows put a mark before the text."""
    (tmp_path / "p.toml").write_bytes(b'\xef\xbb\xbfname = "a"\r\n[tools.t]\r\n')

    assert "t" in ToolPolicies.load(tmp_path / "p.toml")


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_sample_packs_are_sound_and_written_back(path: Path, tmp_path: Path) -> None:
    """Every sample pack loads, and saving it keeps its rules."""
    pack = ToolPolicies.load(path)
    pack.save(tmp_path / "copy.toml")

    assert rules(ToolPolicies.load(tmp_path / "copy.toml")) == rules(pack)


def test_there_is_a_sample_pack() -> None:
    """The test above has something to read."""
    assert list(SAMPLES.glob("*.toml"))


# --- writing


def test_an_extension_is_written_as_what_differs() -> None:
    """A pack that holds all built-in tools is written short."""
    pack = DEFAULT_POLICIES.extend(
        ToolPolicies(name="mine", keys={"sku": "web"}, tools={"x": ToolPolicy(name="x", ids=("sku",), output="source")})
    )

    assert pack.dumps() == (
        'name = "mine"\nextends = "builtin"\n\n[keys]\nsku = "web"\n\n[tools.x]\nids = ["sku"]\noutput = "source"\n'
    )


def test_the_builtin_pack_is_written_whole() -> None:
    """What can be exported can be read by a person, and read back."""
    text = DEFAULT_POLICIES.dumps()

    assert "extends" not in text
    assert "[tools.read_document]" in text
    assert rules(ToolPolicies.loads(text)) == rules(DEFAULT_POLICIES)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: text.strip()
)
KEYS = st.sampled_from(["a", "b_id", "ç", "k k", 'q"', "x\\y", "ИД", "url", "id", "İ", "source_refs"])
SPACES: st.SearchStrategy[KeyKind] = st.sampled_from(["chunk", "document", "knowledge_base", "web"])


@st.composite
def packs(draw: st.DrawFn) -> ToolPolicies:
    """Sound packs of any content, with and without the built-in tools."""
    own: dict[str, KeyKind] = {
        key: space for key, space in draw(st.dictionaries(KEYS, SPACES)).items() if key not in DEFAULT_POLICIES.keys
    }
    table = sorted({key.lower() for key in own} | set(DEFAULT_POLICIES.keys))
    tools = {}
    for name in draw(st.lists(NAMES | st.sampled_from(sorted(DEFAULT_POLICIES.tools)), max_size=4, unique=True)):
        fields = draw(st.lists(st.sampled_from(table), max_size=4, unique=True))
        others = draw(st.lists(NAMES.map(str.lower).filter(lambda key: key not in table), max_size=3, unique=True))
        output: OutputKind = draw(st.sampled_from(get_args(OutputKind)))
        reads = output in ("source", "compact")
        tools[name] = ToolPolicy(
            name=name,
            ids=tuple(fields),
            sql=tuple(others[:1]),
            issues_decode=tuple(others[1:2]),
            issues_register=tuple(draw(st.lists(KEYS, max_size=1))) if reads else (),
            issues_compact=draw(st.booleans()),
            routing=dict.fromkeys(others[2:], draw(st.sampled_from(["server", "tool"]))),
            output=output,
            mine=tuple(draw(st.lists(st.sampled_from(get_args(MineKind)), unique=True))) if reads else (),
            sensitive=draw(st.booleans()),
        )
    pack = ToolPolicies(name=draw(NAMES), uri_scheme=draw(st.sampled_from(["weknora", "shop"])), keys=own, tools=tools)
    return DEFAULT_POLICIES.extend(pack) if draw(st.booleans()) else pack


@given(packs())
def test_what_is_written_reads_back_as_the_same_rules(pack: ToolPolicies) -> None:
    """For every sound pack, loads(dumps()) gives the same name, scheme, keys and tools, and writes the same text."""
    text = pack.dumps()
    again = ToolPolicies.loads(text)

    assert rules(again) == rules(pack)
    assert again.dumps() == text
