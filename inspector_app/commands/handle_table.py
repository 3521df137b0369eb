"""A handle table in a file, and the registry that knows exactly its handles.

The file is what `encode --json` prints (its `handles`), a list of such rows, or an object `{handle: durable id}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector_app.commands.base import CommandError
from modelcontext_core.grammar import MAX_HANDLE_DIGITS, SCHEMES, WORD_PREFIXES
from modelcontext_core.messages import ChunkReference, Message, ToolCall
from modelcontext_core.registry import Registry

__all__ = ["Row", "load_rows", "registry_of"]

# Each missing number costs a reservation, and a table is a stranger's file.
MAX_GAP = 10_000

_HANDLE = re.compile(
    rf"(?:(?P<scheme>{'|'.join(SCHEMES.values())})://|(?P<letters>{'|'.join(WORD_PREFIXES.values())}))"
    rf"(?P<number>[0-9]{{1,{MAX_HANDLE_DIGITS}}})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One handle and what it stands for; `citable` matters for chunks and web pages only."""

    handle: str
    durable: str
    citable: bool = True

    @property
    def family(self) -> str:
        """`chunk`, `doc`, `kb`, `url`, `res`, `i`, `ms` or `mt`. Raises `CommandError` for anything else."""
        return self._parts()[0]

    @property
    def number(self) -> int:
        """The number of the handle."""
        return self._parts()[1]

    def _parts(self) -> tuple[str, int]:
        found = _HANDLE.fullmatch(self.handle)
        if not found:
            raise CommandError(f"{self.handle!r} is not a handle")
        return found["scheme"] or found["letters"], int(found["number"])


def load_rows(path: Path) -> list[Row]:
    """The rows of a handle table. Raises `CommandError` when the file is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: not a JSON document ({error})") from error
    if isinstance(value, dict) and isinstance(value.get("handles"), list):
        value = value["handles"]
    try:
        if isinstance(value, dict):
            return [Row(handle=_text(handle), durable=_text(durable)) for handle, durable in value.items()]
        return [_row(each) for each in value]
    except (TypeError, KeyError, AttributeError) as error:
        raise CommandError(f"{path}: not a handle table; `encode --json` prints one") from error


def _row(value: Mapping[str, Any]) -> Row:
    return Row(
        handle=_text(value["handle"]), durable=_text(value["durable"]), citable=value.get("citable", True) is True
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def registry_of(rows: Iterable[Row], *, citations: bool) -> Registry:
    """A registry that issued exactly these handles.

    Registries number in the order of registration, so each family is registered in the order of its numbers. A
    number that is missing is reserved as the codec does it: by a message that holds the handle.
    Raises `CommandError` for a row that no registry would have issued.
    """
    registry = Registry(citations_enabled=citations)
    wanted = sorted(rows, key=lambda each: (each.family, each.number))
    last: dict[str, int] = {}
    for row in wanted:
        if row.family in _RESERVABLE:
            missing = range(last.get(row.family, 0) + 1, row.number)
            if len(missing) > MAX_GAP:
                raise CommandError(f"{row.handle}: more than {MAX_GAP:,} numbers are missing before it")
            gap = (f"{row.family}://{number:0{_DIGITS.get(row.family, 1)}}" for number in missing)
            registry.encode_messages([Message(role="user", content=" ".join(gap))])
        last[row.family] = row.number
        _REGISTER[row.family](registry, row)
    issued = {each.handle: each.durable for each in registry.handles()}
    for row in wanted:
        if issued.get(row.handle) != row.durable:
            raise CommandError(f"{row.handle}: no registry gives this handle to {row.durable!r}")
    return registry


def _chunk(registry: Registry, row: Row) -> None:
    reference = ChunkReference(chunk_id=row.durable)
    if row.citable:
        registry.register_chunk(reference)
    else:
        registry.register_context_chunk(reference)


def _web(registry: Registry, row: Row) -> None:
    if row.citable:
        registry.register_web(row.durable)
    else:
        _replayed(registry, "web_fetch", {"url": row.durable})


def _replayed(registry: Registry, tool: str, arguments: dict[str, str]) -> None:
    call = ToolCall(name=tool, arguments=json.dumps(arguments))
    registry.encode_messages([Message(role="assistant", tool_calls=(call,))])


_DIGITS = {"res": 4}
_RESERVABLE = frozenset({"chunk", "doc", "kb", "url", "res"})

_REGISTER: dict[str, Callable[[Registry, Row], object]] = {
    "chunk": _chunk,
    "doc": lambda registry, row: registry.register_document(row.durable),
    "kb": lambda registry, row: registry.register_knowledge_base(row.durable),
    "url": _web,
    "res": lambda registry, row: registry.encode_messages([Message(role="user", content=row.durable)]),
    "i": lambda registry, row: registry.register_issue(row.durable),
    # The routing ids of the MCP bridge have no other way in than a replayed call.
    "ms": lambda registry, row: _replayed(registry, "discover_mcp_tools", {"server_id": row.durable}),
    "mt": lambda registry, row: _replayed(registry, "call_mcp_tool", {"tool_ref": row.durable}),
}
