"""A finding: one cause of errors, drops, missed gates or improvements, as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_rageval.model.storage import NEEDED

__all__ = ["CAUSES_OF_FAILURE", "Account", "Finding", "Kind"]

Kind = Literal["errors", "drop", "missed", "undecidable", "improvement", "noise"]

CAUSES_OF_FAILURE: tuple[Kind, ...] = ("errors", "drop", "missed", "undecidable")
"""The kinds of findings that explain why something is wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of an account.

    Attributes:
        kind: "errors": cases that ended in an error; "drop": a significant drop from the baseline; "missed": a fixed
            bound that does not hold; "undecidable": a gate that fails because it cannot be decided; "improvement": a
            significant rise; "noise": changes that are not significant.
        cause: "retrieval", "generation", "both", "unknown", "missing document"; "judge" or "scoring" if the
            same answers have lower scores; the kind of an error; or "".
        sentence: what every report shows, word for word.
        testbed: the testbed's node id; "" for several.
        system: the system's name; "" for several.
        metric: the metric that the sentence names; "" if none.
        slice: the facet value that the sentence names; {} for all cases.
        was: the baseline's mean; None without a baseline.
        now: the mean of this run.
        n: number of cases that the sentence counts in.
        cases: node ids of the broken, missed or fixed cases or of the errors, the worst first.
        p_value: one-sided, adjusted; None if nothing was tested.
        symptom: what most of the broken cases share: "answers shorter", "abstained", "passages missing", or "".
        command: the command that fixes the cause; "" if unknown.
        also: further drops or gates of the same cause, as short sentences.
    """

    kind: Kind = field(metadata=NEEDED)
    cause: str = field(metadata=NEEDED)
    sentence: str = field(metadata=NEEDED)
    testbed: str = ""
    system: str = ""
    metric: str = ""
    slice: Mapping[str, str] = field(default_factory=dict)
    was: float | None = None
    now: float | None = None
    n: int = 0
    cases: tuple[str, ...] = ()
    p_value: float | None = None
    symptom: str = ""
    command: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """The verdict on a run and its findings, in the order in which people need them.

    Attributes:
        verdict: the first sentence of every report.
        state: "passed", "failed", or "open" if nothing failed but a gate is undecided.
        findings: errors, drops by lost cases, missed bounds, undecidable gates, improvements, noise.
    """

    verdict: str = field(metadata=NEEDED)
    state: Literal["passed", "failed", "open"] = field(metadata=NEEDED)
    findings: tuple[Finding, ...] = field(default=(), metadata=NEEDED)

    @property
    def causes(self) -> tuple[Finding, ...]:
        """The findings that say why something is wrong."""
        return tuple(each for each in self.findings if each.kind in CAUSES_OF_FAILURE)

    @property
    def dropped(self) -> frozenset[str]:
        """Node ids of the cases that broke in a significant drop: those that the verdict counts."""
        return frozenset(case for each in self.findings if each.kind == "drop" for case in each.cases)
