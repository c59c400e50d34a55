"""Apply the quotas of a plan: keep the requested number of cases per template and per cell."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material, Shortage
from pytest_rageval.generation.templates.template import Template, templates_of

__all__ = ["apply_quotas", "cells_of", "shortages_of"]

SURPLUS = "surplus"

Cell = tuple[str, str]
"""A topic and a task."""


def apply_quotas(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Keep waiting drafts up to the requested numbers and drop the rest as ``surplus``; return all drafts.

    A template with ``n`` or ``balance`` keeps its first drafts, in the order of the rows. A cell keeps ``per_cell``
    cases, chosen by the seed. A conversation is kept or dropped as a whole; each of its turns counts as a case. If a
    number is not reached, a `Shortage` is added to the material.
    """
    result = list(drafts)
    for template in templates_of(material.plan):
        _apply_template_quota(template, result, material)
    if material.plan.per_cell is not None:
        _apply_cell_quotas(material.plan.per_cell, result, material)
    return [draft.kept() if draft.state == "waiting" else draft for draft in result]


def cells_of(drafts: Iterable[Draft], tasks: Sequence[str], topics: Iterable[str] = ()) -> dict[Cell, list[Draft]]:
    """Return the drafts of each cell, sorted by topic and task.

    Args:
        drafts: the drafts.
        tasks: tasks for which each topic gets a cell, even an empty one.
        topics: topics that get cells even without a draft.
    """
    cells: dict[Cell, list[Draft]] = {}
    for draft in drafts:
        cells.setdefault((draft.topic, draft.task), []).append(draft)
    for topic in {*topics, *(topic for topic, _ in cells)}:
        for task in tasks:
            cells.setdefault((topic, task), [])
    return dict(sorted(cells.items()))


def shortages_of(material: Material, drafts: Iterable[Draft]) -> list[Shortage]:
    """Return the requested numbers that the kept drafts do not reach."""
    recount = replace(material, shortages=[])
    apply_quotas(recount, [replace(each, state="waiting" if each.state == "kept" else "dropped") for each in drafts])
    return recount.shortages


def _apply_template_quota(template: Template, drafts: list[Draft], material: Material) -> None:
    """Drop the surplus drafts of a template, in place, and record its shortages."""
    requested: Mapping[str, int] = {"": template.n} if template.n is not None else {}
    if template.balance is not None:
        requested = template.balance.counts
    if not requested:
        return
    template_drafts = [draft for draft in drafts if draft.origin == template.origin]
    counts = Counter[str]()
    for unit in _units(drafts, template.origin):
        label = str(drafts[unit[0]].verdicts.get("balance", ""))
        if counts[label] < requested[label]:
            counts[label] += len(unit)
            continue
        for at in unit:
            drafts[at] = drafts[at].dropped(SURPLUS)
    for label, count in requested.items():
        if counts[label] < count:
            what = f"{template.origin} {template.balance.column}={label}" if template.balance else template.origin
            of_label = [each for each in template_drafts if each.verdicts.get("balance", "") == label]
            rows = {
                name.partition(": ")[2]: n
                for name, n in material.left_out.items()
                if name.startswith(f"{template.origin}: ")
            }
            material.shortages.append(Shortage(what, count, counts[label], _reasons(of_label, rows)))


def _apply_cell_quotas(per_cell: int, drafts: list[Draft], material: Material) -> None:
    """Drop the surplus drafts of each cell, in place, and record the shortages of cells."""
    units: dict[Cell, list[list[int]]] = {
        cell: [] for cell in cells_of(drafts, material.plan.tasks, material.wanted_topics)
    }
    for unit in _units(drafts):
        first = drafts[unit[0]]
        units[first.topic, first.task].append(unit)
    for (topic, task), members in units.items():
        count = 0
        for unit in sorted(members, key=lambda each: _rank(material.plan.seed, drafts[each[0]].id)):
            if count < per_cell:
                count += len(unit)
                continue
            for at in unit:
                drafts[at] = drafts[at].dropped(SURPLUS)
        if count < per_cell:
            what = f"topic={topic or '-'}, task={task}"
            cell_drafts = [draft for draft in drafts if (draft.topic, draft.task) == (topic, task)]
            errors = _errors(material.failures.get((topic, task), {}))
            material.shortages.append(Shortage(what, per_cell, count, ", ".join([*errors, _reasons(cell_drafts, {})])))


def _units(drafts: Sequence[Draft], origin: str = "") -> list[list[int]]:
    """Return the indexes of waiting drafts, grouped by conversation; a single-turn draft is a group of its own."""
    units: dict[str, list[int]] = {}
    for at, draft in enumerate(drafts):
        if draft.state == "waiting" and origin in ("", draft.origin):
            units.setdefault(draft.facets.get("dialogue") or f"{at}", []).append(at)
    return list(units.values())


def _errors(failures: Mapping[str, int]) -> list[str]:
    """Return a text per kind of failed model calls: ``error: 3 calls failed (rate_limited)``."""
    return [f"error: {n} {'call' if n == 1 else 'calls'} failed ({kind})" for kind, n in sorted(failures.items())]


def _reasons(drafts: Iterable[Draft], rows: Mapping[str, int]) -> str:
    """Return why there are not more cases: ``3 ambiguous, 2 rows without a value of ask``."""
    dropped = Counter(draft.reason for draft in drafts if draft.state == "dropped")
    dropped.pop(SURPLUS, None)
    listed = [f"{count} {reason}" for reason, count in sorted(dropped.items())]
    listed += [f"{count} rows {reason}" for reason, count in sorted(rows.items())]
    return ", ".join(listed) or "there are no more drafts"


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
