"""Ask a model for the answers of drafts without any passage: what it knows measures no retrieval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from pytest_rageval.errors import ModelError
from pytest_rageval.generation.checks.stage import drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.settings import leakage_settings
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess, add_usage, run_all
from pytest_rageval.generation.model_drafts.prompts import Prompts, load_prompts
from pytest_rageval.generation.model_drafts.settings import model_settings
from pytest_rageval.generation.output.report import markdown_table
from pytest_rageval.generation.split import Sets
from pytest_rageval.generation.wanted import cells_of
from pytest_rageval.metrics.shared.matching import meets
from pytest_rageval.model.facets import KNEW

__all__ = ["drop_known", "known_lines", "known_section", "mark_known"]

KNOWN = "known"
"""The reason of a draft that the model answers without any passage."""


def drop_known(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; with ``drop_known``, those that the closed-book model answers are dropped.

    A conversation is dropped as a whole.
    """
    if not leakage_settings(material.plan).drop_known:
        return list(drafts)
    marked = _marked(material, drafts)
    return drop_with_dialogue(
        each.dropped(KNOWN) if each.state != "dropped" and each.facets.get(KNEW) == "true" else each for each in marked
    )


def mark_known(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; those that are kept get the facet ``knew``, unless they have it."""
    return _marked(material, drafts)


def known_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the share of each cell's drafts that the closed-book model answers."""
    asked = [draft for draft in drafts if KNEW in draft.facets]
    if not asked:
        return
    yield from ("## Answered without passages", "")
    rows = []
    for (topic, task), cell in cells_of(asked, ()).items():
        known = sum(draft.facets[KNEW] == "true" for draft in cell)
        rows.append((topic or "-", task, str(len(cell)), str(known), f"{100 * known / len(cell):.1f} %"))
    yield from markdown_table(("topic", "task", "asked", "known", "share"), rows)


def known_lines(material: Material) -> Iterator[str]:
    """Yield what the closed-book model would be asked."""
    settings = leakage_settings(material.plan)
    if settings.closed_book:
        what = "draft that passes the checks" if settings.drop_known else "kept draft"
        yield f"closed book: one call of {settings.closed_book} for each {what}"


def _marked(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    name, models, result = leakage_settings(material.plan).closed_book, material.models, list(drafts)
    if not name or models is None:
        return result
    settings = model_settings(material.plan)
    prompts = load_prompts({}) if settings is None else settings.prompts
    places = [at for at, draft in enumerate(result) if draft.state != "dropped" and KNEW not in draft.facets]
    answers = run_all(models, [partial(_answer, result[at], name, models, prompts) for at in places])
    add_usage(material.usage, [calls for _, calls in answers])
    for at, (answer, _) in zip(places, answers, strict=True):
        if isinstance(answer, ModelError):
            material.left_out[f"closed-book calls of {name} failed: {answer.kind}"] += 1
            continue
        knew = "true" if meets(result[at].gold, answer) else "false"
        result[at] = replace(result[at], facets={**result[at].facets, KNEW: knew})
    return result


async def _answer(draft: Draft, name: str, models: ModelAccess, prompts: Prompts) -> str | ModelError:
    messages = prompts.closed_book(draft.language, draft.question, draft.history)
    try:
        return (await models.client(name).complete(messages)).text
    except ModelError as error:
        return error
