"""Texts that hurt a decoder, made of tokens: half handles, half tags, openers in openers, escapes, every boundary."""

from __future__ import annotations

import random
from typing import Final

_SCHEMES: Final = ("chunk", "doc", "kb", "url", "res")
HANDLES: Final = (
    *(f"{scheme}://{number}" for scheme in _SCHEMES[:-1] for number in ("1", "2", "3", "7", "99", "0", "007")),
    *("res://0001", "res://0002", "res://0003", "res://0099", "res://1", "res://00001", "RES://0001", "Doc://1"),
    *("i1", "i2", "i3", "i4", "i5", "i99", "ms1", "mt1", "ms2", "mt0", "I1"),
)
PIECES: Final = (
    *_SCHEMES,
    *(
        ":",
        "/",
        "//",
        "://",
        ":/",
        "1",
        "2",
        "12",
        "123456789012345678",
        "1234567890123456789",
        "i",
        "m",
        "ms",
        "mt",
        "s",
    ),
    *(
        "c",
        "ch",
        "chun",
        "d",
        "do",
        "k",
        "u",
        "ur",
        "r",
        "re",
        "doc:",
        "kb:/",
        "url://",
        "res://",
        "chunk://",
        "ſ",
        "K",
    ),
)
TAGS: Final = (
    *(
        '<ref id="chunk://1"/>',
        '<ref id="chunk://2">',
        "<ref id='url://1'/>",
        '<ref id=" C1 " x="y">',
        '<ref id="w1"/>',
    ),
    *(
        '<ref id="chunk://99"/>',
        '<ref id="doc://1"/>',
        "<ref id=chunk://1>",
        "<ref>",
        "<ref/>",
        "<REF id='chunk://3'/>",
    ),
    *("</ref>", "</kb>", "</WEB>", "</ref x>", "<kb>", '<kb doc="x" chunk_id="y" />', '<web url="u"/>', "<kb/>"),
    "<k",
    *(
        "<",
        "</",
        "<r",
        "<re",
        "<ref",
        "<ref ",
        "<ref\t",
        "<ref/",
        "</ref",
        "</k",
        "<kb",
        "<kb ",
        "<w",
        "<we",
        "<web",
        "<web ",
    ),
    *(
        '<ref id="',
        '<ref id="chunk://1"',
        "<ref id='chunk://1' <",
        "<refs>",
        "<kbd>",
        "<website>",
        ">",
        "/>",
        '"/>',
        "' >",
    ),
)
PROSE: Final = (
    *(
        " ",
        "\n",
        "\t",
        "\r\n",
        ".",
        "..",
        "........",
        ".........",
        "-",
        "_",
        "~",
        "%",
        "a",
        "Z",
        "9",
        "é",
        "的",
        "。",
        "（",
    ),
    *(
        "](",
        "](<",
        '="',
        "='",
        ")",
        "]",
        "\\n",
        "\\t",
        "\\",
        "\\b",
        "\\u0031",
        "\\u003e",
        "\\u65",
        "8d",
        "\0",
        "\ud800",
        "😀",
        "&lt;",
        "`",
        "|",
        "$1",
    ),
    *("http://", "https://e.com/", "ftp://x/", "x://", "weknora://doc/", "see ", "x" * 120, "ref", "kb ", " id="),
)
TOKENS: Final = (*HANDLES, *PIECES, *TAGS, *PROSE)
TABLE_TOKENS: Final = (
    *(
        "c000",
        "c001",
        "c002",
        "c7",
        "c",
        "c0",
        "c00",
        "c0000",
        "ref-1",
        "ref-2",
        "ref-99",
        "ref-",
        "re",
        "r",
        "中i1",
        "中",
        "中i",
    ),
    *(
        "://",
        ":",
        "/",
        "http://",
        " ",
        "\n",
        "\\n",
        "\\u6587",
        "-",
        "_",
        "x",
        "1",
        ".",
        "的",
        "<",
        ">",
        "\\",
        "doc://1",
        "|",
        "9" * 30,
    ),
)


def text(rng: random.Random, tokens: tuple[str, ...] = TOKENS, longest: int = 12) -> str:
    """A random row of tokens; now and then one is repeated until it passes the limits of a tag or a handle."""
    made = rng.choices(tokens, k=rng.randint(0, longest))
    if made and rng.random() < 0.05:
        made[rng.randrange(len(made))] *= rng.choice((3, 40, 170, 520))
    return "".join(made)


def cut(rng: random.Random, whole: str) -> list[str]:
    """One way to cut a text: single characters, one cut anywhere, or several at random (empty chunks too)."""
    kind = rng.randrange(4)
    if kind == 0 and len(whole) <= 300:
        return list(whole)
    places = sorted(rng.randint(0, len(whole)) for _ in range(rng.randint(2, 8) if kind == 1 else 1))
    return [whole[i:j] for i, j in zip([0, *places], [*places, len(whole)], strict=True)]
