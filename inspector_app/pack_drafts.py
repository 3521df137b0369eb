"""The pack that is edited on the Policies page, back to what was opened; and calls tried against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inspector_app.views.analysis import Analysis
from modelcontext_core.errors import PolicyError
from modelcontext_core.made_registry import registry_for
from modelcontext_core.messages import Message, ToolCall
from modelcontext_core.policies import DEFAULT_POLICIES, ToolPolicies
from modelcontext_core.registry import EncodeReport, Registry

__all__ = ["Draft", "same_pack", "try_call", "try_result"]


@dataclass(slots=True, eq=False)
class Draft:
    """A pack in the making. `base` is what the editor was given last, `current` what became of it; `version` changes
    whenever the editor has to begin anew.

    `ticked` are the tools whose issues and routing are edited beside the table, `names` what the rows of the table are
    called now, by what they were called in `base`; `sifted` says which tools the table was asked to show."""

    base: ToolPolicies = DEFAULT_POLICIES
    current: ToolPolicies = DEFAULT_POLICIES
    saved: ToolPolicies = DEFAULT_POLICIES
    version: int = 0
    history: list[ToolPolicies] = field(default_factory=list)
    ticked: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    sifted: object = None

    @property
    def is_changed(self) -> bool:
        """Whether it differs from what was opened."""
        return not same_pack(self.current, self.saved)

    def open(self, pack: ToolPolicies) -> None:
        """Begin with another pack."""
        self.history.append(self.current)
        self.saved = self.current = pack
        self.ticked = ()
        self.restart()

    def edit(self, pack: ToolPolicies) -> None:
        """Take what the editor shows; nothing when it is the same."""
        if not same_pack(pack, self.current):
            self.history.append(self.current)
            self.current = pack

    def undo(self) -> None:
        """Go back to what it was before the last change."""
        if self.history:
            self.current = self.history.pop()
            self.restart()

    def restart(self) -> None:
        """Give the editor the current pack to begin with."""
        self.base = self.current
        self.names = {}
        self.version += 1

    def faults(self) -> Sequence[PolicyError]:
        """Everything that is wrong with it."""
        return self.current.faults("pack")

    def load(self, text: str, name: str) -> Sequence[PolicyError]:
        """Open a TOML text when it is sound; else everything that is wrong with it."""
        faults = ToolPolicies.check(text, name)
        if not faults:
            self.open(ToolPolicies.loads(text, name))
        return faults


def same_pack(one: ToolPolicies, other: ToolPolicies) -> bool:
    """Whether two packs say the same, in the same order."""
    return (one.name, one.uri_scheme, list(one.keys.items()), list(one.tools.items())) == (
        other.name,
        other.uri_scheme,
        list(other.keys.items()),
        list(other.tools.items()),
    )


def try_call(pack: ToolPolicies, tool: str, arguments: str) -> tuple[Analysis, ToolCall]:
    """What a tool receives when the model writes these arguments: every handle in them stands for a made-up id."""
    registry = registry_for([arguments])
    registry.policies = pack
    (call,) = registry.decode_tool_calls([ToolCall(id="call", name=tool, arguments=arguments)])
    return _analysis(registry, (), EncodeReport(messages=(), spans=())), call


def try_result(pack: ToolPolicies, tool: str, result: str) -> Analysis:
    """What the model reads of a tool's result."""
    registry = Registry(policies=pack)
    messages = (Message(role="tool", name=tool, content=result),)
    return _analysis(registry, messages, registry.encode_with_report(messages))


def _analysis(registry: Registry, messages: Sequence[Message], report: EncodeReport) -> Analysis:
    return Analysis(
        messages=messages,
        encoded=report.messages,
        spans=report.spans,
        handles=registry.handles(),
        leaks=tuple(registry.leaked_identifiers(report.messages)),
        user_ids=0,
        registry=registry,
        discovered=False,
        proposals=(),
        off=frozenset(),
    )
