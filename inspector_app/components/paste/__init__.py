"""What takes a long paste: it goes to the server whole and at once, and does not stand in the field.

Why it is none of the other components: a browser lays a megabyte in a field of text out anew whenever the page changes,
a second or more each time, so the text must be caught before it gets there.
"""

from __future__ import annotations

from collections.abc import Callable

from inspector_app import words
from inspector_app.components.assets import register

__all__ = ["long_paste"]

_mount = register("paste")


def long_paste(*, key: str, field: str, read: str, pasted: int, on_paste: Callable[[], None]) -> None:
    """Watch the field of text with the key `field`, and say how many characters were `pasted` and wait to be read.

    Control and Enter in the field press the button with the key `read`.
    `on_paste` is called when there is another text; the state of `key` holds it as `text`, "" to forget it.
    """
    said = words.opening.pasted(pasted) if pasted else ""
    data = {"field": field, "read": read, "said": said, "forget": words.opening.FORGET_PASTED}
    _mount(key=key, data=data, on_text_change=on_paste, width="content")
