"""One JSON text as a value: is it valid, what does a string literal mean, are two texts the same value.

No limits of a parser apply: a lone surrogate, `1e400`, an integer of any size or a depth of 100,000 is as good as any
other JSON (RFC 8259). Nothing recurses, and everything is linear in the text (`same_value` sorts members, too).
"""

from __future__ import annotations

import json
import re
from typing import Final

import orjson

__all__ = [
    "BODY",
    "SPACE",
    "escape_surrogates",
    "is_valid",
    "quote",
    "same_value",
    "unquote",
    "unwrap_array",
    "unwrap_object",
]

# Possessive quantifiers throughout: no pattern can back off, so none can be slow.
SPACE: Final = r"[ \t\n\r]*+"
# A string of valid JSON after its opening quote. `re` runs over `[^"]` many times faster than over `[^"\\]`, so quotes
# are looked at one by one: after one backslash it goes on, after none it ends, after several only counting tells.
# The first alternative is that of nearly all strings, whose first quote ends them.
BODY: Final = r'(?>[^"]*+"(?<!\\")|(?:[^"]*+"(?<=[^\\]\\"))*+(?:[^"]*+"(?<!\\")|[^"\\]*+(?:\\.[^"\\]*+)*+"))'
_NUMBER: Final = r"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+"
_STRICT_STRING: Final = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"'


# --- validity ---------------------------------------------------------------------------------------------------------

_MAY_BEGIN: Final = re.compile(rf'{SPACE}["{{\[\-0-9tfn]')
_VALUE: Final = re.compile(rf"{SPACE}(?:([\[{{])|{_STRICT_STRING}|{_NUMBER}|true|false|null)")
_KEY: Final = re.compile(rf"{SPACE}{_STRICT_STRING}{SPACE}:")
_AFTER: Final = re.compile(rf"{SPACE}([,\]}}])")
_END: Final = re.compile(rf"{SPACE}\Z")

# What orjson says of text that no reader accepts. Any other complaint (lone surrogates, depth beyond 1,024, numbers
# beyond a double, or a message of a later release) may be a limit of its own: then our own validator decides.
_CERTAIN: Final = ("unexpected ", "trailing comma", "no digit", "number with leading zero", "invalid escape")


def is_valid(text: str) -> bool:
    """Whether the whole text is one JSON value as RFC 8259 has it.

    NaN, Infinity and a byte order mark are not. Lone surrogates (raw or escaped), numbers of any size, duplicate keys
    and any depth are.
    """
    if not _MAY_BEGIN.match(text):
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return not error.msg.startswith(_CERTAIN) and _is_valid_without_limits(text)
    return True


def _is_valid_without_limits(text: str) -> bool:
    """The same answer for what orjson refuses: one pass, the open containers on a list instead of the call stack."""
    closers: list[str] = []
    position = 0
    while True:
        value = _VALUE.match(text, position)
        if value is None:
            return False
        position = value.end()
        if opener := value[1]:
            closer = "}" if opener == "{" else "]"
            after = _AFTER.match(text, position)
            if after is None or after[1] != closer:  # not empty
                closers.append(closer)
                if opener == "[":
                    continue
                key = _KEY.match(text, position)
                if key is None:
                    return False
                position = key.end()
                continue
            position = after.end()
        while closers:
            after = _AFTER.match(text, position)
            if after is None:
                return False
            position = after.end()
            if after[1] == ",":
                break
            if after[1] != closers.pop():
                return False
        else:
            return _END.match(text, position) is not None
        if closers[-1] == "}":
            key = _KEY.match(text, position)
            if key is None:
                return False
            position = key.end()


# --- one string -------------------------------------------------------------------------------------------------------

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_decode = json.JSONDecoder().decode
_encode = json.JSONEncoder(ensure_ascii=False).encode


def unquote(literal: str) -> str:
    """The value of a JSON string literal, given with its quotes. Lone surrogates stay what they are."""
    if "\\" not in literal:
        return literal[1:-1]
    value: str = _decode(literal)
    return value


def quote(value: str) -> str:
    """A JSON string literal with no escape that is not needed.

    Escaped are the quote, the backslash, control characters (short forms where JSON has them, else lower-case
    `\\u001f`) and surrogates, since text that holds one cannot be written as UTF-8. Two surrogate code points that make
    a pair read back as the one character they mean, as JSON has no way to keep them apart.
    """
    literal = _encode(value)
    return literal if literal.isascii() else escape_surrogates(literal)


def escape_surrogates(text: str) -> str:
    """JSON text with every raw surrogate (they can only stand in strings) written as an escape."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# --- comparing and unwrapping -----------------------------------------------------------------------------------------

_VALUE_TOKEN: Final = re.compile(rf'"{BODY}({SPACE}:)?+|[\[{{\]}}]|[^\s"\[\]{{}}:,]++', re.DOTALL)
_NUMBER_PARTS: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]\+?(-?)0*([0-9]*))?")
_MAX_EXPONENT_DIGITS: Final = 18


def same_value(left: str, right: str) -> bool:
    """Whether two texts are the same JSON value: order of members, spacing and spelling do not matter, the last of
    duplicate keys counts, and numbers are compared exactly (`1.0` is `1`; 10^400 is no infinity).

    Text that is not valid JSON equals only itself.
    """
    if left == right:
        return True
    if not (is_valid(left) and is_valid(right)):
        return False
    try:
        return bool(_decode_exactly(left) == _decode_exactly(right))
    except RecursionError:
        known: dict[tuple[object, ...], int] = {}
        return _value_number(left, known) == _value_number(right, known)


def _exact(word: str) -> bytes:
    """A number without its spelling: sign, digits and power of ten. Bytes, since they equal no other JSON value (1 is
    True in Python), and no arithmetic on the digits, so that size is no matter."""
    match = _NUMBER_PARTS.match(word)
    if match is None:
        raise ValueError(f"no number: {word}")
    sign, whole, fraction, exponent_sign, exponent = match.groups(default="")
    significant = (whole + fraction).lstrip("0")
    digits = significant.rstrip("0")
    if not digits:
        return b"0"
    if len(exponent) > _MAX_EXPONENT_DIGITS:  # beyond any use: compared as it is written
        return word.lower().encode()
    power = len(significant) - len(digits) - len(fraction) + int(f"{exponent_sign}{exponent or 0}")
    return f"{sign}{digits}e{power}".encode()


_decode_exactly = json.JSONDecoder(parse_int=_exact, parse_float=_exact).decode


def _value_number(text: str, known: dict[tuple[object, ...], int]) -> int:
    """Give equal values equal numbers, from the inside out: a container is known by the numbers of its parts, so
    neither building nor comparing has to recurse."""
    # One per open container (the first takes the result): the numbers inside, and the key that waits for a value.
    result: list[int] = []
    open_: list[list[int] | dict[str, int]] = [result]
    keys: list[str] = [""]
    for token in _VALUE_TOKEN.finditer(text):
        word = token[0]
        char = word[0]
        if char == '"' and token.start(1) >= 0:
            keys[-1] = unquote(text[token.start() : token.start(1)])
            continue
        if char == "[" or char == "{":
            open_.append([] if char == "[" else {})
            keys.append("")
            continue
        node: tuple[object, ...]
        if char == "]" or char == "}":
            parts = open_.pop()
            keys.pop()
            node = (char, *(sorted(parts.items()) if isinstance(parts, dict) else parts))
        elif char == '"':
            node = (char, unquote(word))
        else:
            node = (word if char in "tfn" else _exact(word),)
        number = known.setdefault(node, len(known))
        around = open_[-1]
        if isinstance(around, dict):
            around[keys[-1]] = number
        else:
            around.append(number)
    return result[0]


_EMPTY_ARRAY: Final = re.compile(rf"\[{SPACE}\]\Z")


def unwrap_object(value: str) -> str | None:
    """The JSON text to put in place of a string whose value is one complete JSON object (`{}` too), else None."""
    return _unwrap(value, "{")


def unwrap_array(value: str) -> str | None:
    """The JSON text to put in place of a string whose value is one complete, non-empty JSON array, else None."""
    text = _unwrap(value, "[")
    return None if text is None or _EMPTY_ARRAY.match(text) else text


def _unwrap(value: str, opener: str) -> str | None:
    text = value.strip(" \t\n\r")
    # A raw surrogate may stand in a string's value but not in text that is to be sent.
    return escape_surrogates(text) if text.startswith(opener) and is_valid(text) else None
