"""Keep the wanted number of cases of each template and of each cell, and report what is missing."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material, Shortage
from pytest_rageval.generation.templates.template import Template, templates_of

__all__ = ["cells_of", "keep_wanted", "shortages_of"]

SURPLUS = "surplus"

Cell = tuple[str, str]
"""A topic and a task."""


def keep_wanted(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts: those that wait are kept, up to the wanted numbers, and the others dropped as ``surplus``.

    A template with ``n`` or ``balance`` keeps its first drafts, in the order of the rows. A cell keeps ``per_cell``
    cases, which the seed decides. A conversation is kept whole: its turns count together. What is missing becomes a
    `Shortage`.
    """
    result = list(drafts)
    for template in templates_of(material.plan):
        _keep_of_template(template, result, material)
    if material.plan.per_cell is not None:
        _keep_of_cells(material.plan.per_cell, result, material)
    return [draft.kept() if draft.state == "waiting" else draft for draft in result]


def cells_of(drafts: Iterable[Draft], tasks: Sequence[str], topics: Iterable[str] = ()) -> dict[Cell, list[Draft]]:
    """Return the drafts of each topic and task, sorted; with ``tasks``, a topic has a cell for each of them.

    ``topics`` are those that count also without a draft.
    """
    cells: dict[Cell, list[Draft]] = {}
    for draft in drafts:
        cells.setdefault((draft.topic, draft.task), []).append(draft)
    for topic in {*topics, *(topic for topic, _ in cells)}:
        for task in tasks:
            cells.setdefault((topic, task), [])
    return dict(sorted(cells.items()))


def shortages_of(material: Material, drafts: Iterable[Draft]) -> list[Shortage]:
    """Return the wanted numbers that decided drafts do not reach, counting those that are kept."""
    counted = replace(material, shortages=[])
    keep_wanted(counted, [replace(each, state="waiting" if each.state == "kept" else "dropped") for each in drafts])
    return counted.shortages


def _keep_of_template(template: Template, drafts: list[Draft], material: Material) -> None:
    """Drop what a template wants no more of, in place, and report what it lacks."""
    wanted: Mapping[str, int] = {"": template.n} if template.n is not None else {}
    if template.balance is not None:
        wanted = template.balance.counts
    if not wanted:
        return
    own = [draft for draft in drafts if draft.origin == template.origin]
    kept = Counter[str]()
    for unit in _units(drafts, template.origin):
        label = str(drafts[unit[0]].verdicts.get("balance", ""))
        if kept[label] < wanted[label]:
            kept[label] += len(unit)
            continue
        for at in unit:
            drafts[at] = drafts[at].dropped(SURPLUS)
    for label, count in wanted.items():
        if kept[label] < count:
            what = f"{template.origin} {template.balance.column}={label}" if template.balance else template.origin
            of_label = [each for each in own if each.verdicts.get("balance", "") == label]
            rows = {
                name.partition(": ")[2]: n
                for name, n in material.left_out.items()
                if name.startswith(f"{template.origin}: ")
            }
            material.shortages.append(Shortage(what, count, kept[label], _reasons(of_label, rows)))


def _keep_of_cells(per_cell: int, drafts: list[Draft], material: Material) -> None:
    """Drop what a cell wants no more of, in place, and report the cells that are short."""
    units: dict[Cell, list[list[int]]] = {
        cell: [] for cell in cells_of(drafts, material.plan.tasks, material.wanted_topics)
    }
    for unit in _units(drafts):
        first = drafts[unit[0]]
        units[first.topic, first.task].append(unit)
    for (topic, task), members in units.items():
        kept = 0
        for unit in sorted(members, key=lambda each: _rank(material.plan.seed, drafts[each[0]].id)):
            if kept < per_cell:
                kept += len(unit)
                continue
            for at in unit:
                drafts[at] = drafts[at].dropped(SURPLUS)
        if kept < per_cell:
            what = f"topic={topic or '-'}, task={task}"
            own = [draft for draft in drafts if (draft.topic, draft.task) == (topic, task)]
            errors = _errors(material.failures.get((topic, task), {}))
            material.shortages.append(Shortage(what, per_cell, kept, ", ".join([*errors, _reasons(own, {})])))


def _units(drafts: Sequence[Draft], origin: str = "") -> list[list[int]]:
    """Return the places of the drafts that wait, those of one conversation together, in order."""
    units: dict[str, list[int]] = {}
    for at, draft in enumerate(drafts):
        if draft.state == "waiting" and origin in ("", draft.origin):
            units.setdefault(draft.facets.get("dialogue") or f"{at}", []).append(at)
    return list(units.values())


def _errors(failures: Mapping[str, int]) -> list[str]:
    """Return the failed calls of a model: ``error: 3 calls failed (rate_limited)``."""
    return [f"error: {n} {'call' if n == 1 else 'calls'} failed ({kind})" for kind, n in sorted(failures.items())]


def _reasons(drafts: Iterable[Draft], rows: Mapping[str, int]) -> str:
    """Return why no more are kept: ``3 ambiguous, 2 rows without a value of ask``."""
    dropped = Counter(draft.reason for draft in drafts if draft.state == "dropped")
    dropped.pop(SURPLUS, None)
    listed = [f"{count} {reason}" for reason, count in sorted(dropped.items())]
    listed += [f"{count} rows {reason}" for reason, count in sorted(rows.items())]
    return ", ".join(listed) or "there are no more drafts"


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
