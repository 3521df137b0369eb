"""Words of the Streams page."""

from __future__ import annotations

from typing import Final

from inspector_app.words.common import plural
from modelcontext_core.simulate import HELD_BECAUSE

__all__ = [
    "ANSWER",
    "ASSUMED",
    "ASSUMED_HELP",
    "ASSUMED_SHORT",
    "AT_END",
    "BACK",
    "CAME_IN",
    "CHANNELS",
    "CHECK",
    "CHECKED_DECODER",
    "CHUNKING",
    "CHUNKINGS",
    "CONVERSATION",
    "DECODERS",
    "DECODER_HELP",
    "DROPPED",
    "EMPTY",
    "EMPTY_TITLE",
    "END",
    "FACT_BYTES",
    "FACT_CHARACTERS",
    "FACT_DELAY",
    "FACT_HELD",
    "FACT_INTERLEAVED",
    "FACT_MULTI",
    "FACT_SINGLE",
    "FAILED_HINT",
    "FAILED_TITLE",
    "GO_TO_CUT",
    "HELD_BACK",
    "HOME",
    "LONGEST_WAIT",
    "MADE_BADGE",
    "MAKE",
    "MAKE_HINT",
    "NEXT_DROPPED",
    "NEXT_FOUND",
    "NEXT_HELD",
    "NEXT_REPLACED",
    "NOTHING_CAME",
    "NOTHING_HELD",
    "NOTHING_OUT",
    "NOTHING_TO_STREAM",
    "NOT_CHECKED",
    "ON",
    "OPTIONS",
    "PAGE",
    "PAUSE",
    "PLAY",
    "READER_SEES",
    "REGION",
    "REVERT",
    "SEARCH",
    "SEARCH_HINT",
    "SEED",
    "SEED_HELP",
    "SIZE",
    "SPEED",
    "SPEEDS",
    "STAGES",
    "STEP",
    "STOP",
    "UNRESOLVED",
    "UNTIL",
    "WENT_OUT",
    "WHAT",
    "WHY",
    "about",
    "answer_choice",
    "blanks",
    "characters",
    "chunk_line",
    "conversation_choice",
    "equal",
    "fact_delay",
    "found",
    "held_line",
    "left_out",
    "limit",
    "of_steps",
    "seed_line",
    "so_far",
    "speed_choice",
    "steps_wait",
    "timeline_held",
    "timeline_hover",
    "timeline_sent",
    "tried",
    "whose_handles",
]
PAGE: Final = "Streams"
CHUNKING: Final = "How the stream is cut"
CHUNKINGS: Final = {
    "captured": "As captured",
    "random": "Random, 3 to 11 characters",
    "size": "Pieces of one size",
    "characters": "One character at a time",
    "token": "About a token (a rule)",
    "words": "Words",
    "worst": "Worst case: inside every handle",
    "places": "At the cut that failed",
}
SEED: Final = "Seed"
SEED_HELP: Final = "Of the random cuts of the check."
SIZE: Final = "Size in characters"
OPTIONS: Final = "Options"
WHAT: Final = "What is streamed"
CONVERSATION: Final = "Conversation"
SEARCH: Final = "Search in this stream"
SEARCH_HINT: Final = "Search"
CHECK: Final = "Check every cut"
STOP: Final = "Stop"
CHECKED_DECODER: Final = "Decoder that is checked"
DECODERS: Final = {
    "own": "The decoder of this package",
    "broken": "A broken example: forgets word boundaries",
}
DECODER_HELP: Final = "Your own decoder is checked by the command: stream-check --decoder module:factory"
ASSUMED: Final = "Assumed speed, chunks per second"
ASSUMED_HELP: Final = "For streams without recorded times. 0 counts steps; seconds are then labelled as assumed."
SPEED: Final = "Speed of playing"
SPEEDS: Final = (1, 2, 5, 25, 100)
PLAY: Final = "Play"
PAUSE: Final = "Pause"
HOME: Final = "First"
END: Final = "Last"
BACK: Final = "Back"
ON: Final = "Next"
STEP: Final = "Step"
NEXT_HELD: Final = "Next held"
NEXT_REPLACED: Final = "Next replaced"
NEXT_DROPPED: Final = "Next dropped"
NEXT_FOUND: Final = "Next found"
MAKE: Final = "As a model with handles would have streamed it"
MAKE_HINT: Final = "This capture holds durable ids and no handles."
REVERT: Final = "As it was captured"
MADE_BADGE: Final = "made: with handles"
NOTHING_TO_STREAM: Final = (
    "There is no answer of a model and no captured stream here. Open a trace that holds one, paste an answer, or "
    "choose another conversation of this trace under Options."
)
EMPTY_TITLE: Final = "See what a stream decoder does between two chunks"
EMPTY: Final = (
    "Open a captured stream or any trace, or paste a model's answer, and step through it: what came in, what is held "
    "back and why, what went out. Then prove every cut of it."
)

FACT_SINGLE: Final = "All single cuts"
FACT_MULTI: Final = "Random multi-cuts"
FACT_CHARACTERS: Final = "One character at a time"
FACT_INTERLEAVED: Final = "Interleaved channels"
FACT_BYTES: Final = "Cuts of the bytes"
FACT_HELD: Final = "Most held at once"
FACT_DELAY: Final = "Added delay"
LONGEST_WAIT: Final = "longest wait"
ASSUMED_SHORT: Final = "assumed speed"
NOT_CHECKED: Final = "not checked"
FAILED_TITLE: Final = "A cut changes what the reader gets"
FAILED_HINT: Final = "The smallest that was found: feed this, and it streams something else than the whole text gives."
GO_TO_CUT: Final = "Show this cut in the stream"

CAME_IN: Final = "Came in"
HELD_BACK: Final = "Held back"
WENT_OUT: Final = "Went out"
NOTHING_CAME: Final = "The stream has ended: what was held comes out."
NOTHING_HELD: Final = "Nothing: all that came in is settled."
NOTHING_OUT: Final = "Nothing yet at this step."
AT_END: Final = "end of the stream"
DROPPED: Final = "dropped"
UNRESOLVED: Final = "unresolved: the call must not run"
ANSWER: Final = ("Model wrote", "chunk by chunk")
READER_SEES: Final = "Reader sees"
UNTIL: Final = "…"
REGION: Final = "What the model wrote, chunk by chunk, and what the reader sees so far."
CHANNELS: Final = {"text": "text", "reasoning": "reasoning", "arguments": "arguments"}
STAGES: Final = {
    "tag": "citation tag",
    "handle": "handle",
    "uri": "address",
    "word": "short handle",
    "arguments": "arguments",
}
WHY: Final = HELD_BECAUSE


def answer_choice(message: int) -> str:
    """One entry of the choice of what is streamed; -1 is the capture."""
    return "The captured stream" if message < 0 else f"The answer in message {message}"


def conversation_choice(number: int, messages: int) -> str:
    """One entry of the choice of the conversation."""
    return f"Conversation {number:,} · {messages:,} {plural(messages, 'message')}"


def about(message: int, length: int, conversation: int = 0) -> str:
    """What is streamed, and how long it is; of a trace with several, which conversation."""
    what = "captured stream" if message < 0 else f"answer in message {message}"
    return f"{f'conversation {conversation:,} · ' if conversation else ''}{what} · {characters(length)}"


def found(steps: int) -> str:
    """Beside the number of steps: what the search found."""
    return f"found in {steps:,} {plural(steps, 'step')}" if steps else "not found"


def whose_handles(known: int, of_trace: bool) -> str:
    """Which registry restores the handles: said with every step."""
    whose = "of the trace" if of_trace else "made for this text"
    return f"so far, with {known:,} {plural(known, 'handle')} {whose}"


def characters(number: int) -> str:
    """A number of characters."""
    return f"{number:,} {plural(number, 'character')}"


def speed_choice(per_second: int) -> str:
    """One entry of the choice of the speed."""
    return f"{per_second} {plural(per_second, 'step')} a second"


def of_steps(number: int) -> str:
    """How many steps there are, behind the field of the step."""
    return f"of {number:,}"


def equal(number: int, total: int) -> str:
    """How many of how many cuts gave the same."""
    return f"{number:,} of {total:,} equal"


def so_far(number: int, total: int) -> str:
    """How many cuts were equal while the check runs, or where it was stopped."""
    return f"{number:,} of {total:,} so far"


def tried(total: int, possible: int) -> str:
    """What stands beside a count when not every cut is tried."""
    return f"of {possible:,} possible" if possible > total else ""


def seed_line(seed: int) -> str:
    """The seed of random cuts."""
    return f"seed {seed}"


def limit(number: int, calls: bool) -> str:
    """The most that may be held. Tool calls, which are held until they are whole, do not count."""
    return f"of text, limit {number}" if calls else f"limit {number}"


def fact_delay(seconds: float, steps: int, timed: bool) -> str:
    """The longest wait, in seconds where times are known."""
    return f"{seconds:.2f} s" if timed else steps_wait(steps)


def steps_wait(number: int) -> str:
    """A wait in steps."""
    return f"{number:,} {plural(number, 'step')}"


def chunk_line(number: int, length: int, seconds: float, timed: bool, assumed: bool) -> str:
    """What stands beside "Came in"."""
    at = f" · at {seconds:.2f} s{' (assumed)' if assumed else ''}" if timed else ""
    return f"chunk {number:,} · {characters(length)}{at}"


def held_line(length: int, wait: float, timed: bool) -> str:
    """What stands beside "Held back"."""
    if not length:
        return characters(0)
    if not wait:
        return f"{characters(length)} · since this step"
    return f"{characters(length)} · waiting {fact_delay(wait, int(wait), timed)}"


def blanks(spaces: int, lines: int) -> str:
    """What stands for a chunk of which one would see nothing."""
    told = [f"{spaces} {plural(spaces, 'space')}"] if spaces else []
    if lines:
        told.append(f"{lines} line {plural(lines, 'end')}")
    return ", ".join(told)


def left_out(number: int) -> str:
    """What is not shown of a long text."""
    return f"… {characters(number)} …"


def timeline_sent(most: int) -> str:
    """The label of the bars that go up."""
    return f"sent on, to {most:,}"


def timeline_held(most: int) -> str:
    """The label of the bars that go down."""
    return f"held, to {most:,}"


def timeline_hover(first: int, last: int, sent: int, held: int) -> str:
    """What a bar says about itself."""
    steps = f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"
    return f"{steps}<br>sent on {sent:,}<br>held {held:,}"
