"""Finding the identities in a conversation's tools that no policy pack declares, and what to declare for them.

    words     what the name of a key says: the space, and how far its values can be trusted to be ids
    scan      the strings of arguments and results, each with the key that it stands under
    propose   rules made of them, each with its reason

Pure and linear in the text. `policies` makes packs of proposals; nothing here knows packs, only the few rules of
theirs that matter (`KnownRules`).

How rules are found is told in `docs/policies.md`.
"""

from __future__ import annotations

from modelcontext_core.discovery.propose import Proposal, find_proposals
from modelcontext_core.discovery.scan import KnownRules

__all__ = ["KnownRules", "Proposal", "find_proposals"]
