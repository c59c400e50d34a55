"""What ``rag_judges`` says: who judges a metric, how often, and what becomes of several votes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_rageval.errors import SettingError, found
from pytest_rageval.judges.panel import Panel, Rule, fitted
from pytest_rageval.model.metric import Metric
from pytest_rageval.registry import Registry

__all__ = ["JUDGES", "panels", "panels_by_judge"]

JUDGES = "rag_judges"
"""The setting of the ini."""

_OPTION = re.compile(r"(?P<rule>majority|mean)|(?P<repeat>repeat\s*=\s*[1-9][0-9]*)|(?P<swapped>swapped)")

_RULES: Mapping[str, Rule] = {"majority": "majority", "mean": "mean"}


def panels(lines: Sequence[str]) -> dict[str, Panel]:
    """Return metric -> panel of lines ``metric: model, model; option; option``.

    Raises:
        SettingError: a line is no such line, or says something twice.
    """
    read: dict[str, Panel] = {}
    for line in lines:
        metric, _, told = (part.strip() for part in line.partition(":"))
        listed, *options = (part.strip() for part in told.split(";"))
        models = tuple(model.strip() for model in listed.split(","))
        if not metric or not all(models):
            wanted = "write 'metric: model, model; option', for instance 'hallucination: openai/gpt-4o; repeat=3'"
            raise SettingError(f"{JUDGES} has the line {found(line)}; {wanted}")
        if metric in read:
            raise SettingError(f"{JUDGES} has two lines for {found(metric)}; write one")
        for model in models:
            if models.count(model) > 1:
                raise SettingError(f"{JUDGES}: {metric} names {found(model)} twice; repeat=2 asks it twice")
        read[metric] = _panel(models, options, f"{JUDGES}: {metric}")
    return read


def panels_by_judge(given: Mapping[str, Panel], metrics: Registry[Metric]) -> dict[str, Panel]:
    """Return judge -> panel as `fitted` says, as a judge may be that of several metrics.

    Raises:
        SettingError: there is no such metric, it is not judged by a model, or not like that.
    """
    by_judge: dict[str, Panel] = {}
    for name, panel in given.items():
        metric = metrics.get(name, JUDGES)
        try:
            judge, suited = fitted(panel, metric)
        except SettingError as error:
            raise SettingError(f"{JUDGES}: {error}") from None
        if judge in by_judge:
            raise SettingError(f"{JUDGES} has two lines for the judge of {found(name)}; write one, for {found(judge)}")
        by_judge[judge] = suited
    return by_judge


def _panel(models: tuple[str, ...], options: Iterable[str], where: str) -> Panel:
    told: dict[str, str] = {}
    for option in options:
        match = _OPTION.fullmatch(option)
        if match is None:
            raise SettingError(f"{where} has the option {found(option)}; write majority, mean, repeat=N or swapped")
        kind = str(match.lastgroup)
        if kind in told:
            raise SettingError(f"{where} has {found(told[kind])} and {found(option)}; give one")
        told[kind] = option
    return Panel(
        models, _RULES.get(told.get("rule", "")), int(told.get("repeat", "=1").partition("=")[2]), "swapped" in told
    )
