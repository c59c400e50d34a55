"""Read the labels and the minimum kappa that each judge of a session must reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.min_kappas import KAPPA, RequiredTrust
from pytest_rageval.metrics.judges.people import corrects

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.model.judging import Judge

__all__ = ["required_trust"]


def required_trust(collected: Collected) -> RequiredTrust:
    """Return the labels and kappas for the session's judges; the ini and labels may name a judge by its metric.

    Raises:
        RagEvalError: the file cannot be read, a label does not name one of several judges, or the ini names something
            that is not a judged metric.
    """
    setting = collected.options.trust
    corrected = [name for testbed in collected.testbeds.values() for name in testbed.metrics if corrects(name)]
    if setting.labels is None:
        if corrected:
            raise SettingError(f"{corrected[0]} needs people's labels; name their file in the ini as rag_judge_labels")
        return RequiredTrust()
    from pytest_rageval.datasets.labels import read_labels

    judges = _judges(collected)
    of_metric = {name: judge for name, judge in judges.items() if judge is not None}
    by_name = {judge.name: judge for judge in of_metric.values()}
    least: dict[str, float] = {}
    for name, kappa in setting.min_kappas.items():
        judge = name if name in ("", *by_name) else _judge_of(name, collected)
        if judge in least:
            raise SettingError(f"{KAPPA} has two lines for the judge {short_repr(judge)}; write one")
        least[judge] = kappa
    if not by_name and not corrected:
        return RequiredTrust(min_kappas=least)
    default = {"": next(iter(by_name.values()))} if len(by_name) == 1 else {}
    of_labels = _judges_of_labels(setting.labels, collected)
    labels = read_labels(setting.labels, judges={**of_labels, **of_metric, **by_name, **default})
    unnamed = next((label for label in labels if not label.metric), None)
    if unnamed is not None and len(by_name) > 1:
        problem = f"the label names no metric, and {', '.join(sorted(by_name))} are judged; add the key metric"
        raise SettingError(f"{unnamed.where}: {problem}")
    known = {*of_metric, *by_name, ""}
    for label in labels:
        if label.metric not in known:
            collected.catalog.metrics.get(label.metric, f"{label.where}: metric")
    names = {name: judge.name for name, judge in of_metric.items()}
    return RequiredTrust(tuple(replace(label, metric=names.get(label.metric, label.metric)) for label in labels), least)


def _judges(collected: Collected) -> dict[str, Judge | None]:
    """Return metric -> its judge, or None, for the metrics of the session."""
    metrics = {name: metric for testbed in collected.testbeds.values() for name, metric in testbed.metrics.items()}
    return {name: metric.judge_asked for name, metric in metrics.items()}


def _judges_of_labels(labels: Path, collected: Collected) -> dict[str, Judge]:
    """Return metric -> its judge for all metrics in a file of labels; a session may run only some of them."""
    from pytest_rageval.datasets.sheets import read_sheet

    metrics = collected.catalog.metrics
    names = {str(record.get("metric") or "").strip() for _, record in read_sheet(labels)}
    judges = {name: metrics.get(name).judge_asked for name in names if name in metrics}
    return {name: judge for name, judge in judges.items() if judge is not None}


def _judge_of(name: str, collected: Collected) -> str:
    judge = collected.catalog.metrics.get(name, KAPPA).judge_asked
    if judge is None:
        raise SettingError(f"{KAPPA} names {short_repr(name)}, which no judge scores; name a judged metric")
    return judge.name
