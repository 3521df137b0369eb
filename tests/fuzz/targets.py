"""What `python -m tests.fuzz` can run, and which share of a round each gets."""

from __future__ import annotations

from typing import Final

from tests.fuzz import (
    cases,
    commands,
    growth,
    imports,
    policies,
    properties,
    readers,
    reports,
    requests,
    rewriting,
    stores,
)
from tests.fuzz.running import Target

__all__ = ["TARGETS"]

TARGETS: Final[dict[str, Target]] = {
    target.name: target
    for target in (
        Target(name="codec", run=cases.run, share=3),
        Target(name="readers", run=readers.run, share=4),
        Target(name="rewriting", run=rewriting.run, share=2),
        Target(name="policies", run=policies.run, share=2),
        Target(name="requests", run=requests.run),
        Target(name="reports", run=reports.run, share=3),
        Target(name="imports", run=imports.run, share=3),
        Target(name="stores", run=stores.run, share=2),
        Target(name="commands", run=commands.run, share=4),
        # One case is a file of tests with a new seed.
        Target(name="properties", run=properties.run, share=4, limit=90),
        Target(name="growth", run=growth.run),
    )
}
