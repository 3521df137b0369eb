"""The proof in a thread: it comes, it does not keep the pages waiting, another takes its place, its fault is told."""

from __future__ import annotations

import threading

import pytest

from inspector_app import data
from inspector_app.data import Options
from inspector_app.proving import NotWanted, proving
from inspector_app.views.analysis import Proof
from modelcontext_core.roundtrip import check_round_trip
from tests.app.making import held


def test_the_proof_is_that_of_the_options() -> None:
    """It is the one that is remembered, made once, and all of it is done."""
    one, options = held(), Options(encoding="cl100k_base")

    making = proving(one, options)
    proof = making.wait(20)

    assert proof is data.prove(one, options)
    assert proving(one, options) is making
    assert proof is not None
    assert (proof.round_trip.ok, proof.after.encoding) == (True, "cl100k_base")


def test_the_pages_go_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a proof is made there is none, and the analysis is there for whoever asks."""
    go_on = threading.Event()
    make = data._prove

    def slowly(*given: object) -> Proof:
        go_on.wait(20)
        return make(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(data, "_prove", slowly)
    one = held()
    making = proving(one, Options())

    assert making.wait(0) is None
    assert data.part(one, Options(), 0)["blocks"]
    go_on.set()
    assert making.wait(20) is not None


def test_another_proof_ends_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the options change, the proof under the old ones ends after the step that it is at."""
    go_on = threading.Event()
    monkeypatch.setattr(data, "check_round_trip", lambda *given: go_on.wait(20) and check_round_trip(*given))
    one = held()
    first = proving(one, Options())
    second = proving(one, Options(citations=False))
    go_on.set()

    assert second.wait(20) is not None
    with pytest.raises(NotWanted):
        first.wait(20)
    assert list(one.proofs) == [Options(citations=False)]


def test_what_makes_it_fail_is_raised_where_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page says for ever that it is being checked."""

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(data, "check_round_trip", broken)

    with pytest.raises(RuntimeError, match="broken"):
        proving(held(), Options()).wait(20)
