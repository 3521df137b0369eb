"""Random histories: the stores that keep, against the memory store as model, and both against plain bookkeeping."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from modelcontext_core.contextstate import (
    CommitRequest,
    ContextStateError,
    ContextStore,
    MemoryStore,
    PayloadRecord,
    Revision,
    open_store,
)
from tests.contextstate.builders import GPT, GPT_NEXT, Clock, bare, commit, payload

SESSIONS = ("s", "t", "名")
CONTENTS = (b"a", b"bb" * 40, b"c" * 5000)

sessions = st.sampled_from(SESSIONS)
records = st.builds(
    lambda data, session_id, namespace, retention, form: {
        "whole": payload(data, session_id, namespace=namespace, retention=retention),
        "bare": bare(payload(data, session_id, namespace=namespace, retention=retention)),
        "revoked": payload(data, session_id, namespace=namespace, retention=retention, revoked=True),
    }[form],
    st.sampled_from(CONTENTS),
    sessions,
    st.sampled_from(["n", "m"]),
    st.sampled_from(["session", "compliance", "mine"]),
    st.sampled_from(["whole", "whole", "whole", "bare", "revoked"]),
)


class Histories(RuleBasedStateMachine):
    """Each step does the same to the model and to the store; answers, errors and all reads must be the same."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.model: ContextStore = MemoryStore(clock=Clock())
        self.clock = Clock()
        self.store = self.open()
        self.requests: list[CommitRequest] = []
        self.exports: list[list[bytes]] = []
        # Plain bookkeeping, which shares no code with the stores.
        self.revisions: dict[str, Revision] = {}
        self.revoked: set[bytes] = set()

    def open(self) -> ContextStore:
        return open_store(self.url, clock=self.clock)

    def teardown(self) -> None:
        try:
            self.look_at_everything()
        finally:
            self.store.close()

    def both(self, method: str, *args: Any) -> Any:
        """The same answer, or the same error, from both."""
        answers: list[tuple[Any, Any]] = []
        for store in (self.model, self.store):
            try:
                answer = getattr(store, method)(*args)
                answers.append((list(answer) if method == "export" else answer, None))
            except ContextStateError as error:
                answers.append((None, (type(error), getattr(error, "field", ""), error.line)))
        assert answers[0] == answers[1]
        return answers[0]

    @rule(record=records)
    def put(self, record: PayloadRecord) -> None:
        self.both("put", record)
        if record.revoked:
            self.revoked.add(record.ref.sha256.encode())

    @rule(record=records)
    def revoke(self, record: PayloadRecord) -> None:
        _, error = self.both("revoke", record.ref)
        if error is None:
            self.revoked.add(record.ref.sha256.encode())

    @rule(
        session_id=sessions,
        events=st.integers(0, 3),
        given=st.lists(records, max_size=2),
        context=st.sampled_from([b"x", b"y" * 3000]),
        rebind=st.booleans(),
        number=st.integers(1, 40),
    )
    def commit(
        self, session_id: str, events: int, given: list[PayloadRecord], context: bytes, rebind: bool, number: int
    ) -> None:
        """A commit that fits the session; its key may have been used before."""
        expected = self.revisions.get(session_id, Revision())
        binding = self.model.head(session_id).binding if expected.session else GPT
        request = commit(
            f"op-{number}",
            session_id,
            expected=expected,
            events=events,
            payloads=[replace(item, ref=replace(item.ref, session_id=session_id)) for item in given],
            context=context,
            binding=binding,
            new_binding=GPT_NEXT if rebind else binding,
            turn=number,
        )
        _, error = self.both("checkpoint", request)
        if error is None and all(known != request for known in self.requests):
            self.requests.append(request)
            self.revisions[session_id] = request.checkpoint.revision
            self.revoked |= {item.ref.sha256.encode() for item in request.payloads if item.revoked}

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """A commit that took place is repeated: nothing happens, unless its session was deleted since."""
        request = data.draw(st.sampled_from(self.requests))
        before = self.revisions.get(request.session_id)
        if before is not None:
            self.both("checkpoint", request)

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), turn=st.integers(50, 60), stale=st.booleans())
    def conflict(self, data: st.DataObject, turn: int, stale: bool) -> None:
        """A used key with another request, or a new key on an old revision: refused."""
        request = data.draw(st.sampled_from(self.requests))
        if request.session_id not in self.revisions:
            return
        changed = replace(request, turn_id=turn, checkpoint=replace(request.checkpoint, turn_id=turn))
        _, error = self.both("checkpoint", replace(changed, operation_id=f"new-{turn}") if stale else changed)
        assert error is not None

    @rule(session_id=sessions)
    def export(self, session_id: str) -> None:
        lines, error = self.both("export", session_id)
        if error is None:
            self.exports.append(lines)

    @precondition(lambda self: self.exports)
    @rule(data=st.data())
    def import_(self, data: st.DataObject) -> None:
        lines = data.draw(st.sampled_from(self.exports))
        report, error = self.both("import_", lines)
        if error is None:
            session_id = report.session_id
            self.revisions[session_id] = self.model.head(session_id).revision
            self.revoked |= {
                row.record.ref.sha256.encode() for row in self.model.payloads(session_id) if row.record.revoked
            }

    @rule(session_id=sessions)
    def delete(self, session_id: str) -> None:
        self.both("delete_session", session_id)
        if self.revisions.pop(session_id, None):
            self.requests = [request for request in self.requests if request.session_id != session_id]

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @invariant()
    def heads_are_as_expected(self) -> None:
        """After each step both list the sessions that the bookkeeping has, and deny what was revoked."""
        heads, _ = self.both("sessions")
        assert self.revisions == {head.session_id: head.revision for head in heads}
        for data in CONTENTS:
            ref = payload(data).ref
            answer, _ = self.both("get", ref)
            self.both("status", ref)
            assert answer is None or ref.sha256.encode() not in self.revoked

    @rule()
    def look_at_everything(self) -> None:
        """Every read is the same, and every session verifies."""
        for session_id in SESSIONS:
            self.both("session", session_id)
            self.both("payload_totals", session_id)
            report, _ = self.both("verify", session_id)
            assert report is None or report.ok
            self.both("export", session_id)
            assert self.history(self.model, session_id) == self.history(self.store, session_id)
            assert self.rows(self.model, session_id) == self.rows(self.store, session_id)

    @staticmethod
    def history(store: ContextStore, session_id: str) -> object:
        try:
            entries = store.history(session_id)
        except ContextStateError:
            return None
        return [(entry.checkpoint, entry.operation_id, [item.outcome for item in entry.attempts]) for entry in entries]

    @staticmethod
    def rows(store: ContextStore, session_id: str) -> object:
        try:
            rows = store.payloads(session_id)
        except ContextStateError:
            return None
        return [(row.record, row.stored, row.uses, row.holders, row.sessions) for row in rows]


@contextmanager
def new_place(kind: str, address: str) -> Iterator[str]:
    """The address of a place that nobody used."""
    if kind == "sqlite":
        folder = Path(tempfile.mkdtemp(prefix="model"))
        try:
            yield f"sqlite:///{folder / 'store.db'}"
        finally:
            shutil.rmtree(folder)
    else:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS model CASCADE")
            connection.execute("CREATE SCHEMA model")
        yield f"{address}&options=-csearch_path%3Dmodel"


@pytest.mark.hypothesis
@pytest.mark.parametrize(("kind", "examples"), [("sqlite", 20), ("postgres", 4)])
def test_any_history_gives_the_same_as_in_memory(request: pytest.FixtureRequest, kind: str, examples: int) -> None:
    """Put, commit, conflict, replay, revoke, export, import, delete and reopen, in any order."""
    address = request.getfixturevalue("postgres_address") if kind == "postgres" else ""

    class Machine(Histories):
        def __init__(self) -> None:
            self.place = new_place(kind, address)
            self.url = self.place.__enter__()
            super().__init__()

        def teardown(self) -> None:
            try:
                super().teardown()
            finally:
                self.place.__exit__(None, None, None)

    fuzz = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 1
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=examples * fuzz, stateful_step_count=25, derandomize=fuzz == 1)
    )
