"""Data that generators and stages share: plan, tables, documents, and notes for the report."""

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
    """A cell or template with fewer cases than wanted.

    Attributes:
        cell: the cell or the template, for a message: ``topic=Staff, task=extractive_qa`` or ``plan.toml:12``.
        n_wanted: the wanted number of cases.
        n_kept: the number of kept cases.
        reason: why: the reasons of dropped drafts with counts, or the error of a model.
    """

    cell: str
    n_wanted: int
    n_kept: int
    reason: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.n_kept} of {self.n_wanted} wanted cases ({self.reason})"


@dataclass(slots=True)
class Material:
    """The input of generators and stages, and what they report.

    Attributes:
        plan: the plan.
        tables: the tables of the plan by name, with their rows.
        corpus: the passages of the documents of the plan; empty without ``[[corpus]]``.
        out: the output folder.
        models: access to the models; None if the plan needs no model.
        wanted_topics: topics with a cell for each task of the plan, even without a draft.
        failures: (topic, task) -> counts of its failed calls by kind of error.
        warnings: sentences for the user and the report, in order.
        left_out: input that gave no draft, such as rows with missing values or unreadable replies -> count.
        digests: name of an input file -> its sha256, for the manifest.
        usage: use of models: ``calls``, ``prompt_tokens``, ``completion_tokens``, ``cost_usd``.
        topics: id of a passage of the corpus -> the path of its topic; None until `topics_of_chunks` sets it.
        without_topic: ids of the passages without a topic, in order; they give no draft.
        shortages: cells and templates with too few cases; any shortage makes the exit status 1.
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
