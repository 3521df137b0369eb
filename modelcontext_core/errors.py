"""The exceptions of the codec and of the trace readers.

    ModelContextError
    ├── PolicyError          a policy pack is wrong: says file, tool and key
    ├── UnreadableTrace      a file is none of the known formats, or too damaged: says where and why
    └── WikiRouteError       a look-up gave a page of another knowledge base (`wiki_routing`)

Unknown handles are no exception: a call that must not run carries them in `unresolved_handles`. A mistake in the code
that calls is a `TypeError` or a `ValueError`, in a sentence that says where.
`modelcontext_core.contextstate` has a tree of its own.
"""

from __future__ import annotations

__all__ = ["ModelContextError", "PolicyError", "UnreadableTrace"]


class ModelContextError(Exception):
    """Base of every exception for what comes from outside: packs, traces, pages."""


class PolicyError(ModelContextError):
    """A policy pack that cannot be used.

    `source` is the file or the name of the pack, `path` the key as it stands in the TOML
    (`tools.database_query.output`), `reason` a sentence.
    """

    def __init__(self, reason: str, *, source: str = "", path: str = "") -> None:
        self.reason = reason
        self.source = source
        self.path = path
        where = ": ".join(part for part in (source, path) if part)
        super().__init__(f"{where}: {reason}" if where else reason)


class UnreadableTrace(ModelContextError):
    """A source that no reader can open.

    `position` says where (a line, a byte or a JSON path, in words), `reason` why; `nearest` is the format that
    it resembles most, if any.
    """

    def __init__(self, reason: str, *, position: str = "", nearest: str = "") -> None:
        self.reason = reason
        self.position = position
        self.nearest = nearest
        text = f"{position}: {reason}" if position else reason
        if nearest:
            text += f" (nearest known format: {nearest})"
        super().__init__(text)
