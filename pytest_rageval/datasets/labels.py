"""People's labels of answers: JSON Lines, or the labelling sheet that they filled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import found
from pytest_rageval.judges.replies import fold_label
from pytest_rageval.judges.values import value_of
from pytest_rageval.model.facets import facet_text
from pytest_rageval.model.judging import Judge

__all__ = ["Label", "read_labels"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Label:
    """What one person says of one answer.

    Attributes:
        id: the id of the case that was answered.
        value: the label's value in 0..1; None where nobody has filled it in yet, or where the label is worth none.
        text: the label as it was written.
        system: the name of the system that answered, or "" when the label does not say.
        answer: the answer that was labelled; None when the label does not say.
        metric: the metric that the label is of, or "" for any.
        rater: who labelled, or "".
        where: ``file:line`` of the label.
    """

    id: str
    value: float | None
    text: str = ""
    system: str = ""
    answer: str | None = None
    metric: str = ""
    rater: str = ""
    where: str = ""


def read_labels(
    path: Path,
    values: Mapping[str, float | None] | None = None,
    scale: tuple[int, int] | None = None,
    judges: Mapping[str, Judge] | None = None,
) -> tuple[Label, ...]:
    """Return the labels of a file of JSON Lines, of one JSON array, or of CSV where its name ends in ``.csv``.

    Keys: ``id``, ``label`` and, where known, ``system``, ``answer``, ``metric`` and ``rater``; others, as what a sheet
    shows to people, are not looked at. A label is a number in 0..1 or true or false, unless it is declared otherwise;
    a row whose label is blank or null has the value None.

    Args:
        path: the file.
        values: label -> value in 0..1, or None, of labels that are words; labels are compared without case.
        scale: the lowest and the highest of the whole numbers that labels are, worth 0 and 1; not beside ``values``.
        judges: metric -> its judge, whose scale or labels people have used, too; "" is of labels without a metric.

    Raises:
        DataError: a row is not so, its label is none that was declared, or one person labels one answer twice.
    """
    name = shown_path(path)
    declared = _folded(values or {}), scale
    own = {metric: _declared_by(judge) for metric, judge in (judges or {}).items()}
    seen: dict[object, int] = {}
    labels = []
    for line, record in read_sheet(path):
        label = _label(Fields(f"{name}:{line}", record), *own.get(str(record.get("metric") or "").strip(), declared))
        key = (label.id, label.system, label.answer, label.metric, label.rater)
        claim(seen, key, f"a label of the same rater for the same answer to the case {found(label.id)}", name, line)
        labels.append(label)
    return tuple(labels)


def _declared_by(judge: Judge) -> tuple[dict[str, float | None], tuple[int, int] | None]:
    """Return what labels are worth that people chose as the judge does; where it has words, 0 and 1 are values, too."""
    values: Mapping[str, float | None] = getattr(judge, "values", None) or {}
    return _folded({"0": 0.0, "1": 1.0, **values} if values else {}), getattr(judge, "scale", None)


def _folded(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {fold_label(label): value for label, value in values.items()}


def _label(record: Fields, worth: Mapping[str, float | None], scale: tuple[int, int] | None) -> Label:
    given = record.values.get("label", ...)
    if not (given is None or isinstance(given, (str, int, float))):
        raise record.error("label", "a label: a number, a string, true or false, or null where there is none yet")
    text = "" if given is None else facet_text(given).strip()
    record = record.without_nulls()
    return Label(
        id=record.identifier("id").strip(),
        value=_value(record, text, worth, scale) if text else None,
        text=text,
        system=record.string("system", "").strip(),
        answer=record.string("answer", "").strip() or None,
        metric=record.string("metric", "").strip(),
        rater=record.identifier("rater").strip() if record.values.get("rater") else "",
        where=record.where,
    )


def _value(record: Fields, text: str, worth: Mapping[str, float | None], scale: tuple[int, int] | None) -> float | None:
    """Return what a label is worth, in 0..1; None for a label that was declared to be worth none."""
    number = float(text) if _NUMBER.fullmatch(text) else None
    label: str | float = text if number is None else number
    if worth:
        wanted = f"one of {', '.join(map(repr, worth))}, as values of labels were declared"
        label = fold_label(text)
    elif scale is not None:
        wanted = f"a whole number in {scale[0]}..{scale[1]}, as the scale was declared"
        label = int(number) if number is not None and number.is_integer() else text
    else:
        wanted = "a number in 0..1; declare what words are worth (--value good=1), or a scale (--scale 0-2)"
        label = _TRUTH.get(text.lower(), label)
    try:
        return value_of(label, worth, scale)
    except ValueError:
        raise record.wrong("label", record.values["label"], wanted) from None
