"""What the values of a pack mean together: every fault of a pack that was read, edited or built in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from modelcontext_core.errors import PolicyError
from modelcontext_core.policies.rules import (
    KEY_SPACES,
    MINE_KINDS,
    OUTPUT_KINDS,
    ROUTING_KINDS,
    KeyKind,
    ToolPolicy,
)
from modelcontext_core.policies.toml_schema import allowed, nearest
from modelcontext_core.policies.toml_writer import dotted, quoted

__all__ = ["MAX_NAME_CHARACTERS", "find_faults", "is_name"]

MAX_NAME_CHARACTERS: Final = 256

# Words, joined by "-": what stands before "://" must not continue a word, so a scheme has no other signs.
_URI_SCHEME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_MAX_SCHEME_CHARACTERS: Final = 32
# Schemes that already mean something in a text: handles, links and stored references. A last word counts too
# ("my-doc"), because a handle may stand behind "-".
# fmt: off
_TAKEN_SCHEMES: Final = frozenset({
    "chunk", "doc", "kb", "url", "res", "http", "https", "resource", "storage",
    "local", "minio", "cos", "tos", "s3", "oss", "ks3", "obs",
})
# fmt: on
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


def is_name(text: str) -> bool:
    """Whether a text can be the name of a pack, tool or key: some printable text that a TOML file can hold."""
    return bool(text.strip()) and len(text) <= MAX_NAME_CHARACTERS and not _UNPRINTABLE.search(text)


def find_faults(
    *,
    name: str,
    uri_scheme: str,
    keys: Mapping[str, KeyKind],
    tools: Mapping[str, ToolPolicy],
    shared_keys: Mapping[str, KeyKind],
    base_keys: Mapping[str, KeyKind],
    source: str = "",
) -> list[PolicyError]:
    """Every fault of a pack, in the order of the schema.

    `shared_keys` is the key table of the built-in pack, `base_keys` that of the pack that this one extends: both may
    only be added to.
    """
    checks = _Checks(source)
    checks.name(name, "name")
    checks.scheme(uri_scheme)
    checks.key_table(keys, {**base_keys, **shared_keys}, shared_keys)
    for key, policy in tools.items():
        checks.tool(key, policy, keys)
    return checks.faults


class _Checks:
    def __init__(self, source: str) -> None:
        self.faults: list[PolicyError] = []
        self._source = source

    def _fault(self, reason: str, *path: str, index: int | None = None) -> None:
        where = dotted(*path) + ("" if index is None else f"[{index}]")
        self.faults.append(PolicyError(reason, source=self._source, path=where))

    def name(self, text: str, *path: str, index: int | None = None) -> None:
        """A name of a pack, tool or field."""
        if not is_name(text):
            reason = f"must be printable text of 1 to {MAX_NAME_CHARACTERS} characters, not {ascii(text)[:60]}"
            self._fault(reason, *path, index=index)

    def scheme(self, scheme: str) -> None:
        if not _URI_SCHEME.fullmatch(scheme) or len(scheme) > _MAX_SCHEME_CHARACTERS:
            rule = f"lower-case letters, digits and single '-', at most {_MAX_SCHEME_CHARACTERS} characters"
            self._fault(f"{ascii(scheme)[:60]} is no URI scheme; allowed: {rule}", "uri_scheme")
        elif scheme.rpartition("-")[2] in _TAKEN_SCHEMES:
            self._fault(f"{quoted(scheme)} would be read as a handle, a link or a stored reference", "uri_scheme")

    def key_table(
        self, keys: Mapping[str, KeyKind], base_keys: Mapping[str, KeyKind], shared_keys: Mapping[str, KeyKind]
    ) -> None:
        for key, kind in keys.items():
            self.name(key, "keys", key)
            fixed = base_keys.get(key, kind)
            if kind not in KEY_SPACES.values() and shared_keys.get(key) != kind:
                self._fault(f"{ascii(kind)[:60]} is no space; allowed: {allowed(KEY_SPACES)}", "keys", key)
            elif kind != fixed:
                whose = "of the built-in pack" if key in shared_keys else "that this pack extends"
                reason = f"is {quoted(fixed)} in the key table {whose}; a pack can add keys, not change them"
                self._fault(reason, "keys", key)

    def tool(self, key: str, policy: ToolPolicy, keys: Mapping[str, KeyKind]) -> None:
        path = ("tools", key)
        self.name(key, *path)
        if policy.name != key:
            self._fault(f"holds the policy of another tool, {ascii(policy.name)[:60]}", *path)
        for index, field_name in enumerate(policy.ids):
            if field_name not in keys:
                reason = f"{quoted(field_name)} is not in the key table, so it has no space{nearest(field_name, keys)}"
                self._fault(f"{reason}. Add it under [keys], or name a key of the table", *path, "ids", index=index)
        self._roles(policy, path)
        self._kinds(policy, path)

    def _roles(self, policy: ToolPolicy, path: tuple[str, ...]) -> None:
        """A field of the arguments has one role, and is named once."""
        seen: dict[str, str] = {}
        for role, index, field_name in _argument_fields(policy):
            place = (*path, *role, field_name) if index is None else (*path, *role)
            shown = ".".join(role)
            if role != ("ids",):
                self.name(field_name, *place, index=index)
            if field_name in seen:
                earlier = seen[field_name]
                what = "twice" if earlier == shown else f"under {earlier} too; a field has one role"
                self._fault(f"{quoted(field_name)} is named {what}", *place, index=index)
            seen[field_name] = shown
        registered = policy.issues_register
        for index, field_name in enumerate(registered):
            self.name(field_name, *path, "issues", "register", index=index)
            if field_name in registered[:index]:
                self._fault(f"{quoted(field_name)} is named twice", *path, "issues", "register", index=index)

    def _kinds(self, policy: ToolPolicy, path: tuple[str, ...]) -> None:
        if policy.output not in OUTPUT_KINDS:
            self._fault(
                f"{ascii(policy.output)[:60]} is not allowed; allowed: {allowed(OUTPUT_KINDS)}", *path, "output"
            )
        self._words(policy.routing.values(), ROUTING_KINDS, *path, "routing")
        self._words(policy.mine, MINE_KINDS, *path, "mine")
        if policy.output in ("opaque", "directory"):
            for field_name, used in (("mine", policy.mine), ("issues", policy.issues_register)):
                if used:
                    reason = (
                        f'nothing is read from results with output = {quoted(policy.output)}; use "compact" or "source"'
                    )
                    self._fault(reason, *path, field_name)

    def _words(self, values: Iterable[str], words: tuple[str, ...], *path: str) -> None:
        for value in values:
            if value not in words:
                self._fault(f"{ascii(value)[:60]} is not allowed; allowed: {allowed(words)}", *path)


def _argument_fields(policy: ToolPolicy) -> Iterator[tuple[tuple[str, ...], int | None, str]]:
    """The fields of a tool's arguments: role, index in its list (none for routing, a table), name."""
    lists = ((("ids",), policy.ids), (("sql",), policy.sql), (("issues", "decode"), policy.issues_decode))
    for role, names in lists:
        for index, name in enumerate(names):
            yield role, index, name
    for name in policy.routing:
        yield ("routing",), None, name
