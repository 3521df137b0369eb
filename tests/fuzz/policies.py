"""Packs, mutated as texts and as values: they load or raise the one error, and what loads keeps every law."""

from __future__ import annotations

import pickle
import random
import string
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from modelcontext_core import Registry, ToolPolicies
from modelcontext_core.errors import PolicyError
from modelcontext_core.policies import DEFAULT_POLICIES
from modelcontext_core.policies.toml_writer import dotted, quoted
from tests.fuzz import conversations, laws, mutations, worlds
from tests.fuzz.readers import SAMPLES

__all__ = ["pack_text", "run"]

_KINDS: Final = ("document", "kb", "chunk", "web", "resource", "known", "knowledge_base", "server", "nothing", "")
_OUTPUTS: Final = ("source", "compact", "opaque", "directory", "Source", "")
_TEXT_TOKENS: Final = (
    *("[keys]", "[tools]", "[tools.x]", '[tools."a b"]', "[[tools]]", "[", "]", "=", '"', "'", "'''", '"""', "{}"),
    *("name = 1", 'extends = "builtin"', 'extends = "self.toml"', 'extends = "../x.toml"', 'uri_scheme = ""', "\\"),
    *("true", "1", "1e9", "nan", "2026-01-01", "ids", "mine", "\0", "\ud800", "\u202e", "\r", "\n", "\t", "\ufeff"),
    *('uri_scheme = "http"', 'output = "source"', "[tools.x.issues]", "[tools.x.routing]", "sensitive = true"),
)  # fmt: skip


@cache
def _texts() -> list[str]:
    builtin = resources.files("modelcontext_core").joinpath("builtin_policies.toml").read_text(encoding="utf-8")
    samples = [path.read_text(encoding="utf-8") for path in sorted((SAMPLES / "packs").glob("*.toml"))]
    return [worlds.PACK, worlds.PACK, builtin, DEFAULT_POLICIES.dumps(), *samples, *samples, 'name = "small"\n']


def _name(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return rng.choice((*conversations.KEYS, *conversations.TOOLS))
    return "".join(rng.choices(string.ascii_letters, k=4)) if kind < 0.85 else rng.choice(mutations.HOSTILE)[:200]


def _names(rng: random.Random) -> list[Any]:
    return [_name(rng) for _ in range(rng.randint(0, 3))]


def _pack(rng: random.Random) -> dict[str, Any]:
    """The value of a pack: mostly what a pack may have."""
    keys = {_name(rng): rng.choice(_KINDS[:4] if rng.random() < 0.8 else _KINDS) for _ in range(rng.randint(0, 4))}
    tools = {}
    for _ in range(rng.randint(0, 4)):
        tool = {
            "ids": [*_names(rng), *rng.sample(list(keys), min(len(keys), rng.randint(0, 2)))],
            "sql": _names(rng),
            "output": rng.choice(_OUTPUTS[:4] if rng.random() < 0.85 else _OUTPUTS),
            "issues": {"decode": _names(rng), "register": _names(rng), "compact": rng.random() < 0.5},
            "routing": {_name(rng): rng.choice(("server", "tool", "tool", "x"))},
            "mine": rng.choice((["uuid"], ["url", "uuid"], [], ["uuid", "uuid"], ["x"])),
            "sensitive": rng.random() < 0.5,
        }
        tools[_name(rng)] = {key: value for key, value in tool.items() if rng.random() < 0.35}
    pack: dict[str, Any] = {"name": _name(rng) or "pack", "keys": keys, "tools": tools}
    if rng.random() < 0.5:
        pack["extends"] = "builtin"
    if rng.random() < 0.4:
        pack["uri_scheme"] = rng.choice(("shop", "a-b", "weknora", "http", "doc", "", "x y", "9", "S"))
    return pack


def _inline(value: Any) -> str:
    """Any value that JSON has as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{dotted(str(key))} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return "nothing" if value is None else repr(value)


def pack_text(rng: random.Random) -> str:
    """A pack as TOML, right or wrong."""
    if rng.random() < 0.5:
        value = _pack(rng)
        changed: Any = mutations.mutated(rng, value) if rng.random() < 0.4 else value
        if isinstance(changed, dict):
            return "".join(f"{dotted(str(key))} = {_inline(item)}\n" for key, item in changed.items())
        return _inline(changed)
    text = rng.choice(_texts())
    for _ in range(rng.randint(0, 3)):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        lines = text.split("\n")
        text = rng.choice(
            (
                text[:at] + rng.choice(_TEXT_TOKENS) + text[at:],
                text[:at] + text[min(to, at + 30) :],
                text[:to],
                "\n".join(line for line in lines if rng.random() < 0.9),
                "\n".join((*lines, rng.choice(_TEXT_TOKENS), rng.choice(lines))),
                text[:at] + rng.choice(mutations.HOSTILE)[:200] + text[at:],
            )
        )
    return text


def run(number: int) -> None:
    """Runs one case; raises `AssertionError` when a law is broken."""
    rng = random.Random(f"policies {number}")
    text = pack_text(rng)
    faults = ToolPolicies.check(text, "pack.toml")
    for fault in faults:
        assert fault.reason, "a fault without a reason"
        assert "\n" not in str(fault), f"a fault of several lines: {fault!s}"
    try:
        pack = ToolPolicies.loads(text, "pack.toml")
    except PolicyError as error:
        assert str(faults[0]) == str(error), f"checked {faults[0]}, loaded {error}"
        return
    assert not faults, f"{text!r} loads, and has {faults[0]}"
    _writing_law(pack)
    _file_law(rng, text, pack)
    messages = conversations.conversation(rng)
    if rng.random() < 0.5:
        laws.encode_laws(messages, lambda: Registry(policies=pack))
    _discovery_law(rng, messages, pack)


def _rules(pack: ToolPolicies) -> tuple[object, ...]:
    return pack.name, pack.uri_scheme, dict(pack.keys), dict(pack.tools)


def _writing_law(pack: ToolPolicies) -> None:
    """A pack written and read again is the same pack, and is written the same."""
    written = pack.dumps()
    again = ToolPolicies.loads(written)
    assert _rules(pack) == _rules(again), f"{written!r}"
    assert written == again.dumps()
    assert _rules(pack) == _rules(pickle.loads(pickle.dumps(pack)))
    try:
        DEFAULT_POLICIES.extend(pack).validate()
    except PolicyError as error:
        assert error.reason


def _file_law(rng: random.Random, text: str, pack: ToolPolicies) -> None:
    """Saved, a pack is what it was; a file that extends it loads, or says why not."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, "pack.toml")
        pack.save(path)
        assert _rules(pack) == _rules(ToolPolicies.load(path))
        damaged = mutations.damaged(rng, text.encode("utf-8", "surrogatepass"))
        path.write_bytes(damaged if rng.random() < 0.5 else path.read_bytes())
        above = Path(folder, "above.toml")
        above.write_text('name = "above"\nextends = "pack.toml"\n', encoding="utf-8")
        faults = ToolPolicies.check(above.read_text(encoding="utf-8"), "above.toml", path=above)
        try:
            _writing_law(ToolPolicies.load(above))
        except PolicyError as error:
            assert error.reason
            assert faults, f"{damaged!r}"


def _discovery_law(rng: random.Random, messages: Any, base: ToolPolicies) -> None:
    """Any choice of what was discovered makes a pack that keeps the laws."""
    discovery = ToolPolicies.discover(messages, base=base)
    chosen = [item for item in discovery.proposals if rng.random() < 0.6]
    made = discovery.policies_for(chosen)
    _writing_law(made)
    if chosen:
        laws.encode_laws(messages, lambda: Registry(policies=made))
    else:
        assert made is base
