"""What generators and stages work with: the plan, its tables and documents, and notes for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Table
from pytest_rageval.model.case import Passage

__all__ = ["Material", "Shortage"]


@dataclass(frozen=True, slots=True)
class Shortage:
    """A wanted number of cases that was not reached.

    Attributes:
        what: the cell or the template, for a message: ``topic=Staff, task=extractive_qa`` or ``plan.toml:12``.
        wanted: the wanted number.
        kept: the number of kept cases.
        reason: why, in a few words: the reasons of dropped drafts with counts, or the error of a model.
    """

    what: str
    wanted: int
    kept: int
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.kept} of {self.wanted} wanted cases ({self.reason})"


@dataclass(slots=True)
class Material:
    """The input of generators and stages, and what they report.

    Attributes:
        plan: the plan.
        tables: the tables of the plan by name, with their rows.
        corpus: the passages of the documents of the plan; empty without ``[[corpus]]``.
        out: the output folder.
        models: how models are asked; None if the plan asks none.
        wanted_topics: topics that have a cell for each task of the plan, also without a draft.
        failures: topic and task -> the kinds of errors of its calls, with counts.
        warnings: sentences for the user and the report, in order.
        left_out: what made no draft -> how often: rows with missing values, unreadable replies.
        digests: name of an input file -> its sha256, for the manifest.
        usage: what models were asked: ``calls``, ``prompt_tokens``, ``completion_tokens``, ``cost_usd``.
        topics: id of a passage of the corpus -> the path of its topic; None until `topics_of_chunks` has found them.
        without_topic: ids of the passages without a topic, in order; they make no draft.
        shortages: what was wanted and not reached; any makes the exit status 1.
    """

    plan: Plan
    tables: Mapping[str, Table]
    out: Path
    corpus: tuple[Passage, ...] = ()
    models: ModelAccess | None = None
    wanted_topics: set[str] = field(default_factory=set)
    failures: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    digests: dict[str, str] = field(default_factory=dict)
    usage: dict[str, float] = field(default_factory=dict)
    topics: Mapping[str, str] | None = None
    without_topic: tuple[str, ...] = ()
    shortages: list[Shortage] = field(default_factory=list)
