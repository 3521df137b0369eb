"""Words of the sandbox on the Sessions page."""

from __future__ import annotations

from typing import Final

__all__ = [
    "RULE_NOT_REACHED",
    "RULE_PASSED",
    "RULE_REPLAY",
    "TRY",
    "TRY_ANEW",
    "TRY_BACK",
    "TRY_COLUMNS",
    "TRY_COMMIT",
    "TRY_CONTEXT",
    "TRY_FIELDS",
    "TRY_FIRST",
    "TRY_KEY",
    "TRY_MODEL",
    "TRY_NOTE",
    "TRY_NO_LIMIT",
    "TRY_PRESET",
    "TRY_PRESETS",
    "TRY_PROVIDER",
    "TRY_REPEAT_NOTE",
    "TRY_RESULT",
    "rule_name",
    "too_many_events",
    "try_about",
    "try_committed",
]

TRY: Final = "Try a commit"
TRY_BACK: Final = "Back to the session"
TRY_NOTE: Final = (
    "A copy of this session in memory. Commits go to the copy alone; the opened store is never written to."
)
TRY_ANEW: Final = "Copy anew"
TRY_PRESET: Final = "What to try"
TRY_PRESETS: Final = {
    "next": "Next commit",
    "stale_revision": "Stale revision",
    "stale_binding": "Stale binding",
    "repeat": "Same again",
    "conflict": "Used key",
    "over_limit": "Over limit",
    "invalid": "Invalid",
}
TRY_KEY: Final = "Operation key"
TRY_PROVIDER: Final = "Expected provider"
TRY_MODEL: Final = "Expected model"
TRY_CONTEXT: Final = "Active context"
TRY_FIELDS: Final = {
    "session": "Expected session",
    "durable": "Expected durable",
    "source": "Expected source",
    "generation": "Expected generation",
    "events": "New events",
    "event_bytes": "Bytes of each event",
    "limit_context": "Limit: context bytes",
    "limit_events": "Limit: events",
    "limit_bytes": "Limit: bytes of events",
}
TRY_NO_LIMIT: Final = "A limit of 0 is no limit."
TRY_COMMIT: Final = "Commit to the copy"
TRY_REPEAT_NOTE: Final = "The last commit of the copy is sent once more, unchanged, as after an answer that was lost."
TRY_RESULT: Final = "Which rule answers"
TRY_FIRST: Final = "Choose what to try, change the fields as you like, and commit: the answer stands here."
TRY_COLUMNS: Final = (("Rule", "52%"), ("Answer", "48%"))
_RULES: Final = {
    "key": "1  Operation key not used before",
    "record": "2  Records valid",
    "limits": "3  Within the limits",
    "revision": "4  Expected revision is the current one",
    "binding": "5  Expected binding is the current one",
}
RULE_PASSED: Final = "passed"
RULE_NOT_REACHED: Final = "not reached"
RULE_REPLAY: Final = "the same request again: success, nothing stored"


def rule_name(rule: str) -> str:
    """A rule of a commit, with its place in the order."""
    return _RULES.get(rule, rule)


def try_about(copied: int, now: int) -> str:
    """Where the copy is."""
    return f"copied at revision {copied:,}, now at {now:,}"


def try_committed(revision: int) -> str:
    """What is said of a commit that was taken."""
    return f"✓ committed: the copy is at revision {revision:,}"


def too_many_events(most: int) -> str:
    """Why a session is not copied."""
    return f"This session has more than {most:,} events: that is too much for a copy in memory. Try a smaller one."
