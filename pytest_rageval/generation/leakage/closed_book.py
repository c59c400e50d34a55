"""Drop or mark drafts that a model answers without passages: they do not test retrieval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.generation.checks.stage import check_all, drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.settings import KNOWN, leakage_settings
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess, add_usage, run_all
from pytest_rageval.generation.model_drafts.estimate import calls_line
from pytest_rageval.generation.model_drafts.inspecting import MODEL_ERROR
from pytest_rageval.generation.model_drafts.prompts import Prompts, load_prompts
from pytest_rageval.generation.model_drafts.settings import model_settings
from pytest_rageval.generation.output.report import markdown_table
from pytest_rageval.generation.pipeline import rule_drafts
from pytest_rageval.generation.quotas import apply_quotas, cells_of
from pytest_rageval.generation.split import Sets
from pytest_rageval.metrics.shared.matching import meets
from pytest_rageval.model.facets import KNEW

__all__ = ["drop_known", "known_lines", "known_section", "mark_known"]

ASSUMED_ANSWER = 20
"""Tokens of an answer without passages, for the cost estimate."""


def drop_known(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; with ``drop_known``, drop those that the closed-book model answers.

    A draft whose call fails is dropped with the reason ``model_error``. A conversation is dropped as a whole.

    Raises:
        SettingError: every call failed, and not all of them because of the budget.
    """
    if not leakage_settings(material.plan).drop_known:
        return list(drafts)
    results = _with_knew(material, drafts)
    return drop_with_dialogue(
        each.dropped(KNOWN) if each.state != "dropped" and each.facets.get(KNEW) == "true" else each for each in results
    )


def mark_known(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts; add the facet ``knew`` to each draft that is not dropped and lacks it.

    Raises:
        SettingError: every call failed, and not all of them because of the budget.
    """
    return _with_knew(material, drafts)


def known_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the share of each cell's drafts that the closed-book model answers."""
    drafts = [draft for draft in drafts if KNEW in draft.facets]
    if not drafts:
        return
    yield from ("## Answered without passages", "")
    rows = []
    for (topic, task), cell in cells_of(drafts, ()).items():
        n_known = sum(draft.facets[KNEW] == "true" for draft in cell)
        rows.append((topic or "-", task, str(len(cell)), str(n_known), f"{100 * n_known / len(cell):.1f} %"))
    yield from markdown_table(("topic", "task", "asked", "known", "share"), rows)


def known_lines(material: Material) -> Iterator[str]:
    """Yield the planned closed-book calls for the drafts of rules, with tokens and cost."""
    settings, access = leakage_settings(material.plan), material.models
    if not settings.closed_book or access is None:
        return
    drafts = check_all(material, rule_drafts(material))
    drafts = drafts if settings.drop_known else apply_quotas(material, drafts)
    prompts = _prompts(material)
    requests = [
        prompts.closed_book(draft.language, draft.question, draft.history)
        for draft in drafts
        if draft.state != "dropped"
    ]
    more = " and one for each draft of the model" if model_settings(material.plan) and material.corpus else ""
    yield calls_line(settings.closed_book, f"without passages{more}", requests, ASSUMED_ANSWER, access)


def _with_knew(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts with the facet ``knew``; with ``drop_known``, drop those whose call fails."""
    settings, models, result = leakage_settings(material.plan), material.models, list(drafts)
    name = settings.closed_book
    if not name or models is None:
        return result
    prompts = _prompts(material)
    places = [at for at, draft in enumerate(result) if draft.state != "dropped" and KNEW not in draft.facets]
    answers = run_all(models, [partial(_answer, result[at], name, models, prompts) for at in places])
    add_usage(material.usage, [calls for _, calls in answers])
    errors = [answer for answer, _ in answers if isinstance(answer, ModelError)]
    if errors and len(errors) == len(answers) and all(error.kind != "budget" for error in errors):
        raise SettingError(f"[leakage] closed_book: no call had a reply: {errors[0]}")
    for at, (answer, _) in zip(places, answers, strict=True):
        draft = result[at]
        if isinstance(answer, str):
            knew = "true" if meets(draft.gold, answer) else "false"
            result[at] = replace(draft, facets={**draft.facets, KNEW: knew})
        elif settings.drop_known:
            result[at] = draft.dropped(MODEL_ERROR, f"{answer.kind}: {answer}")
            material.failures.setdefault((draft.topic, draft.task), Counter())[answer.kind] += 1
        else:
            material.left_out[f"closed-book calls of {name} failed: {answer.kind}"] += 1
    return result


def _prompts(material: Material) -> Prompts:
    settings = model_settings(material.plan)
    return load_prompts({}) if settings is None else settings.prompts


async def _answer(draft: Draft, name: str, models: ModelAccess, prompts: Prompts) -> str | ModelError:
    messages = prompts.closed_book(draft.language, draft.question, draft.history)
    try:
        return (await models.client(name).complete(messages)).text
    except ModelError as error:
        return error
