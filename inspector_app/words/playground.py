"""Words of the Playground: lines of facts, options, downloads, handles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from inspector_app.words.common import bytes_text, plural

__all__ = [
    "BYTE_IDENTICAL",
    "CHANGES_NOTHING",
    "CHECKING",
    "CITATIONS",
    "CLOSE",
    "COPY_DIAGNOSTICS",
    "COPY_LINK",
    "COPY_LINK_PRIVATE",
    "CURRENCIES",
    "CURRENCY",
    "DOWNLOAD",
    "ENCODING",
    "FACT_IDENTIFIERS",
    "FACT_RAW",
    "FACT_ROUND_TRIP",
    "FACT_SAVED",
    "FACT_TOKENS",
    "FACT_TWICE",
    "FILE_ENCODED",
    "FILE_HANDLES",
    "FILE_REPORT",
    "FILE_TRACE",
    "HANDLES_EMPTY",
    "HANDLES_HINT",
    "NOTE_ESTIMATE",
    "NOTE_ROUND_TRIP",
    "NOTE_TOKENS",
    "NOTE_TWICE",
    "NOTHING_FOUND",
    "NOT_YET",
    "NO_HANDLE_FOUND",
    "NO_RULES",
    "OPTIONS",
    "PACK",
    "PACKS",
    "PACK_HELP",
    "PLAIN_AS_RESULT",
    "PRICE",
    "REPORT_TITLE",
    "RULES_TITLE",
    "RULE_EXAMPLE",
    "RULE_KEY",
    "RULE_ON",
    "RULE_SPACE",
    "RULE_TOOL",
    "RULE_WHERE",
    "RULE_WHY",
    "SAVE_ENCODED",
    "SAVE_HANDLES",
    "SAVE_REPORT",
    "SAVE_TRACE",
    "SAVE_TRACE_NOT",
    "SEARCH",
    "SEARCH_HINT",
    "TITLES_MESSAGES",
    "VIEW",
    "VIEWS",
    "about_source",
    "at_price",
    "fact_accepted",
    "fact_changed",
    "fact_differences",
    "fact_handles",
    "fact_in_messages",
    "fact_tokens",
    "fact_user_ids",
    "fact_without_rules",
    "found",
    "go_to_message",
    "money",
    "note_differences",
    "note_raw",
    "notices_badge",
    "percent",
    "read_as_text",
    "rule_reason",
    "rule_where",
    "share",
    "token_change",
]
CLOSE: Final = "Close trace"
COPY_LINK: Final = "Link to this view"
COPY_LINK_PRIVATE: Final = "Link to these options (a pasted or uploaded trace is no part of a link)"
COPY_DIAGNOSTICS: Final = "Diagnostics, without any text of the trace"


def about_source(format_title: str, messages: int, size: int) -> str:
    """Format, messages and size of the open trace."""
    return f"{format_title} · {messages:,} {plural(messages, 'message')} · {bytes_text(size)}"


def notices_badge(damaged: int, other: int, harmless: int) -> str:
    """What stands beside the name of a trace that was not read as it stands; "" when it was.

    It warns, with a sign, unless nothing but what is `harmless` was noticed.
    """
    total = damaged + other + harmless
    text = f"{total:,} {plural(total, 'notice')}"
    if damaged:
        return f"! not fully read, {text}"
    return f"! {text}" if other else text if total else ""


def read_as_text(as_result: bool) -> str:
    """What is said of a source in which no trace was recognised."""
    role = "one tool result" if as_result else "one message of the user"
    return f"No trace format was recognised, so this is read as plain text: {role}. Options has the others."


SEARCH: Final = "Search"
SEARCH_HINT: Final = "Search in this trace"
OPTIONS: Final = "Options"
DOWNLOAD: Final = "Download"
VIEW: Final = "View"
VIEWS: Final = {
    "messages": "Messages",
    "handles": "Handles",
    "decode": "Decode",
    "notices": "Notices",
    "conversations": "Conversations",
}
TITLES_MESSAGES: Final = ("Durable", "what your application stores", "Handle", "what the model reads")
FACT_IDENTIFIERS: Final = "Identifiers replaced"
FACT_ROUND_TRIP: Final = "Round trip"
FACT_TWICE: Final = "Encoding twice"
FACT_RAW: Final = "Raw ids left"
FACT_TOKENS: Final = "Tokens"
FACT_SAVED: Final = "Saved per call"
CHECKING: Final = "checking"
NOT_YET: Final = "…"
BYTE_IDENTICAL: Final = "byte-identical"
CHANGES_NOTHING: Final = "changes nothing"
NOTE_ROUND_TRIP: Final = (
    "Every handle in the encoded text was found again, put back, and compared with what came in; "
    "arguments go through the decoder of tool calls."
)
NOTE_TWICE: Final = "The encoded conversation was encoded once more: nothing may change and no new handle may be made."
NOTE_TOKENS: Final = "Counted on this machine, over all texts, reasoning and arguments of the conversation."
NOTE_ESTIMATE: Final = "An estimate: the vocabulary of this encoding is not installed (extra “tokens”)."


def share(part: float) -> str:
    """How much of something is done, of 1."""
    return f"{part * 100:.0f} %"


def fact_handles(number: int) -> str:
    """How many handles the replacements share."""
    return f"{number:,} {plural(number, 'handle')}"


def fact_differences(number: int) -> str:
    """How many places do not come back as they were."""
    return f"{number:,} {plural(number, 'place')} differ" + ("s" if number == 1 else "")


def fact_accepted(number: int) -> str:
    """How many differences are allowed exceptions."""
    return f"{number:,} accepted {plural(number, 'difference')}"


def fact_changed(number: int) -> str:
    """How many messages a second encoding changes."""
    return f"changes {number:,} {plural(number, 'message')}"


def fact_in_messages(number: int) -> str:
    """In how many messages raw ids are left."""
    return f"in {number:,} {plural(number, 'message')}"


def fact_without_rules(number: int) -> str:
    """How many raw ids are left when discovered rules do not count."""
    return f"with the discovered rules ({number:,} without)"


def fact_user_ids(number: int) -> str:
    """How many raw ids the user typed."""
    return f"{number:,} in user text"


def note_raw(left: int, user: int, declared: int, discovered: bool) -> str:
    """Why raw ids are left."""
    text = f"{left:,} raw {plural(left, 'id reaches', 'ids reach')} the model in tool calls, results and answers."
    if discovered:
        text += f" Under the declared pack alone it would be {declared:,}; only that number counts in reports."
    if user:
        text += (
            f" {user:,} more {plural(user, 'stands', 'stand')} in text that the user typed: left on purpose, "
            "because what a person writes is passed on as it is."
        )
    return text


_RULES: Final = {
    "arguments": "decoding the call does not give its arguments back",
    "text": "putting the handles back does not give the text",
    "identity": "a handle stands where another identity was",
}


def note_differences(where: Sequence[tuple[int, str, str]], number: int) -> str:
    """Which places do not come back: message, path of the text, and the rule that failed."""
    named = "; ".join(f"message {message}, {path}: {_RULES.get(rule, rule)}" for message, path, rule in where)
    more = number - len(where)
    return f"{named}." + (f" {more:,} more." if more else "")


def fact_tokens(encoding: str, estimated: bool) -> str:
    """The label of the token fact; `encoding` is one of ours."""
    return f"Tokens ({'estimate' if estimated else encoding})"


def token_change(before: int, after: int) -> str:
    """Tokens before and after."""
    return f"{before:,} → {after:,}"


def percent(before: int, after: int) -> str:
    """The change in percent, with a real minus sign."""
    if not before:
        return "±0 %"
    change = (after - before) / before * 100
    return f"{'−' if change < 0 else '+' if change > 0 else '±'}{abs(change):.1f} %"


def money(amount: float, currency: str) -> str:
    """An amount with its currency sign, with as many places as it needs to be seen."""
    sign = "−" if amount < 0 else ""
    places = 2 if abs(amount) >= 1 or amount == 0 else 4 if abs(amount) >= 0.0001 else 6
    return f"{sign}{currency}{abs(amount):.{places}f}"


def at_price(price: float, currency: str) -> str:
    """The price that the saving is counted at."""
    return f"at {currency}{price:,.2f} / 1M"


CITATIONS: Final = "Citations in answers"
PACK: Final = "Rules"
PACKS: Final = {"auto": "Built-in and discovered", "builtin": "Built-in only", "own": "Own pack"}
PACK_HELP: Final = (
    "The built-in pack knows its own tools. For a trace whose tools nobody declared, rules can be discovered from the "
    "values in it. Reports and checks count under the declared pack only."
)
RULES_TITLE: Final = "Discovered rules"
NO_RULES: Final = "No rule was discovered: every tool of this trace is declared, or its values hold no identifier."
PLAIN_AS_RESULT: Final = "Read plain text as a tool result"
PRICE: Final = "Price of a million input tokens"
CURRENCY: Final = "Currency"
CURRENCIES: Final = ("€", "$", "£")
ENCODING: Final = "Tokenizer"
RULE_ON: Final = "Use"
RULE_TOOL: Final = "Tool"
RULE_WHERE: Final = "Where"
RULE_SPACE: Final = "Space"
RULE_KEY: Final = "Key"
RULE_WHY: Final = "Why"
RULE_EXAMPLE: Final = "Example"
_RULE_KINDS: Final = {"uuid": ("UUID", "UUIDs"), "url": ("link", "links"), "seen": ("known value", "known values")}


def rule_where(where: str, has_key: bool) -> str:
    """Where a discovered rule applies."""
    if where == "arguments":
        return "argument"
    return "key of results" if has_key else "anywhere in results"


def rule_reason(kind: str, count: int, distinct: int, strings: int) -> str:
    """Why a rule was discovered: what was found under the key."""
    one, many = _RULE_KINDS.get(kind, (kind, kind))
    return f"{count:,} {plural(count, one, many)} in {strings:,} {plural(strings, 'string')}, {distinct:,} different"


SAVE_ENCODED: Final = "Encoded messages (JSON)"
SAVE_HANDLES: Final = "Handle table (CSV)"
SAVE_REPORT: Final = "Report (one HTML file)"
SAVE_TRACE: Final = "The trace with handles for ids"
FILE_ENCODED: Final = "encoded-messages.json"
FILE_HANDLES: Final = "handles.csv"
FILE_REPORT: Final = "report.html"
FILE_TRACE: Final = "trace-with-handles.json"
SAVE_TRACE_NOT: Final = "This format cannot be written back: its texts have no place of their own in the source."
REPORT_TITLE: Final = "Conversation as the model sees it"
HANDLES_EMPTY: Final = (
    "No identifier was replaced in this trace. If its tools return ids, look at the rules under Options."
)
NO_HANDLE_FOUND: Final = "No handle and no durable id holds what you search for."
NOTHING_FOUND: Final = "No message holds what you search for. Clear the search to see all."
HANDLES_HINT: Final = "Choose a row to see the handle in its first message."


def go_to_message(number: int) -> str:
    """The button that shows a message."""
    return f"Show message {number}"


def found(hits: int, messages: int) -> str:
    """How often a search matched."""
    return f"{hits:,} found in {messages:,} {plural(messages, 'message')}" if hits else "0 found"
