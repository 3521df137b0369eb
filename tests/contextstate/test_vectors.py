"""The contract's cases as data: `tests/vectors/contextstate.json`, each run on a new memory store.

An operation names a function or method, its arguments, and what must come of it. Records are JSON objects, bytes are
base64.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import types
import typing
from pathlib import Path
from typing import Any

import pytest

from modelcontext_core import contextstate

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "contextstate.json").read_text(encoding="utf-8"))


def build(kind: Any, value: Any) -> Any:
    """The value of `kind` that the JSON stands for; scalars of a wrong type stay, since cases are about those too."""
    if kind is bytes and isinstance(value, str):
        return base64.b64decode(value)
    if typing.get_origin(kind) is tuple and isinstance(value, list):
        return tuple(build(typing.get_args(kind)[0], item) for item in value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        kinds = typing.get_type_hints(kind)
        return kind(**{key: build(kinds[key], item) for key, item in value.items()})
    return value


def record(name: str, value: Any) -> Any:
    """A record of the class `name`."""
    return build(getattr(contextstate, name), value)


def chunks(args: dict[str, Any]) -> list[bytes]:
    """The decoded `chunks`."""
    return [base64.b64decode(chunk) for chunk in args["chunks"]]


class Runner:
    """Runs the operations of one case, in order, on one store."""

    def __init__(self) -> None:
        self.store: contextstate.ContextStore = contextstate.MemoryStore()

    def run(self, name: str, args: dict[str, Any]) -> Any:
        """What the operation gives."""
        return getattr(self, name)(args)

    def cs_digest(self, args: dict[str, Any]) -> str:
        return contextstate.digest(*chunks(args))

    def cs_mint(self, args: dict[str, Any]) -> str:
        return contextstate.mint(*chunks(args))

    def cs_is_ref(self, args: dict[str, Any]) -> bool:
        return contextstate.is_ref(args["text"])

    def cs_new_content_ref(self, args: dict[str, Any]) -> object:
        owners = [args[key] for key in ("namespace", "workspace_id", "session_id", "subject_id")]
        return contextstate.new_content_ref(*owners, *chunks(args))

    def cs_validate(self, args: dict[str, Any]) -> None:
        record(args["type"], args["value"]).validate()

    def cs_reassemble(self, args: dict[str, Any]) -> object:
        return contextstate.reassemble(record("ContentRef", args["ref"]), args["retention"], *chunks(args))

    def cs_new_commit_request(self, args: dict[str, Any]) -> object:
        return contextstate.new_commit_request(
            args["session_id"],
            record("Revision", args["expected"]),
            record("BindingRevision", args["expected_binding"]),
            [record("SourceEvent", item) for item in args.get("events", [])],
            [record("PayloadRecord", item) for item in args.get("payloads", [])],
            record("Checkpoint", args["checkpoint"]),
            record("BindingRevision", args["new_binding"]),
            args["turn_id"],
        )

    def cs_to_json(self, args: dict[str, Any]) -> object:
        value = record(args["type"], args["value"])
        data = contextstate.to_json(value)
        assert value == contextstate.from_json(type(value), data)
        return json.loads(data)

    def cs_from_json(self, args: dict[str, Any]) -> object:
        return contextstate.from_json(getattr(contextstate, args["type"]), args["json"].encode())

    def store_put(self, args: dict[str, Any]) -> None:
        self.store.put(record("PayloadRecord", args["record"]))

    def store_get(self, args: dict[str, Any]) -> object:
        return self.store.get(record("ContentRef", args["ref"]))

    def store_status(self, args: dict[str, Any]) -> object:
        return self.store.status(record("ContentRef", args["ref"]))

    def store_revoke(self, args: dict[str, Any]) -> None:
        self.store.revoke(record("ContentRef", args["ref"]))

    def store_checkpoint(self, args: dict[str, Any]) -> None:
        self.store.checkpoint(record("CommitRequest", args["request"]))

    def store_session(self, args: dict[str, Any]) -> object:
        return self.store.session(args["id"])


def answer(got: Any, expected: Any) -> Any:
    """What came, in the form of the expectation: JSON without the fields that are at their empty default."""
    if dataclasses.is_dataclass(got):
        members = {field.name: getattr(got, field.name) for field in dataclasses.fields(got)}
        wanted = expected if isinstance(expected, dict) else {}
        return {key: answer(item, wanted.get(key)) for key, item in members.items() if key in wanted or item}
    if isinstance(got, bytes):
        return base64.b64encode(got).decode()
    if isinstance(got, tuple):
        each = expected if isinstance(expected, list) and len(expected) == len(got) else [None] * len(got)
        return [answer(item, want) for item, want in zip(got, each, strict=True)]
    return got


def check_error(error: contextstate.ContextStateError, wanted: dict[str, Any]) -> None:
    """The error is of the named class, at the named field."""
    field = getattr(error, "field", "")
    assert wanted["type"] == type(error).__name__
    assert wanted.get("path", field) == field
    if "field" in wanted:
        assert re.search(rf"(^|[.\]]){re.escape(wanted['field'])}(\[\d+\])?$", field)
    if "index" in wanted:
        assert f"[{wanted['index']}]" in field


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    """Each operation of the case gives, or raises, exactly what the case says."""
    runner = Runner()
    for op in case["ops"]:
        args, wanted = op.get("args", {}), op.get("expect_error")
        if op["op"] == "store":
            limits = record("Limits", args["limits"]) if "limits" in args else None
            runner.store = contextstate.MemoryStore(limits)
        elif wanted:
            with pytest.raises(contextstate.ContextStateError) as caught:
                runner.run(op["op"], args)
            check_error(caught.value, wanted)
        else:
            got = runner.run(op["op"], args)
            if "expect" in op:
                assert op["expect"] == (answer(got, op["expect"]) if not isinstance(got, dict) else got)


def test_the_cases_are_all_there() -> None:
    """A damaged or shortened data file is no success."""
    assert 32 == len(CASES)
    assert isinstance(Runner.cs_digest, types.FunctionType)
