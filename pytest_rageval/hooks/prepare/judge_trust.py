"""Read people's labels, and the minimum kappa that each judge must reach with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.min_kappas import KAPPA, RequiredTrust
from pytest_rageval.metrics.judges.people import corrected_metric

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.model.judging import Judge

__all__ = ["required_trust"]


def required_trust(collected: Collected) -> RequiredTrust:
    """Return the labels and minimum kappas for the session's judges.

    The ini and the labels may name a judge, or one of its metrics.

    Raises:
        RagEvalError: the file cannot be read, a label does not say which of several judges it is for, or the ini names
            a metric that no judge scores.
    """
    setting = collected.options.trust
    corrected = [name for testbed in collected.testbeds.values() for name in testbed.metrics if corrected_metric(name)]
    if setting.labels is None:
        if corrected:
            raise SettingError(f"{corrected[0]} needs people's labels; name their file in the ini as rag_judge_labels")
        return RequiredTrust()
    from pytest_rageval.datasets.labels import read_labels

    judges = _judges(collected)
    by_metric = {name: judge for name, judge in judges.items() if judge is not None}
    by_name = {judge.name: judge for judge in by_metric.values()}
    min_kappas: dict[str, float] = {}
    for name, kappa in setting.min_kappas.items():
        judge = name if name in ("", *by_name) else _judge_of(name, collected)
        if judge in min_kappas:
            raise SettingError(f"{KAPPA} has two lines for the judge {short_repr(judge)}; write one")
        min_kappas[judge] = kappa
    if not by_name and not corrected:
        return RequiredTrust(min_kappas=min_kappas)
    default = {"": next(iter(by_name.values()))} if len(by_name) == 1 else {}
    in_labels = _judges_of_labels(setting.labels, collected)
    labels = read_labels(setting.labels, judges={**in_labels, **by_metric, **by_name, **default})
    unnamed = next((label for label in labels if not label.metric), None)
    if unnamed is not None and len(by_name) > 1:
        problem = f"the label names no metric, and {', '.join(sorted(by_name))} are judged; add the key metric"
        raise SettingError(f"{unnamed.where}: {problem}")
    known = {*by_metric, *by_name, ""}
    for label in labels:
        if label.metric not in known:
            collected.catalog.metrics.get(label.metric, f"{label.where}: metric")
    names = {name: judge.name for name, judge in by_metric.items()}
    return RequiredTrust(
        tuple(replace(label, metric=names.get(label.metric, label.metric)) for label in labels), min_kappas
    )


def _judges(collected: Collected) -> dict[str, Judge | None]:
    """Return metric -> its judge, or None, for the metrics of the session."""
    metrics = {name: metric for testbed in collected.testbeds.values() for name, metric in testbed.metrics.items()}
    return {name: metric.judge_asked for name, metric in metrics.items()}


def _judges_of_labels(labels: Path, collected: Collected) -> dict[str, Judge]:
    """Return metric -> its judge, for all metrics in the file of labels; a session may run only some of them."""
    from pytest_rageval.datasets.sheets import read_sheet

    metrics = collected.catalog.metrics
    names = {str(record.get("metric") or "").strip() for _, record in read_sheet(labels)}
    judges = {name: metrics.get(name).judge_asked for name in names if name in metrics}
    return {name: judge for name, judge in judges.items() if judge is not None}


def _judge_of(name: str, collected: Collected) -> str:
    """Return the name of a metric's judge; raise `SettingError` if no judge scores the metric."""
    judge = collected.catalog.metrics.get(name, KAPPA).judge_asked
    if judge is None:
        raise SettingError(f"{KAPPA} names {short_repr(name)}, which no judge scores; name a judged metric")
    return judge.name
