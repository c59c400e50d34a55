"""Read the ``[model]`` of a plan: models that draft, inspect and correct, and their budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_rageval.generation.model_drafts.prompts import Prompts, load_prompts
from pytest_rageval.generation.plan import LANGUAGES, Plan, SectionReader
from pytest_rageval.generation.section import Section
from pytest_rageval.generation.templates.template import templates_of

__all__ = ["READER", "ModelSettings", "check_model", "model_settings", "prompt_digests"]

KEYS = ("budget_usd", "corrector", "inspector", "name", "prompts")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The ``[model]`` of a plan. Models are named as in ``rag_model``.

    Attributes:
        name: the model that drafts.
        inspector: the model that inspects drafts.
        corrector: the model that corrects items; "" to use the corrections of the inspector.
        budget_usd: the maximum cost of all calls in US dollars; None for no limit.
        prompts: the prompts, with the plan's replacements.
        section: the table of the plan, for messages.
    """

    name: str
    inspector: str
    corrector: str
    budget_usd: float | None
    prompts: Prompts
    section: Section

    @property
    def models(self) -> tuple[str, ...]:
        """The distinct names of the models."""
        return tuple(dict.fromkeys(filter(None, (self.name, self.inspector, self.corrector))))


def model_settings(plan: Plan) -> ModelSettings | None:
    """Return the ``[model]`` of a plan; None if the plan has no such table."""
    return cast("ModelSettings | None", plan.settings["model"])


def check_model(plan: Plan) -> None:
    """Raise an error for a ``[model]`` without work, or a template that needs a missing ``[model]``."""
    settings = model_settings(plan)
    paraphrased = next((each for each in templates_of(plan) if each.paraphrase), None)
    if settings is None and paraphrased is not None:
        raise paraphrased.section.error("paraphrase", "paraphrase needs a model; add [model] with its name")
    if settings is not None and paraphrased is None and not plan.settings["corpus"]:
        problem = "[model] drafts from documents, and the plan has none; add a [[corpus]]"
        raise settings.section.error("name", f"{problem}, or paraphrase = true to a [[template]]")


def prompt_digests(plan: Plan) -> dict[str, str]:
    """Return the sha256 of the prompts of each language, for the manifest; {} without ``[model]``."""
    settings = model_settings(plan)
    return {} if settings is None else {f"prompts/{name}": each for name, each in settings.prompts.digests.items()}


def _read(sections: tuple[Section, ...], folder: Path) -> ModelSettings | None:
    if not sections:
        return None
    section = sections[0]
    section.only(KEYS)
    name = section.text("name")
    budget = section.number("budget_usd")
    if budget == 0:
        raise section.wrong("budget_usd", "a number above 0")
    return ModelSettings(
        name=name,
        inspector=section.text("inspector", name),
        corrector=section.text("corrector", "") if "corrector" in section else "",
        budget_usd=budget,
        prompts=load_prompts(_prompt_files(section, folder)),
        section=section,
    )


def _prompt_files(section: Section, folder: Path) -> dict[str, Path]:
    inner = section.inner("prompts")
    if inner is None:
        return {}
    languages = [language for language in LANGUAGES if language != "auto"]
    inner.only(languages)
    return {language: folder / inner.text(language) for language in languages if language in inner}


READER = SectionReader(many=False, read=_read)
