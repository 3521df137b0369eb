"""What a renderer needs of a registry: registering identities, and replacing the known ones in a text.

A `RenderContext` is made by the registry for itself. Renderers know nothing else of it, so the order of the codec's
steps stays in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from modelcontext_core.messages import ChunkReference
from modelcontext_core.policies import KeyKind
from modelcontext_core.rewriting import Rewriting

__all__ = ["RenderContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderContext:
    """The operations of one registry that rendering a tool result may use.

    Every `register_*` gives the handle, or None when the value is no identity that can have one. `citable` is true
    for what the model may cite from now on.

    `compact` replaces stored resources, then known source ids, and is called in the order in which texts are written,
    because resources are numbered by it; `compact_tracked` does the same and knows what became of which place.
    `encode_output(text, tool_name, succeeded)` treats a whole output by the
    policy of its tool. `is_external` tells the tools whose results belong to somebody else's server. `key_kinds` is the
    key table: which columns of a table hold identities.
    """

    register_chunk: Callable[[ChunkReference, bool], str | None]
    register_document: Callable[[str], str | None]
    register_knowledge_base: Callable[[str], str | None]
    register_web: Callable[[str, str, bool], str | None]
    chunk_handle: Callable[[str], str | None]
    compact: Callable[[str], str]
    compact_tracked: Callable[[str], Rewriting]
    encode_output: Callable[[str, str, bool], str]
    is_external: Callable[[str], bool]
    key_kinds: Mapping[str, KeyKind]
