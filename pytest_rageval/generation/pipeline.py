"""Draft cases from a plan: all generators first, then all stages, which keep or drop drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.registry import Registry

__all__ = ["GENERATORS", "STAGES", "Generator", "Stage", "drafted", "rule_drafts"]

Generator = Callable[[Material], Iterable[Draft]]
"""Yields drafts. Their order depends only on the plan and its data, because the earlier of two duplicates is kept."""

Stage = Callable[[Material, Sequence[Draft]], Iterable[Draft]]
"""Returns all drafts that it receives, in the same order, with the states that it decides; new drafts come last."""

GENERATORS: dict[str, str] = {
    "template": "pytest_rageval.generation.templates.generator:drafts",
    "text-rule": "pytest_rageval.generation.text_rules.generator:drafts",
}
"""Name of a generator -> ``"module:function"``. A generator that the plan does not use yields nothing."""

STAGES: dict[str, str] = {
    "checks": "pytest_rageval.generation.checks.stage:check_all",
    "model": "pytest_rageval.generation.model_drafts.stage:add_drafts",
    "leakage": "pytest_rageval.generation.leakage.stage:drop_leaks",
    "known": "pytest_rageval.generation.leakage.closed_book:drop_known",
    "wanted": "pytest_rageval.generation.quotas:apply_quotas",
    "paraphrase": "pytest_rageval.generation.model_drafts.rewording:reword",
    "knew": "pytest_rageval.generation.leakage.closed_book:mark_known",
}
"""Name of a stage -> ``"module:function"``, in order: stages without model calls come before those that cost money.
``wanted`` keeps the drafts that are still waiting."""


def drafted(material: Material) -> list[Draft]:
    """Return all drafts of a plan, in the order of the generators; each is kept, dropped or waiting."""
    stages: Registry[Stage] = Registry("stage", STAGES)
    drafts = rule_drafts(material)
    for name in STAGES:
        drafts = list(stages.get(name)(material, drafts))
    return drafts


def rule_drafts(material: Material) -> list[Draft]:
    """Return the drafts of all generators, before any stage; none of them asks a model."""
    generators: Registry[Generator] = Registry("generator", GENERATORS)
    return [draft for name in GENERATORS for draft in generators.get(name)(material)]
