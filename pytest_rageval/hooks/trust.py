"""``rag_judge_labels`` and ``rag_judge_min_kappa``: how well judges have to agree with people, and who says so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, found

if TYPE_CHECKING:
    from pytest_rageval.datasets.labels import Label
    from pytest_rageval.hooks.collected import Collected
    from pytest_rageval.model.judging import Judge

__all__ = ["KAPPA", "LABELS", "TrustAsked", "labels_of_people", "trust_asked"]

LABELS, KAPPA = "rag_judge_labels", "rag_judge_min_kappa"
EVERY = ""
"""In the place of a judge's name: every judge that is not named."""


@dataclass(frozen=True, slots=True)
class TrustAsked:
    """What the ini asks of judges.

    Attributes:
        labels: the file of people's labels; None where nothing is asked.
        least: judge, or "" for every other, -> the least kappa.
    """

    labels: Path | None = None
    least: Mapping[str, float] = field(default_factory=dict)


def trust_asked(labels: str, kappas: Sequence[str], folder: Path) -> TrustAsked:
    """Return what the ini asks of judges, checked for form.

    Args:
        labels: the file of labels, or "".
        kappas: lines ``kappa`` or ``judge: kappa``.
        folder: what the file's path is relative to.
    """
    text = labels.strip()
    least: dict[str, float] = {}
    for line in kappas:
        name, _, number = (part.strip() for part in line.rpartition(":"))
        if name in least:
            raise SettingError(f"{KAPPA} gives two numbers for {found(name) if name else 'every judge'}; give one")
        least[name] = _kappa(line, number)
    if bool(text) != bool(least):
        given, missing = (LABELS, KAPPA) if text else (KAPPA, LABELS)
        raise SettingError(f"{given} has no effect without {missing}; set both, or neither")
    if not text:
        return TrustAsked()
    path = folder / text
    if not path.is_file():
        raise SettingError(f"{LABELS} names {found(str(path))}, and there is no such file; correct the path")
    return TrustAsked(path, least)


def labels_of_people(collected: Collected) -> tuple[Label, ...]:
    """Return the labels of the file that the ini names, each by the ids that its case has in this session.

    Raises:
        RagEvalError: the file cannot be read, or a label does not say which of several judges it is about; what the
            ini names is no metric.
    """
    asked = collected.options.trust
    if asked.labels is None:
        return ()
    for name in asked.least:
        if name != EVERY and collected.catalog.metrics.get(name, KAPPA).judge is None:
            raise SettingError(f"{KAPPA} names {found(name)}, which no judge scores; name a judged metric")
    from pytest_rageval.datasets.labels import read_labels

    judges = _judges(collected)
    alone = dict(zip([""], judges.values(), strict=False)) if len(judges) == 1 else {}
    labels = read_labels(asked.labels, judges={**judges, **alone})
    unnamed = next((label for label in labels if not label.metric), None)
    if unnamed is not None and len(judges) > 1:
        problem = f"the label names no metric, and {', '.join(sorted(judges))} are judged; add the key metric"
        raise SettingError(f"{unnamed.where}: {problem}")
    ids: dict[str, set[str]] = {}
    for (_, own), name in collected.case_ids.items():
        ids.setdefault(own, set()).add(name)
    return tuple(replace(label, id=name) for label in labels for name in sorted(ids.get(label.id, {label.id})))


def _judges(collected: Collected) -> dict[str, Judge]:
    """Return the judges of the session's metrics that ask a model, by name."""
    metrics = [metric for testbed in collected.testbeds.values() for metric in testbed.metrics.values()]
    judges = [metric.judge for metric in metrics if metric.judge is not None]
    return {judge.name: judge for judge in judges if getattr(judge, "needs_model", True)}


def _kappa(line: str, text: str) -> float:
    try:
        kappa = float(text)
    except ValueError:
        kappa = math.nan
    if not 0 < kappa <= 1:
        raise SettingError(f"{KAPPA} has the line {found(line)}; write a number above 0 and at most 1, such as 0.6")
    return kappa
