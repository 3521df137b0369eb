"""Words of the Leaks page."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import OurName, bytes_text, plural
from inspector_app.words.opening import BAD_LINK, LINK_TITLE, UNKNOWN_SAMPLE

PAGE: Final = "Leaks"
EMPTY_TITLE: Final = "Find the place that masking forgot"
EMPTY_TEXT: Final = (
    "Open one trace, a folder of thousands, or a report that the command leaks --report saved. Every raw identifier "
    "that still reaches the model is counted where it stands, with the rule that would replace it."
)
UPLOAD: Final = "Traces, or a saved report"
PATH: Final = "Path"
PATH_HINT: Final = "Or a file, a folder, or a saved report on this machine"
OPEN_CURRENT: Final = "Use the trace that is open in the Playground"
UPLOADED: Final = "uploaded files"
NO_SUCH_PATH: Final = "There is no such file or folder on this machine, or it may not be read."
NOTHING_IN_IT: Final = "There is no file in this folder."
BAD_REPORT: Final = "This report is damaged, or of another version of this tool."
GONE: Final = "What this link opened is gone: uploads are kept for 15 minutes. Open it again."
SCANNING: Final = "Scanning"
SCANNING_FIRST: Final = "Every message is encoded as the model would get it, and searched for raw ids."
MEASURING: Final = "measuring what each rule would change"
STOP: Final = "Stop"
STOPPED: Final = "Nothing of it was kept. Open the same traces again to scan them."
PROBLEM_TITLES: Final = {
    BAD_LINK: LINK_TITLE,
    UNKNOWN_SAMPLE: LINK_TITLE,
    GONE: "No longer here",
    STOPPED: "The scan was stopped",
}
LINK: Final = "Link to this view"
LINK_PRIVATE: Final = "Link to this view (uploaded traces are no part of a link)"
VIEW: Final = "What is shown"
VIEWS: Final = {"heat": "Heat map", "coverage": "Coverage", "along": "Along the messages", "top": "Top ids"}
KNOWN: Final = "Which raw ids"
KNOWNS: Final = {"both": "Both", "unregistered": "Unregistered", "registered": "Registered"}
FIELDS: Final = {
    "content": "content",
    "reasoning": "reasoning",
    "arguments": "arguments",
    "parts": "parts",
    "schema": "schema",
}
HEAT_MAP: Final = {
    "title": "Where raw ids are left",
    "hint": "unregistered, +known · click a cell",
    "producer": "Tool or role",
    "all": "all",
    "levels": ["1–10", "11–40", "41–150", "over 150"],
    "missed": "known to the registry, missed by the codec",
}
WHAT_TO_DO: Final = "What to do"
WHAT_TO_DO_HINT: Final = "effect measured on the loaded traces"
APPLY: Final = "Apply"
NOTHING_TO_DO: Final = "Nothing: no raw id is left that a rule could replace."
SAVED_ONLY: Final = "of a saved report: to apply it, open the traces"
RESET: Final = "Take applied rules back"
NO_LEAKS: Final = (
    "No raw id is left. What the user typed is left on purpose and not counted. Coverage shows where was searched."
)
FACT_LEFT: Final = "Raw ids left"
FACT_UNREGISTERED: Final = "Unregistered"
FACT_MISSED: Final = "Known, missed by the codec"
FACT_DISTINCT: Final = "Distinct ids"
FACT_BASELINE: Final = "Against the baseline"
FACT_SCANNED: Final = "Scanned"
NO_BASELINE: Final = "none loaded"
ALL_FINDINGS: Final = "All findings"
SHOW_ALL: Final = "Show all"
NOTHING_HERE: Final = "No finding is of this kind here. Choose Both, or another cell, to see the rest."
NOTHING_FOUND: Final = "No finding that is listed holds what you search for. Clear the search to see all."
FINDING_COLUMNS: Final = {
    "trace": "Trace",
    "message": "Msg",
    "field": "Field",
    "identifier": "Identifier",
    "place": "Place",
    "known": "Known",
}
MESSAGE_TITLES: Final = ("Durable", "what your application stores", "Handle", "as the model reads it")
MESSAGE_GONE: Final = "The message cannot be shown: its trace is not at hand. Open the traces themselves to see it."
IN_TOOLS: Final = "This stands in a tool definition, not in a message."
COVERAGE_TITLE: Final = "Coverage"
COVERAGE_HINT: Final = "every position of a conversation, and what becomes of identifiers there"
COVERAGE_COLUMNS: Final = (
    ("Position", "12%"),
    ("Encoded", "15%"),
    ("Restored", "19%"),
    ("Scanned", "14%"),
    ("Raw ids left", "10%"),
    ("Left alone on purpose", "30%"),
)
POSITIONS: Final = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "reasoning": "reasoning",
    "arguments": "arguments",
    "results": "results",
    "tool_schemas": "tool schemas",
    "citations": "citations",
    "file_names": "file names",
    "metadata": "metadata",
}
RESTORED: Final = {
    "system": "not needed",
    "user": "not needed",
    "assistant": "in every answer",
    "reasoning": "in every answer",
    "arguments": "before the call runs",
    "results": "not needed: stored as it was",
    "tool_schemas": "not needed",
    "citations": "as canonical tags",
    "file_names": "not needed",
    "metadata": "not needed",
}
NOT_SENT: Final = "not sent to the model"
LEFT_AS_IT_IS: Final = "left as it is"
ON_PURPOSE: Final = {
    "user": "what the user typed",
    "reasoning": "signed reasoning",
    "results": "external and opaque tools",
    "citations": "also counted with their texts",
    "file_names": "files and pictures are opaque",
    "metadata": "not sent to the model",
}
ALONG_AXIS: Final = "Message"
COUNT_AXIS: Final = "Raw ids"
TOP_NOTE: Final = "Shortened values. Counted exactly for up to 10,000 different ids, else among a sample of them."
DETECTORS: Final = "Detectors"
DETECTOR_KINDS: Final = "What counts as an identifier"
DETECTOR_NAMES: Final = {
    "uuid": "UUID",
    "uuid_hex": "UUID without hyphens",
    "uuid_braced": "UUID in braces",
    "uuid_urn": "UUID as URN",
    "resource": "Stored reference",
    "storage": "Storage address",
    "uri": "Durable URI",
    "url": "URL",
}
PATTERN: Final = "Own pattern"
PATTERN_HINT: Final = "Own pattern, as in ticket=TCK-[0-9]+"
BAD_PATTERN: Final = "This pattern cannot be used: it needs a name, an equals sign and a valid expression."
USE_DETECTORS: Final = "Use these"
PACK: Final = "Pack"
PACK_UPLOAD: Final = "Count under a pack of your own (TOML)"
COMPARE_UPLOAD: Final = "Compare with another pack (TOML)"
BAD_PACK: Final = "This file is no valid pack; the Policies page says what is wrong with it."
COMPARED: Final = "Two packs on the same traces"
COMPARE_COLUMNS: Final = (("Tool or role", "52%"), ("This pack", "24%"), ("The other", "24%"))
EXPORT: Final = "Export"
EXPORT_CSV: Final = "Rows as CSV"
EXPORT_REPORT: Final = "Report as JSON"
EXPORT_SARIF: Final = "SARIF 2.1.0"
EXPORT_PACK: Final = "Pack as TOML"
EXPORT_BASELINE: Final = "Baseline"
BASELINE_UPLOAD: Final = "A baseline to compare with"
BAD_BASELINE: Final = "This file is no baseline."
ACCEPT: Final = "Accept this place"
ACCEPT_REASON: Final = "Reason"
ACCEPT_REASON_HINT: Final = "Why it may stay (needed)"
ACCEPT_UNTIL: Final = "Until (empty: for good)"
NEEDS_REASON: Final = "Accepting needs a reason."
CLOSE: Final = "Close"
WHY_CODEC: Final = "known ids were left: a fault of the codec, or a place without a rule"
_WHY: Final = {
    "codec": WHY_CODEC,
    "opaque": "external or undeclared result, left as it is",
    "signed": "signed reasoning is never edited",
    "inside_url": "inside a URL, which is one unit",
    "schema": "in a tool definition: change it where it is made",
    "unknown": "no rule reaches this text",
}
_SURE: Final = {"high": "sure", "medium": "fairly sure", "low": "a guess"}


def about(files: int, traces: int, messages: int) -> str:
    """What was scanned."""
    return (
        f"{files:,} {plural(files, 'file')} · {traces:,} {plural(traces, 'trace')}"
        f" · {messages:,} {plural(messages, 'message')}"
    )


def unreadable(files: int) -> str:
    """A badge for files that could not be read."""
    return f"! {files:,} {plural(files, 'file')} could not be read" if files else ""


def in_traces(traces: int) -> str:
    """Beside the number of raw ids."""
    return f"in {traces:,} {plural(traces, 'trace')}"


def producers(number: int) -> str:
    """Beside the number of unregistered ids."""
    return f"{number:,} {plural(number, 'producer')}"


def places(number: int) -> str:
    """Beside the number of missed ids."""
    return f"{number:,} {plural(number, 'place')}"


def distinct(number: int, more: bool) -> str:
    """How many different ids; more than a report holds are not counted exactly."""
    return f"over {number:,}" if more else f"{number:,}"


def against(new: int) -> str:
    """New leaks."""
    return f"! +{new:,} new" if new else "✓ 0 new"


def gone(number: int) -> str:
    """Entries of the baseline without a leak."""
    return f"−{number:,} gone"


def scanned(size: int) -> str:
    """How much was read."""
    return bytes_text(size)


def skipped(kinds: int) -> str:
    """How many kinds of notices there are."""
    return f"{kinds:,} {plural(kinds, 'kind')} of notice" if kinds else "nothing skipped"


def findings(shown: int, total: int, traces: int) -> str:
    """Above the list."""
    among = f"in {traces:,} {plural(traces, 'trace')}"
    found = f"{total:,} {plural(total, 'finding')}"
    return f"{found} {among}" if shown >= total else f"{found} · {shown:,} listed, {among}"


def rule_line(rule: str, sure: OurName) -> str:
    """A suggestion in a line of a component: its rule, and how sure it is."""
    return f"{rule} · {_SURE.get(sure, sure)}"


def why(name: OurName) -> str:
    """Why nothing helps."""
    return _WHY.get(name, name)


def done(megabytes: float, total: float) -> str:
    """Beside the progress."""
    return f"{megabytes:,.1f} of {total:,.1f} MB"


def applied(number: int) -> str:
    """How many suggestions the pack holds."""
    return f"{number} applied"


def known(yes: bool) -> str:
    """Whether the registry knows an id."""
    return "yes" if yes else "no"


def texts(number: int, characters: int) -> str:
    """How much was scanned at a position."""
    return f"{number:,} {plural(number, 'text')} · {bytes_text(characters)}" if number else "0"


def replaced(number: int) -> str:
    """How many identifiers were replaced at a position."""
    return f"{number:,} replaced"


def left_alone(number: int) -> str:
    """How many were left on purpose, or skipped."""
    return f"{number:,}"
