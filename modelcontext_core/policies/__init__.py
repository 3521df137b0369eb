"""Tool policies: which fields of which tools hold identities, as data.

    rules         what can be said about one tool, and the kinds of keys
    toml_schema   reading a pack's TOML, with messages that name file, tool and key
    toml_writer   writing it
    checks        faults of a pack that was built or edited in memory
    packs         `ToolPolicies`, the built-in pack and discovery

A field name alone never means anything: only what a pack declares for a tool is read or rewritten.

The schema and the meaning of each key: `docs/policies.md`.
"""

from __future__ import annotations

from modelcontext_core.discovery import Proposal
from modelcontext_core.policies.packs import DEFAULT_POLICIES, Discovery, ToolPolicies, has_tool_policy
from modelcontext_core.policies.rules import KeyKind, MineKind, OutputKind, RoutingKind, ToolPolicy

__all__ = [
    "DEFAULT_POLICIES",
    "Discovery",
    "KeyKind",
    "MineKind",
    "OutputKind",
    "Proposal",
    "RoutingKind",
    "ToolPolicies",
    "ToolPolicy",
    "has_tool_policy",
]
