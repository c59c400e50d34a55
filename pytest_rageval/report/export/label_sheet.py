"""The labelling sheet: a sample of a run's answers, for people to say what they are worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.datasets.fields import RESERVED
from pytest_rageval.datasets.sheets import sheet_text
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
"""The columns of a sheet; people fill in the label and who they are."""

Row = dict[str, str]


def answers_to_label(outcomes: Sequence[Outcome], metric: str) -> list[Outcome]:
    """Return the outcomes that have an answer to which the metric applies, each answer once; "" is any metric."""
    found: dict[tuple[str, str, str], Outcome] = {}
    for outcome in outcomes:
        score = outcome.scores.get(metric)
        applies = score is not None and not (score.reason or "").startswith("not_applicable")
        if outcome.answer is not None and outcome.answer.generated and (applies or not metric):
            found.setdefault((outcome.case_id, outcome.system, outcome.answer.text), outcome)
    return list(found.values())


def rows_of(
    answers: Sequence[Outcome],
    instances: Mapping[str, Any],
    n: int,
    seed: int,
    metric: str,
    instructions: Callable[[Sample], str],
) -> list[Row]:
    """Return the rows of a sheet, in an order that the seed alone decides.

    A share of each topic x task is taken, see `stratified`. A row holds nothing that any metric or judge said.

    Args:
        answers: what there is to label.
        instances: those of the results.json.
        n: how many are wanted.
        seed: decides which are taken, and their order.
        metric: what is labelled, or "".
        instructions: what a person is told to do with a sample.

    Raises:
        SettingError: the results hold no texts.
    """
    samples = [sample_of(outcome, instances) for outcome in answers]
    chosen = stratified([sample.case for sample in samples], n, seed)
    order = sorted(chosen, key=lambda at: digest(seed, "order", answers[at].nodeid))
    return [_row(answers[at], samples[at], metric, instructions(samples[at])) for at in order]


def _row(outcome: Outcome, sample: Sample, metric: str, instructions: str) -> Row:
    instance = sample.case.instance
    shown: Sequence[Any] = sample.case.supplied or tuple(sample.answer.ranking or ())
    texts = {
        "id": outcome.case_id,
        "system": outcome.system,
        "metric": metric,
        "question": instance.question,
        "history": "\n".join(f"{turn.question}\n{turn.answer}" for turn in instance.history),
        "gold": "\n".join(" | ".join(slot) for slot in instance.gold),
        "passages": "\n\n".join("\n".join(filter(None, (each.title, each.text))) for each in shown),
        "answer": sample.answer.text,
        "instructions": instructions,
        "facets": json.dumps(
            {name: value for name, value in sorted(outcome.facets.items()) if name not in RESERVED}, ensure_ascii=False
        ),
    }
    return {column: texts.get(column, "") for column in COLUMNS}


def _csv(rows: Sequence[Row]) -> str:
    return "\ufeff" + sheet_text(COLUMNS, (list(row.values()) for row in rows))  # by the mark Excel knows UTF-8


def _jsonl(rows: Sequence[Row]) -> str:
    return "".join(json.dumps({**row, "label": None, "rater": None}, ensure_ascii=False) + "\n" for row in rows)


FORMATS: Mapping[str, Callable[[Sequence[Row]], str]] = {".csv": _csv, ".jsonl": _jsonl}
"""Suffix of a file -> what writes rows as its text."""
