"""The stage that rewords template questions with the plan's model, and reports refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.generation.checks.stage import check_all, drop_duplicates
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.stage import drop_leaks
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess, add_usage, run_all
from pytest_rageval.generation.model_drafts.estimate import calls_line
from pytest_rageval.generation.model_drafts.inspecting import MODEL_ERROR
from pytest_rageval.generation.model_drafts.settings import ModelSettings, model_settings
from pytest_rageval.generation.model_drafts.wordings import fault_of, read_wording
from pytest_rageval.generation.output.report import markdown_cell
from pytest_rageval.generation.pipeline import rule_drafts
from pytest_rageval.generation.quotas import apply_quotas, shortages_of
from pytest_rageval.generation.split import Sets
from pytest_rageval.generation.templates.template import templates_of
from pytest_rageval.judges.replies import UnreadableReplyError
from pytest_rageval.model.chat import Message

__all__ = ["reword", "rewording_lines", "wordings_line", "wordings_section"]

WORDING, REFUSED = "wording", "wording_refused"
"""Verdicts: the model of a wording and the original question; a refused wording, its model and the reason."""

ASSUMED_REPLY = 40
"""Assumed tokens of a reply with a question."""


def reword(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts, with new wordings for the kept drafts of templates with ``paraphrase``.

    A draft keeps its question if the new wording is refused. A draft with a failed call is dropped as ``model_error``:
    otherwise the next run would change the id of its case.

    Raises:
        SettingError: all calls failed.
    """
    settings, access, result = model_settings(material.plan), material.models, list(drafts)
    positions = _positions(material, drafts)
    if settings is None or access is None or not positions:
        return result
    replies = run_all(access, [partial(_reply, result[at], settings, access) for at in positions])
    add_usage(material.usage, [calls for _, calls in replies])
    errors = [reply for reply, _ in replies if isinstance(reply, ModelError)]
    if len(errors) == len(replies):
        problem = str(errors[0]).replace("--rag-budget-usd", "budget_usd in [model]")
        raise SettingError(f"[model]: no call for another wording had a reply: {problem}")
    reworded: dict[int, Draft] = {}
    for at, (reply, _) in zip(positions, replies, strict=True):
        draft = result[at]
        if isinstance(reply, ModelError):
            result[at] = draft.dropped(MODEL_ERROR, f"{reply.kind}: {reply}")
            material.failures.setdefault((draft.topic, draft.task), Counter())[reply.kind] += 1
        else:
            reworded[at] = _with_wording(draft, reply, settings.name)
    result = _refuse_failed(material, result, reworded)
    if errors:
        material.shortages = shortages_of(material, result)
    return result


def rewording_lines(material: Material) -> Iterator[str]:
    """Yield a line with the calls, tokens and cost of rewording."""
    settings, access = model_settings(material.plan), material.models
    if settings is None or access is None or not any(each.paraphrase for each in templates_of(material.plan)):
        return
    candidates = apply_quotas(material, check_all(material, rule_drafts(material)))
    requests = [_request(candidates[at], settings) for at in _positions(material, candidates)]
    yield calls_line(settings.name, "for other wordings", requests, ASSUMED_REPLY, access)


def wordings_line(drafts: Iterable[Draft]) -> str:
    """Return a line with the counts of kept and refused wordings and the reasons; "" if there are none."""
    verdicts = [draft.verdicts for draft in drafts]
    kept, refused = ([each[name] for each in verdicts if name in each] for name in (WORDING, REFUSED))
    if not kept and not refused:
        return ""
    counts = Counter(each["reason"] for each in refused).items()
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in sorted(counts, key=lambda each: (-each[1], each[0])))
    of_model = f"other wordings of {(kept or refused)[0]['by']}"
    return f"{of_model}: {len(kept):,} kept, {len(refused):,} refused" + (f" ({reasons})" if reasons else "")


def wordings_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the section of report.md about kept and refused wordings."""
    if line := wordings_line(drafts):
        yield from ("## Wordings", "", f"{markdown_cell(line)}.")


def _positions(material: Material, drafts: Sequence[Draft]) -> list[int]:
    """Return the positions of the drafts to reword."""
    origins = {each.origin for each in templates_of(material.plan) if each.paraphrase}
    return [at for at, draft in enumerate(drafts) if draft.state == "kept" and draft.origin in origins]


def _request(draft: Draft, settings: ModelSettings) -> tuple[Message, ...]:
    return settings.prompts.rewording(draft.language, draft.question, draft.verdicts["asked"]["values"])


async def _reply(draft: Draft, settings: ModelSettings, access: ModelAccess) -> str | ModelError:
    try:
        return (await access.client(settings.name).complete(_request(draft, settings))).text
    except ModelError as error:
        return error


def _with_wording(draft: Draft, reply: str, model: str) -> Draft:
    """Return a draft with the wording of a reply, as dropped if the wording must be refused."""
    verdicts = {**draft.verdicts, WORDING: {"by": model, "before": draft.question}}
    try:
        wording = read_wording(reply)
    except UnreadableReplyError as error:
        return replace(draft, question="", verdicts=verdicts).dropped("unreadable", str(error))
    fault = fault_of(wording, draft)
    reworded = replace(draft, question=wording, verdicts=verdicts)
    return reworded if fault is None else reworded.dropped(*fault)


def _refuse_failed(material: Material, drafts: Sequence[Draft], reworded: dict[int, Draft]) -> list[Draft]:
    """Return the drafts with their new wordings, except refused ones: dropped, leaked or duplicates of other drafts.

    This takes several rounds, because a draft that returns to its original question may duplicate another wording.
    """
    result, positions = list(drafts), list(reworded)
    candidates = drop_leaks(material, list(reworded.values()))
    while True:
        for at, draft in zip(positions, candidates, strict=True):
            if draft.state == "dropped":
                result[at] = _with_refusal(result[at], draft)
                del reworded[at]
        others = [draft for at, draft in enumerate(result) if at not in reworded]
        positions = list(reworded)
        candidates = drop_duplicates([*others, *reworded.values()])[len(others) :]
        if all(draft.state == "kept" for draft in candidates):
            return [reworded.get(at, draft) for at, draft in enumerate(result)]


def _with_refusal(draft: Draft, reworded: Draft) -> Draft:
    """Return a draft with the refused wording as a verdict."""
    refusal = {"question": reworded.question, "reason": reworded.reason, "found": reworded.verdicts[reworded.reason]}
    verdict = {"by": reworded.verdicts[WORDING]["by"], **refusal}
    return replace(draft, verdicts={**draft.verdicts, REFUSED: verdict})
