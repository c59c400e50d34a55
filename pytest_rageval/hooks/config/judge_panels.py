"""Parse ``rag_judges``: a metric's judging models, their repeats, and the rule for votes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judges.panel import Panel, Rule, is_local, panel_of_metric
from pytest_rageval.model.metric import Metric
from pytest_rageval.registry import Registry

__all__ = ["JUDGES", "panels", "panels_by_judge"]

JUDGES = "rag_judges"
"""The name of the ini setting."""

_OPTION = re.compile(
    r"(?P<rule>majority|mean)|(?P<repeat>repeat\s*=\s*[1-9][0-9]*)|(?P<swapped>swapped)|(?P<escalate>escalate\s*=.*)"
)

_RULES: Mapping[str, Rule] = {"majority": "majority", "mean": "mean"}


def panels(lines: Sequence[str]) -> dict[str, Panel]:
    """Parse lines ``metric: model, model; option; option`` into metric -> panel.

    Raises:
        SettingError: a line is malformed, or repeats a metric, a model or an option.
    """
    panels: dict[str, Panel] = {}
    for line in lines:
        metric, _, text = (part.strip() for part in line.partition(":"))
        names, *options = (part.strip() for part in text.split(";"))
        models = tuple(model.strip() for model in names.split(","))
        if not metric or not all(models):
            hint = "write 'metric: model, model; option', for instance 'hallucination: openai/gpt-4o; repeat=3'"
            raise SettingError(f"{JUDGES} has the line {short_repr(line)}; {hint}")
        if metric in panels:
            raise SettingError(f"{JUDGES} has two lines for {short_repr(metric)}; write one")
        for model in models:
            if models.count(model) > 1:
                raise SettingError(f"{JUDGES}: {metric} names {short_repr(model)} twice; repeat=2 asks it twice")
        panels[metric] = _panel(models, options, f"{JUDGES}: {metric}")
    return panels


def panels_by_judge(
    by_metric: Mapping[str, Panel], metrics: Registry[Metric], of_pairs: Container[str] = ()
) -> dict[str, Panel]:
    """Return judge -> panel. One judge may serve several metrics; see `panel_of_metric`.

    Args:
        by_metric: panels by the name in ``rag_judges``: a metric or a judge of pairs.
        metrics: the registered metrics.
        of_pairs: names of judges of pairs; sessions do not ask them, so their panels are left out.

    Raises:
        SettingError: a metric is unknown, has no judge, or its judge does not support the panel's options.
    """
    by_judge: dict[str, Panel] = {}
    for name, panel in by_metric.items():
        if name in of_pairs and name not in metrics:
            continue
        metric = metrics.get(name, JUDGES)
        try:
            judge, judge_panel = panel_of_metric(panel, metric)
        except SettingError as error:
            raise SettingError(f"{JUDGES}: {error}") from None
        if judge in by_judge:
            raise SettingError(
                f"{JUDGES} has two lines for the judge of {short_repr(name)}; write one, for {short_repr(judge)}"
            )
        by_judge[judge] = judge_panel
    return by_judge


def _panel(models: tuple[str, ...], options: Iterable[str], where: str) -> Panel:
    by_kind: dict[str, str] = {}
    for option in options:
        match = _OPTION.fullmatch(option)
        if match is None:
            raise SettingError(
                f"{where} has the option {short_repr(option)}; write majority, mean, repeat=N, swapped or escalate=T"
            )
        kind = str(match.lastgroup)
        if kind in by_kind:
            raise SettingError(f"{where} has {short_repr(by_kind[kind])} and {short_repr(option)}; give one")
        by_kind[kind] = option
    local = [model for model in models if is_local(model)]
    for kind in ("repeat", "swapped"):
        if local and kind in by_kind:
            raise SettingError(f"{where} has {by_kind[kind]}, and {local[0]} always gives the same verdict; remove it")
    escalate = None
    if "escalate" in by_kind:
        escalate = _confidence(by_kind["escalate"], where)
        if len(models) != 2 or local != [models[0]]:
            count = f"{len(models)} {'judge' if len(models) == 1 else 'judges'}, {len(local)} of them local"
            problem = f"{where} has {by_kind['escalate']} and {count}; it needs two, a local one and then a model"
            raise SettingError(f"{problem}: local:FOLDER, openai/gpt-4o; escalate=0.8")
        if "rule" in by_kind:
            raise SettingError(f"{where} has {by_kind['rule']} and escalate, which leaves no votes to count; give one")
    repeats = int(by_kind.get("repeat", "=1").partition("=")[2])
    return Panel(models, _RULES.get(by_kind.get("rule", "")), repeats, "swapped" in by_kind, escalate)


def _confidence(option: str, where: str) -> float | Literal["auto"]:
    """Parse ``escalate=T``: a confidence between 0.5 and 1, or ``auto``."""
    text = option.partition("=")[2].strip()
    if text == "auto":
        return "auto"
    try:
        confidence = float(text)
    except ValueError:
        confidence = 0.0
    if not 0.5 < confidence < 1:
        raise SettingError(f"{where} has {short_repr(option)}; write a number between 0.5 and 1, or escalate=auto")
    return confidence
