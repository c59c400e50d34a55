"""Draw a sample of a run's answers as a sheet for people to label."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.datasets.fields import RESERVED
from pytest_rageval.datasets.sheets import sheet_text
from pytest_rageval.model.facets import OF_SYSTEMS
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.sample import Sample
from pytest_rageval.report.run.judge_samples import sample_of
from pytest_rageval.testbeds.ids import digest
from pytest_rageval.testbeds.selection import stratified

__all__ = ["COLUMNS", "FORMATS", "answers_to_label", "rows_of"]

COLUMNS = (
    "id", "system", "metric", "question", "history", "gold", "passages", "answer", "label", "rater", "instructions",
    "facets",
)  # fmt: skip
"""The columns of a sheet; people fill in ``label`` and ``rater``."""

PLUGIN_FACETS = RESERVED.union(OF_SYSTEMS)
"""Facets that the plugin sets; a sheet leaves them out."""

Row = dict[str, str]


def answers_to_label(outcomes: Sequence[Outcome], metric: str) -> list[Outcome]:
    """Return the distinct answers to which the metric applies; "" means any metric."""
    distinct: dict[tuple[str, str, str], Outcome] = {}
    for outcome in outcomes:
        score = outcome.scores.get(metric)
        applies = score is not None and not (score.reason or "").startswith("not_applicable")
        if outcome.answer is not None and outcome.answer.generated and (applies or not metric):
            distinct.setdefault((outcome.case_id, outcome.system, outcome.answer.text), outcome)
    return list(distinct.values())


def rows_of(
    answers: Sequence[Outcome],
    instances: Mapping[str, Any],
    n: int,
    seed: int,
    metric: str,
    instructions: Callable[[Sample], str],
) -> list[Row]:
    """Return the rows of a sheet, in random order.

    The sample takes a share of each topic x task, see `stratified`. A row contains no score and no judge's verdict.

    Args:
        answers: the answers to choose from.
        instances: the instances of the results.json.
        n: size of the sample.
        seed: decides the sample and its order; the same seed gives the same sheet.
        metric: the metric to label, or "".
        instructions: returns the instructions for a person to label a sample.

    Raises:
        SettingError: the results contain no texts.
    """
    samples = [sample_of(outcome, instances) for outcome in answers]
    sample_indexes = stratified([sample.case for sample in samples], n, seed)
    order = sorted(sample_indexes, key=lambda index: digest(seed, "order", answers[index].nodeid))
    return [_row(answers[index], samples[index], metric, instructions(samples[index])) for index in order]


def _row(outcome: Outcome, sample: Sample, metric: str, instructions: str) -> Row:
    instance = sample.case.instance
    passages: Sequence[Any] = sample.case.supplied or tuple(sample.answer.ranking or ())
    texts = {
        "id": outcome.case_id,
        "system": outcome.system,
        "metric": metric,
        "question": instance.question,
        "history": "\n".join(f"{turn.question}\n{turn.answer}" for turn in instance.history),
        "gold": "\n".join(" | ".join(slot) for slot in instance.gold),
        "passages": "\n\n".join("\n".join(filter(None, (each.title, each.text))) for each in passages),
        "answer": sample.answer.text,
        "instructions": instructions,
        "facets": json.dumps(
            {name: value for name, value in sorted(outcome.facets.items()) if name not in PLUGIN_FACETS},
            ensure_ascii=False,
        ),
    }
    return {column: texts.get(column, "") for column in COLUMNS}


def _csv(rows: Sequence[Row]) -> str:
    return "\ufeff" + sheet_text(COLUMNS, (list(row.values()) for row in rows))  # Excel detects UTF-8 by the BOM


def _jsonl(rows: Sequence[Row]) -> str:
    return "".join(json.dumps({**row, "label": None, "rater": None}, ensure_ascii=False) + "\n" for row in rows)


FORMATS: Mapping[str, Callable[[Sequence[Row]], str]] = {".csv": _csv, ".jsonl": _jsonl}
"""File suffix -> function from rows to text."""
