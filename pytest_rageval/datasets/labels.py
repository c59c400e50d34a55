"""Read people's labels of answers: JSON Lines, or a labelling sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import short_repr
from pytest_rageval.judges.replies import fold_label
from pytest_rageval.judges.values import NUMBERS, Worth, worth_of
from pytest_rageval.model.facets import facet_text
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.storage import ALWAYS, Share

__all__ = ["Label", "read_labels"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Label:
    """One person's label of one answer.

    Attributes:
        id: the id of the case.
        value: the label's value in 0..1; None if the label is blank or has no value.
        text: the label as the person wrote it.
        system: the name of the system that answered, or "" if unknown.
        answer: the labelled answer; None if unknown.
        metric: the metric that was labelled; "" for any.
        rater: the name of the person, or "".
        where: ``file:line`` of the label.
    """

    id: str
    value: Share | None
    text: str = field(default="", metadata=ALWAYS)
    system: str = field(default="", metadata=ALWAYS)
    answer: str | None = field(default=None, metadata=ALWAYS)
    metric: str = field(default="", metadata=ALWAYS)
    rater: str = field(default="", metadata=ALWAYS)
    where: str = field(default="", metadata=ALWAYS)


def read_labels(
    path: Path,
    worth: Worth = NUMBERS,
    judges: Mapping[str, Judge] | None = None,
) -> tuple[Label, ...]:
    """Return the labels of a file: JSON Lines, one JSON array, or CSV (``.csv``).

    Keys: ``id``, ``label`` and, if known, ``system``, ``answer``, ``metric`` and ``rater``. Other keys, such as the
    texts that a sheet shows to people, are ignored. A label is a number in 0..1, true or false, unless ``worth`` or a
    judge declares other labels. A blank or null label has the value None.

    Args:
        path: the file.
        worth: the values of labels; words are compared ignoring case.
        judges: metric -> the judge whose words or scale people used; with words, numbers in 0..1 are also allowed. The
            key "" is for labels without a metric.

    Raises:
        DataError: a row is invalid, its label is not declared, or one person labels one answer twice.
    """
    name = shown_path(path)
    declared = _fold(worth)
    by_metric = {metric: _fold(worth_of(judge)) for metric, judge in (judges or {}).items()}
    seen: dict[object, int] = {}
    labels = []
    for line, record in read_sheet(path):
        judge_worth = by_metric.get(str(record.get("metric") or "").strip())
        label = _label(Fields(f"{name}:{line}", record), judge_worth or declared, by_judge=judge_worth is not None)
        key = (label.id, label.system, label.answer, label.metric, label.rater)
        claim(
            seen, key, f"a label of the same rater for the same answer to the case {short_repr(label.id)}", name, line
        )
        labels.append(label)
    return tuple(labels)


def _fold(worth: Worth) -> Worth:
    return Worth({fold_label(label): value for label, value in worth.values.items()}, worth.scale)


def _label(record: Fields, worth: Worth, *, by_judge: bool) -> Label:
    raw = record.values.get("label", ...)
    if not (raw is None or isinstance(raw, (str, int, float))):
        raise record.error("label", "a label: a number, a string, true or false, or null if there is none yet")
    text = "" if raw is None else facet_text(raw).strip()
    record = record.without_nulls()
    return Label(
        id=record.identifier("id").strip(),
        value=_value(record, text, worth, by_judge=by_judge) if text else None,
        text=text,
        system=record.string("system", "").strip(),
        answer=record.string("answer", "").strip() or None,
        metric=record.string("metric", "").strip(),
        rater=record.identifier("rater").strip() if record.values.get("rater") else "",
        where=record.where,
    )


def _value(record: Fields, text: str, worth: Worth, *, by_judge: bool) -> float | None:
    """Return the value of a label in 0..1; None if it has no value. ``by_judge``: a judge declares the values."""
    number = float(text) if _NUMBER.fullmatch(text) else None
    share = _TRUTH.get(text.lower(), number)
    label: str | float = text if share is None else share
    if worth.values:
        wanted = f"one of {', '.join(map(repr, worth.values))}"
        wanted += ", or a number in 0..1" if by_judge else ", because values of labels were declared"
        word = fold_label(text)
        if by_judge and word not in worth.values:
            worth = NUMBERS
        else:
            label = word
    elif worth.scale is not None:
        low, high = worth.scale
        kind = "whole number" if worth.whole else "number"
        source = "scale of the judge" if by_judge else "declared scale"
        wanted = f"a {kind} in {low:g}..{high:g}, the {source}"
        label = number if number is not None and (number.is_integer() or not worth.whole) else text
    else:
        wanted = (
            "a number in 0..1; declare the values of words (--value good=1), or a scale (--scale 0..2, --scale -2..2)"
        )
    try:
        return worth.of(label)
    except ValueError:
        raise record.wrong("label", record.values["label"], wanted) from None
