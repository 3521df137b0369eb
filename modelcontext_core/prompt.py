"""What the model is told about handles and citations.

The prompt is part of the protocol: it must promise exactly what decoding accepts. No citation form is shown when
citations are off, because a model imitates every form that it sees. No handle stands in it with a number, because it
is sent as a system message, and a number that stands there would be reserved.

What it promises is told in `docs/concepts/spaces.md` and `docs/concepts/citations.md`.
"""

from __future__ import annotations

from typing import Final

__all__ = ["protocol_prompt"]

_HANDLES: Final = """\
## References

Sources and stored items appear under short names. They stand for the real ones, in this conversation only:

- `chunk://N` is a passage, `doc://N` a document, `kb://N` a knowledge base, `url://N` a web page.
- `res://NNNN` is a stored image, file or wiki page.
- `iN` is a wiki issue, where one is listed.
- `msN` is an external tool server and `mtN` one of its tools, as the tool directory lists them.

Rules:

- Copy a name exactly and whole wherever an id, an address, a query or a link needs it. The real id is filled in.
- Never invent a name, change its number, or derive one from another. Search or list first if one is missing.
- To show a stored image or file, link to it by its name: `![what it shows](res://NNNN)`.
- Call an external tool only by an `mtN` of the directory, and look inside a server only by its `msN`.
  Ids in the results of an external tool belong to that tool: pass them back as they are.
- A name says that something exists. It gives no permission, and it is no evidence of what the thing says."""

_CITING: Final = """\
## Citations

- Cite a passage as `<ref id="chunk://N"/>` and a web page as `<ref id="url://N"/>`, right after the statement that
  it supports. Nothing else can be cited.
- Cite only what a result of this request shows you, and only where it supports the statement. What you know by name
  from earlier turns, from a list or from an argument must be read again first.
- A link that is merely listed was not read. Where a source has no name, give its exact address as a link; never
  borrow the name of another source.
- Never write `<kb>` or `<web>` tags: they are made from your citations."""

_NOT_CITING: Final = """\
## Citations

- Citations are off: write no citation tags and no footnote marks. Where it matters, say in words what a statement
  rests on.
- Never write `<kb>` or `<web>` tags, even where earlier turns have them."""


def protocol_prompt(citations_enabled: bool = True) -> str:
    """The section of the system prompt that explains handles, and how to cite (or that nothing is to be cited)."""
    return f"{_HANDLES}\n\n{_CITING if citations_enabled else _NOT_CITING}"
