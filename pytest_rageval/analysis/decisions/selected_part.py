"""Leave gates with a fixed bound undecided if only a part of their cases is selected."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pytest_rageval.analysis.decisions.verdicts import NOT_DECIDED, GateResult
from pytest_rageval.analysis.gates import Gate

__all__ = ["PartPolicy", "SelectedPart", "is_not_decided", "not_decided"]

PartPolicy = Literal["skip", "decide", "fail"]
"""What happens to a gate if only a part of its cases is selected."""


class SelectedPart(NamedTuple):
    """The part of a gate's cases that a session selects.

    Attributes:
        selected: number of selected cases.
        cases: number of collected cases of the gate.
        files: number of test files that were not collected and may contain more cases of the gate.
    """

    selected: int
    cases: int
    files: int = 0

    def __str__(self) -> str:
        of = f"{self.cases} case{'' if self.cases == 1 else 's'}"
        uncollected = f", {self.files} file{'' if self.files == 1 else 's'} not collected" if self.files else ""
        return f"{NOT_DECIDED}{self.selected} of {of} selected{uncollected}"


def not_decided(gate: Gate, scope: str, part: SelectedPart | None, policy: PartPolicy) -> GateResult | None:
    """Return the result of a gate that the selected part must not decide; None if the gate can be decided."""
    if part is None or gate.baseline or policy == "decide":
        return None
    return GateResult(gate, scope, "failed" if policy == "fail" else "skipped", slice=gate.slice, reason=str(part))


def is_not_decided(status: str, reason: str | None) -> bool:
    """Return whether a gate was skipped because only a part of its cases was selected."""
    return status == "skipped" and (reason or "").startswith(NOT_DECIDED)
