"""Read people's labels as the examples that train or test a local judge."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rageval.analysis.people.labelled_answers import match_labels
from pytest_rageval.analysis.people.reliability import alpha
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.labelled import instance_of
from pytest_rageval.datasets.labels import Label, read_labels
from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.judges.replies import fold_label
from pytest_rageval.judges.values import Worth, worth_of
from pytest_rageval.local_judges.features import JudgeInput
from pytest_rageval.model.judging import Judge
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.run.judge_samples import sample_of

__all__ = [
    "Example",
    "Examples",
    "digest_of_example",
    "digest_of_examples",
    "read_examples",
    "refuse_other_parts",
    "unit_of",
]

Pair = tuple[JudgeInput, str]
"""An answer and its system."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled answer.

    Attributes:
        judged: the texts that the judge reads.
        system: the system that answered, or "".
        value: people's value, 0..1.
        label: the judge's label with this value.
    """

    judged: JudgeInput
    system: str
    value: float
    label: str | float

    @property
    def unit(self) -> str:
        """The folded question; all answers to it stay in one part of a split."""
        return unit_of(self.judged.question)


@dataclass(frozen=True, slots=True)
class Examples:
    """The labelled answers of sheets.

    Attributes:
        rows: one for each answer of a system, in an order that does not depend on the sheets.
        left_out: reason -> number of labels that are not used.
        alpha: Krippendorff's alpha among people; None if no answer has two labels.
        n_several: number of answers with two labels or more.
    """

    rows: tuple[Example, ...]
    left_out: Mapping[str, int]
    alpha: float | None
    n_several: int


def unit_of(question: str) -> str:
    """Return a question with case and white space folded; all answers to it stay in one part of a split."""
    return " ".join(question.casefold().split())


def read_examples(sheets: Sequence[Path], judge: Judge, worth: Worth, run: Callable[[], StoredRun]) -> Examples:
    """Return the labelled answers of sheets for a metric's judge.

    A row with a question has all texts in its sheet. A row without a question labels an answer of a run. If people
    disagree about an answer, the most frequent label counts; without a majority the answer is left out. A row without
    ``rater`` belongs to the person of its sheet.

    Args:
        sheets: the files of labels.
        judge: the judge that the labels are for.
        worth: the value of each label; if empty, the values of the judge.
        run: returns the run that rows without texts belong to.

    Raises:
        RagEvalError: a sheet or the run cannot be read, a column is missing, or the judge does not have a label.
    """
    left_out: Counter[str] = Counter()
    by_pair: dict[Pair, list[Label]] = {}
    for sheet in sheets:
        for pair, label in _labels_of_sheet(sheet, judge, worth, run, left_out):
            label = label if label.rater else replace(label, rater=shown_path(sheet))
            by_pair.setdefault(pair, []).append(label)
    rows: list[Example] = []
    groups: list[list[float]] = []
    for (judged, system), labels in by_pair.items():
        distinct = {(label.rater, label.value): label for label in labels}
        values = [label.value for label in distinct.values() if label.value is not None]
        groups.append(values)
        (value, most), *others = Counter(values).most_common()
        if others and others[0][1] == most:
            left_out["people disagree without a majority"] += len(labels)
            continue
        one = next(label for label in labels if label.value == value)
        rows.append(Example(judged, system, value, _as_judge(one, judge)))
    rows.sort(key=_order)
    several = [group for group in groups if len(group) > 1]
    agreement = alpha(several, sorted({value for group in several for value in group})) if several else None
    return Examples(tuple(rows), dict(left_out), agreement, len(several))


def digest_of_example(example: Example) -> str:
    """Return 12 hexadecimal digits of the digest of an example's texts, without its label and system."""
    judged = example.judged
    plain = [judged.question, judged.gold, judged.answer, judged.language]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:12]


def digest_of_examples(rows: Iterable[Example]) -> str:
    """Return sha256 of the texts, systems and values of examples."""
    plain = [
        [each.judged.question, each.judged.gold, each.judged.answer, each.judged.language, each.system, each.value]
        for each in rows
    ]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _order(example: Example) -> tuple[str, ...]:
    judged = example.judged
    return example.unit, judged.question, example.system, judged.answer, str(judged.gold), judged.language


def _labels_of_sheet(
    sheet: Path, judge: Judge, worth: Worth, run: Callable[[], StoredRun], left_out: Counter[str]
) -> list[tuple[Pair, Label]]:
    """Return the labels of a sheet with their answers; count the labels that are left out."""
    judges = {} if worth.declared else {judge.name: judge, "": judge}
    shown = shown_path(sheet)
    needs_gold = "gold" in getattr(judge, "shows", ("gold",))
    pairs: list[tuple[Pair, Label]] = []
    labels_of_run: list[Label] = []
    labels = read_labels(sheet, worth, judges)
    for (line, record), label in zip(read_sheet(sheet), labels, strict=True):
        if label.metric not in ("", judge.name):
            left_out["of another metric"] += 1
        elif label.value is None:
            left_out["blank, or without a value"] += 1
        elif not str(record.get("question") or "").strip():
            labels_of_run.append(label)
        else:
            fields = Fields(f"{shown}:{line}", record).without_nulls()
            for column in ("answer", *(["gold"] if needs_gold else [])):
                if column not in record:
                    problem = f"the column {column} is missing; a row with a question needs its answer and gold, too"
                    raise DataError(fields.where, problem, code="RAG202")
            instance = instance_of(fields, sheet.stem)
            if needs_gold and not instance.gold:
                left_out["without a gold answer"] += 1
                continue
            judged = JudgeInput(instance.question, instance.gold, fields.string("answer", ""), instance.language)
            pairs.append(((judged, label.system), label))
    if labels_of_run:
        pairs += _labels_of_run(labels_of_run, judge, run(), left_out, needs_gold=needs_gold)
    return pairs


def _labels_of_run(
    labels: Sequence[Label], judge: Judge, stored: StoredRun, left_out: Counter[str], *, needs_gold: bool
) -> list[tuple[Pair, Label]]:
    """Return the labels of answers of a run, with the texts of the run."""
    matches = match_labels(labels, stored.run.originals())
    left_out.update({why: len(each) for why, each in matches.unmatched.items()})
    pairs: list[tuple[Pair, Label]] = []
    for answer in matches.answers:
        outcome = answer.outcomes[0]
        sample = sample_of(outcome, stored.results["instances"])
        instance = sample.case.instance
        if needs_gold and not instance.gold:
            left_out["without a gold answer"] += len(answer.labels)
            continue
        judged = JudgeInput(instance.question, instance.gold, sample.answer.text, instance.language)
        pairs += [((judged, outcome.system), label) for label in answer.labels]
    return pairs


def _as_judge(label: Label, judge: Judge) -> str | float:
    """Return the judge's label with the value of a person's label, or raise `DataError`."""
    worth, value = worth_of(judge), label.value or 0.0
    if not worth.declared:
        return value
    same_name = [one for one in worth.values if fold_label(one) == fold_label(label.text) and worth.of(one) == value]
    alike = same_name or worth.having(value)
    if alike:
        return alike[0]
    declared = ", ".join(f"{name} ({of:g})" for name, of in worth.values.items() if of is not None)
    expected = f"a value of one of its labels {declared}" if declared else f"a step of its scale {worth.scale}"
    problem = f"the label {short_repr(label.text)} has the value {value:g}, which {judge.name} does not have"
    raise DataError(label.where, f"{problem}, wanted {expected}")


def refuse_other_parts(judge: Judge) -> None:
    """Raise `SettingError` for a judge that reads more than question, gold answer and answer."""
    other = [part for part in getattr(judge, "shows", ()) if part not in ("question", "gold", "answer")]
    if other:
        problem = f"{judge.name} is judged by the {' and '.join(other)}, which a local judge does not read"
        raise SettingError(f"--metric {judge.name}: {problem}; name a metric judged against the gold answer")
