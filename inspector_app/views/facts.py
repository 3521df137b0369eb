"""The proof line and the chips: what was proven about a conversation, in one row of facts."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from inspector_app import words
from inspector_app.views.analysis import Analysis, Proof, count_leaks
from inspector_app.views.spaces import CODES, FAMILIES

__all__ = ["chip_rows", "proof_facts", "saved"]

_DIFFERENCES_NAMED: Final = 4


def proof_facts(
    analysis: Analysis, proof: Proof | None, *, price: float, currency: str, share: float = 0.0
) -> list[dict[str, str]]:
    """Return the facts of the proof line: label, value, what stands beside it, tone, and the note that explains it.

    Without a proof, those that it gives say that they are being checked; `share` of that is done.
    """
    identifiers = {
        "key": "identifiers",
        "label": words.playground.FACT_IDENTIFIERS,
        "value": f"{len(analysis.spans):,}",
        "sub": words.playground.fact_handles(len(analysis.handles)),
    }
    if proof is None:
        return [identifiers, *_unproven(share)]
    return [
        identifiers,
        _round_trip(proof),
        _twice(proof),
        _raw(analysis, proof),
        _tokens(proof),
        {
            "key": "saved",
            "label": words.playground.FACT_SAVED,
            "value": words.playground.money(saved(proof, price), currency),
            "sub": words.playground.at_price(price, currency),
        },
    ]


def _unproven(share: float) -> list[dict[str, str]]:
    labels = {
        "round_trip": words.playground.FACT_ROUND_TRIP,
        "twice": words.playground.FACT_TWICE,
        "raw": words.playground.FACT_RAW,
        "tokens": words.playground.FACT_TOKENS,
        "saved": words.playground.FACT_SAVED,
    }
    facts = [
        {"key": key, "label": label, "value": words.playground.NOT_YET, "tone": "muted"}
        for key, label in labels.items()
    ]
    facts[0] |= {"value": words.playground.CHECKING, "sub": words.playground.share(share)}
    return facts


def saved(proof: Proof, price: float) -> float:
    """Return what one call saves, at `price` for a million tokens; negative when handles cost more than they save."""
    return (proof.before.tokens - proof.after.tokens) * price / 1_000_000


def chip_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Return a chip for each family of handles, and one for raw ids; families that do not occur stay, greyed."""
    counts: Counter[str] = Counter()
    for places in analysis.replaced.values():
        counts.update(places)
    chips: list[dict[str, Any]] = [
        {"space": name, "code": CODES[name], "name": words.common.space_name(name), "count": counts[name]}
        for name in FAMILIES
    ]
    chips.append({"space": "raw", "code": "!", "name": words.common.space_name("raw"), "count": analysis.raw_left})
    return chips


def _round_trip(proof: Proof) -> dict[str, str]:
    trip = proof.round_trip
    fact = {"key": "round_trip", "label": words.playground.FACT_ROUND_TRIP, "note": words.playground.NOTE_ROUND_TRIP}
    if not trip.ok:
        where = [(each.message, each.path, each.rule) for each in trip.differences[:_DIFFERENCES_NAMED]]
        fact["note"] = words.playground.note_differences(where, len(trip.differences))
        return {**fact, "value": f"✕ {words.playground.fact_differences(len(trip.differences))}", "tone": "fault"}
    accepted = {"sub": words.playground.fact_accepted(trip.accepted)} if trip.accepted else {}
    return {**fact, "value": f"✓ {words.playground.BYTE_IDENTICAL}", "tone": "good", **accepted}


def _twice(proof: Proof) -> dict[str, str]:
    fact = {"key": "twice", "label": words.playground.FACT_TWICE, "note": words.playground.NOTE_TWICE}
    if proof.changed_twice:
        return {**fact, "value": f"✕ {words.playground.fact_changed(proof.changed_twice)}", "tone": "fault"}
    return {**fact, "value": f"✓ {words.playground.CHANGES_NOTHING}", "tone": "good"}


def _raw(analysis: Analysis, proof: Proof) -> dict[str, str]:
    left, declared = analysis.raw_left, count_leaks(proof.declared_leaks)
    beside = (
        [words.playground.fact_in_messages(len(analysis.leaks_by_message))] if left and not analysis.discovered else []
    )
    if analysis.discovered:
        beside.append(words.playground.fact_without_rules(declared))
    if analysis.user_ids:
        beside.append(words.playground.fact_user_ids(analysis.user_ids))
    return {
        "key": "raw",
        "label": words.playground.FACT_RAW,
        "value": f"✕ {left:,}" if left else "✓ 0",
        "tone": "fault" if left else "good",
        "sub": " · ".join(beside),
        "note": words.playground.note_raw(left, analysis.user_ids, declared, analysis.discovered),
    }


def _tokens(proof: Proof) -> dict[str, str]:
    before, after = proof.before, proof.after
    return {
        "key": "tokens",
        "label": words.playground.fact_tokens(after.encoding, after.estimated),
        "value": words.playground.token_change(before.tokens, after.tokens),
        "sub": words.playground.percent(before.tokens, after.tokens),
        "note": words.playground.NOTE_ESTIMATE if after.estimated else words.playground.NOTE_TOKENS,
    }
