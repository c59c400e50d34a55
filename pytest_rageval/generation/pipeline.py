"""Draft cases from a plan and decide which are kept: generators, then stages, in the order of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.registry import Registry

__all__ = ["GENERATORS", "STAGES", "Generator", "Stage", "drafted", "rule_drafts"]

Generator = Callable[[Material], Iterable[Draft]]
"""Yields drafts in an order that depends on nothing but the plan and its data: the earlier of two duplicates stays."""

Stage = Callable[[Material, Sequence[Draft]], Iterable[Draft]]
"""Returns every draft it receives, in the same order, with the states that it decides; its own drafts follow."""

GENERATORS: dict[str, str] = {
    "template": "pytest_rageval.generation.templates.generator:drafts",
    "text-rule": "pytest_rageval.generation.text_rules.generator:drafts",
}
"""Name of a generator -> ``"module:function"``. One without a part in the plan yields nothing."""

STAGES: dict[str, str] = {
    "checks": "pytest_rageval.generation.checks.stage:check_all",
    "model": "pytest_rageval.generation.model_drafts.stage:add_drafts",
    "leakage": "pytest_rageval.generation.leakage.stage:drop_leaks",
    "known": "pytest_rageval.generation.leakage.closed_book:drop_known",
    "wanted": "pytest_rageval.generation.wanted:keep_wanted",
    "paraphrase": "pytest_rageval.generation.model_drafts.rewording:reword",
    "knew": "pytest_rageval.generation.leakage.closed_book:mark_known",
}
"""Name of a stage -> ``"module:function"``, in order: what costs nothing comes before what costs. ``wanted`` keeps what
still waits."""


def drafted(material: Material) -> list[Draft]:
    """Return every draft of a plan in the order of the generators, each kept, dropped or waiting."""
    stages: Registry[Stage] = Registry("stage", STAGES)
    drafts = rule_drafts(material)
    for name in STAGES:
        drafts = list(stages.get(name)(material, drafts))
    return drafts


def rule_drafts(material: Material) -> list[Draft]:
    """Return the drafts of all generators, before any stage; none of them asks a model."""
    generators: Registry[Generator] = Registry("generator", GENERATORS)
    return [draft for name in GENERATORS for draft in generators.get(name)(material)]
