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
from pytest_rageval.judges.values import NUMBERS, Worth, worth_of
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
    worth: Worth = NUMBERS,
    judges: Mapping[str, Judge] | None = None,
) -> tuple[Label, ...]:
    """Return the labels of a file of JSON Lines, of one JSON array, or of CSV where its name ends in ``.csv``.

    Keys: ``id``, ``label`` and, where known, ``system``, ``answer``, ``metric`` and ``rater``; others, as what a sheet
    shows to people, are not looked at. A label is a number in 0..1 or true or false, unless it is declared otherwise;
    a row whose label is blank or null has the value None.

    Args:
        path: the file.
        worth: what labels are worth; words are compared without case.
        judges: metric -> its judge, whose scale or words people have used instead, beside words also numbers in 0..1;
            "" is of labels without a metric.

    Raises:
        DataError: a row is not so, its label is none that was declared, or one person labels one answer twice.
    """
    name = shown_path(path)
    declared = _folded(worth)
    own = {metric: _folded(worth_of(judge)) for metric, judge in (judges or {}).items()}
    seen: dict[object, int] = {}
    labels = []
    for line, record in read_sheet(path):
        its = own.get(str(record.get("metric") or "").strip())
        label = _label(Fields(f"{name}:{line}", record), its or declared, own=its is not None)
        key = (label.id, label.system, label.answer, label.metric, label.rater)
        claim(seen, key, f"a label of the same rater for the same answer to the case {found(label.id)}", name, line)
        labels.append(label)
    return tuple(labels)


def _folded(worth: Worth) -> Worth:
    return Worth({fold_label(label): value for label, value in worth.values.items()}, worth.scale)


def _label(record: Fields, worth: Worth, *, own: bool) -> Label:
    given = record.values.get("label", ...)
    if not (given is None or isinstance(given, (str, int, float))):
        raise record.error("label", "a label: a number, a string, true or false, or null where there is none yet")
    text = "" if given is None else facet_text(given).strip()
    record = record.without_nulls()
    return Label(
        id=record.identifier("id").strip(),
        value=_value(record, text, worth, own=own) if text else None,
        text=text,
        system=record.string("system", "").strip(),
        answer=record.string("answer", "").strip() or None,
        metric=record.string("metric", "").strip(),
        rater=record.identifier("rater").strip() if record.values.get("rater") else "",
        where=record.where,
    )


def _value(record: Fields, text: str, worth: Worth, *, own: bool) -> float | None:
    """Return what a label is worth, in 0..1; None for one that is worth none. ``own`` says that a judge has them so."""
    number = float(text) if _NUMBER.fullmatch(text) else None
    share = _TRUTH.get(text.lower(), number)
    label: str | float = text if share is None else share
    if worth.values:
        wanted = f"one of {', '.join(map(repr, worth.values))}"
        wanted += ", or a number in 0..1" if own else ", as values of labels were declared"
        word = fold_label(text)
        if own and word not in worth.values:
            worth = NUMBERS
        else:
            label = word
    elif worth.scale is not None:
        low, high = worth.scale
        wanted = f"a whole number in {low}..{high}, as the {'judge has it' if own else 'scale was declared'}"
        label = int(number) if number is not None and number.is_integer() else text
    else:
        wanted = "a number in 0..1; declare what words are worth (--value good=1), or a scale (--scale 0-2)"
    try:
        return worth.of(label)
    except ValueError:
        raise record.wrong("label", record.values["label"], wanted) from None
