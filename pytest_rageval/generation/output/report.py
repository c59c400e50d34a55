"""Write report.md: wanted, drafted and kept cases of each cell, and reasons of drops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_rageval.errors import ascii_safe
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.quotas import cells_of
from pytest_rageval.generation.split import Sets
from pytest_rageval.registry import Registry

__all__ = [
    "SECTIONS", "ReportSection", "cells_section", "markdown_cell", "markdown_table", "notes_section", "reasons_section",
    "report_of", "sets_section",
]  # fmt: skip

ReportSection = Callable[[Material, Sequence[Draft], Sets], Iterable[str]]
"""Yields the lines of a section with its heading; nothing for an empty section."""

SECTIONS: dict[str, str] = {
    "cells": "pytest_rageval.generation.output.report:cells_section",
    "reasons": "pytest_rageval.generation.output.report:reasons_section",
    "wordings": "pytest_rageval.generation.model_drafts.rewording:wordings_section",
    "known": "pytest_rageval.generation.leakage.closed_book:known_section",
    "review": "pytest_rageval.generation.review.acceptance:review_section",
    "sets": "pytest_rageval.generation.output.report:sets_section",
    "topics": "pytest_rageval.generation.topics.report:without_topic_section",
    "notes": "pytest_rageval.generation.output.report:notes_section",
}
"""Name of a section of report.md -> ``"module:function"``, in order."""


def report_of(material: Material, drafts: Sequence[Draft], sets: Sets) -> str:
    """Return the text of report.md."""
    sections: Registry[ReportSection] = Registry("section of the report", SECTIONS)
    counts = Counter(draft.state for draft in drafts)
    waiting_text = f", {counts['waiting']:,} waiting" if counts["waiting"] else ""
    lines = [
        "# Generated cases",
        "",
        f"{len(drafts):,} drafts: {counts['kept']:,} kept, {counts['dropped']:,} dropped{waiting_text}.",
    ]
    for name in SECTIONS:
        section = list(sections.get(name)(material, drafts, sets))
        lines += ["", *section] if section else []
    return "\n".join(lines) + "\n"


def cells_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the numbers of wanted, drafted and kept cases of each topic and task."""
    yield from ("## Cells", "")
    wanted = material.plan.per_cell
    rows = [
        (topic or "-", task, "-" if wanted is None else str(wanted), str(len(cell)), str(_count_kept(cell)))
        for (topic, task), cell in cells_of(drafts, material.plan.tasks, material.wanted_topics).items()
    ]
    yield from markdown_table(("topic", "task", "wanted", "drafted", "kept"), rows)


def reasons_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the reasons of dropped drafts with counts by generator and one example each."""
    counts = Counter((draft.reason, draft.generator) for draft in drafts if draft.state == "dropped")
    if not counts:
        return
    yield from ("## Dropped", "")
    first = {draft.reason: draft for draft in sorted(drafts, key=lambda each: each.id, reverse=True)}
    rows = [
        (reason, generator, str(count), f"{first[reason].id}: {first[reason].verdicts.get(reason, '')}".rstrip(": "))
        for (reason, generator), count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]
    yield from markdown_table(("reason", "generator", "drafts", "for example"), rows)


def sets_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the numbers of cases and documents of each set."""
    yield from ("## Sets", "")
    rows = []
    for name, members in (
        ("auto_test", sets.auto_test),
        ("auto_train", sets.auto_train),
        ("human_test", sets.human_test),
    ):
        documents = {source.page or source.id for draft in members for source in draft.sources}
        rows.append((f"{name}.jsonl", str(len(members)), str(len(documents))))
    yield from markdown_table(("file", "cases", "documents"), rows)


def notes_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield shortages, counts of left-out input, and warnings."""
    notes = [str(shortage) for shortage in material.shortages]
    notes += [f"{reason}: {count}" for reason, count in sorted(material.left_out.items())]
    notes += material.warnings
    if notes:
        yield from ("## Notes", "")
        yield from (f"- {markdown_cell(note)}" for note in notes)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a Markdown table; markup and control characters in cells are escaped."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(markdown_cell, row))} |"


def markdown_cell(text: str) -> str:
    """Escape a text for one line of Markdown."""
    safe = ascii_safe(" ".join(text.split(" ")))
    return "".join(f"\\{character}" if character in r"\`*[]<>|" else character for character in safe)


def _count_kept(drafts: Iterable[Draft]) -> int:
    return sum(draft.state == "kept" for draft in drafts)
