"""``rageval agreement``: compare a run's metrics with people's labels."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.analysis.people.labelled_answers import MatchedLabels, match_labels
from pytest_rageval.commands.judges import judges_of_run
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.datasets.labels import Label, read_labels
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.judges.values import Worth, is_share, worth_of
from pytest_rageval.model.judging import Judge
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.run.judge_agreement import measure_label_agreement
from pytest_rageval.report.terminal.agreement_tables import label_agreement_json, label_agreement_lines

__all__ = ["agreement", "match_label_file", "parse_worth"]

MAX_STEPS = 1_000
"""Maximum number of steps of a scale of whole numbers, such as 2 of the scale 0..2."""

_SCALE = re.compile(r"(?P<low>-?[0-9]+(?:\.[0-9]+)?)(?:\.\.|-)(?P<high>-?[0-9]+(?:\.[0-9]+)?)")


def parse_worth(values: Sequence[str], scale: str | None) -> Worth:
    """Parse ``--value LABEL=X`` and ``--scale LOW..HIGH``, also written ``LOW-HIGH``.

    If both ends are whole numbers, such as ``0..2``, labels are whole numbers. With ends such as ``-2.0..2.0``, labels
    are any numbers between them.

    Raises:
        SettingError: an option is malformed, or both are set.
    """
    if values and scale is not None:
        raise SettingError("--value and --scale exclude each other: labels are words or numbers; give one option")
    worth: dict[str, float | None] = {}
    for text in values:
        label, mark, number = text.rpartition("=")
        value = _number(number)
        if not (mark and label.strip() and is_share(value)):
            raise SettingError(f"--value {short_repr(text)}: wanted LABEL=X with X in 0..1, such as 'good=1'")
        worth[label] = value
    if scale is None:
        return Worth(worth)
    ends = _SCALE.fullmatch(scale.strip())
    low, high = (0.0, 0.0) if ends is None else (float(ends["low"]), float(ends["high"]))
    if ends is None or not low < high < math.inf or low == -math.inf:
        raise SettingError(f"--scale {short_repr(scale)}: wanted two numbers, the lower first, such as 0..2 or -2..2")
    if "." in ends["low"] + ends["high"]:
        return Worth(scale=(low, high))
    if high - low > MAX_STEPS:
        advice = f"write decimals for any number between them, such as {low:.1f}..{high:.1f}"
        raise SettingError(f"--scale {short_repr(scale)}: wanted at most {MAX_STEPS:,} steps; {advice}")
    return Worth(scale=(int(low), int(high)))


def agreement(
    labels: Path,
    run: str | None,
    worth: Worth,
    *,
    metrics: Sequence[str],
    by: str,
    threshold: float | None,
    as_json: bool,
) -> Iterator[str]:
    """Yield the agreement of a run's metrics with people's labels, as lines or as one JSON text.

    Args:
        labels: the file of people's labels.
        run: the run's name, or the path of its results.json; None is the newest.
        worth: the value of each label; if empty, a judge's metric uses the judge's own labels.
        metrics: the metrics to compare; empty for the metrics of the labels, and for all answer metrics if a label
            names no metric.
        by: a facet to slice by, or "".
        threshold: labels and metric values of at least this number, in 0..1, count as 1, others as 0; None keeps them.
        as_json: yield one JSON text instead of lines.

    Raises:
        RagEvalError: the labels or the run cannot be read, or no label belongs to an answer of the run.
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise SettingError(f"--threshold {threshold:g}: wanted a number above 0 and at most 1")
    stored = stored_run(rootdir(Path.cwd()), run)
    judges = {} if worth.declared else judges_of_run(stored, metrics)
    matches = match_label_file(labels, stored, worth, judges)
    outcomes = stored.run.originals()
    names = metrics or _metrics(matches, stored)
    levels = {name: (worth_of(judges[name]) if name in judges else worth).levels for name in names}
    with doing("comparing with the labels"):
        comparison = measure_label_agreement(matches, outcomes, names, by=by, label_values=levels, threshold=threshold)
    if as_json:
        yield json.dumps({"run": stored.results["run"]["id"], **label_agreement_json(comparison)}, indent=1)
        return
    yield stored.head
    if worth.scale is not None:
        low, high = worth.scale
        yield f"labels of {low:g}..{high:g} count as 0..1: {low:g} is 0, {high:g} is 1"
    yield from label_agreement_lines(comparison, shutil.get_terminal_size().columns)


def match_label_file(path: Path, stored: StoredRun, worth: Worth, judges: Mapping[str, Judge]) -> MatchedLabels:
    """Read a file of labels with `read_labels`, and match them to the answers of a run.

    Raises:
        DataError: the file cannot be read, or no label belongs to an answer of the run.
    """
    with doing(f"reading {path}"):
        labels = read_labels(path, worth, judges)
        matches = match_labels(labels, stored.run.originals())
    if not matches.answers:
        raise DataError(shown_path(path), _mismatch(labels, matches))
    return matches


def _mismatch(labels: Sequence[Label], matches: MatchedLabels) -> str:
    """Return why no label belongs to an answer of the run."""
    if len(matches.blank) == len(labels):
        return f"none of its {len(labels)} rows has a label yet; fill in the column label"
    why, rest = max(matches.unmatched.items(), key=lambda entry: len(entry[1]))
    return (
        f"no label belongs to an answer of the run: {len(rest)} of {len(labels)} are {why}, "
        f"for example {short_repr(rest[0].id)} ({rest[0].where}); name another file or run"
    )


def _metrics(matches: MatchedLabels, stored: StoredRun) -> list[str]:
    """Return the metrics that the labels name, in the run's order; all answer metrics if a label names none."""
    label_metrics = {label.metric for answer in matches.answers for label in answer.labels}
    computed = {name: None for answer in matches.answers for each in answer.outcomes for name in each.scores}
    infos = stored.run.plan.metrics
    return [
        name
        for name in computed
        if name in label_metrics or ("" in label_metrics and (name not in infos or infos[name].of == "answer"))
    ]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
