"""OmniEval's results: per file, a list of values for each metric, in the order of its cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_rageval.datasets.imports.omnieval_compat import metric_name, reading
from pytest_rageval.datasets.imports.rows import files_of
from pytest_rageval.datasets.imports.taken import Order, Taken
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.datasets.omnieval import TASK_OF
from pytest_rageval.datasets.source import JsonObject, json_kind, read_text, shown_path
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.model.case import Instance

__all__ = ["take"]

MAPS = ("retrieval_res_map", "generation_res_map")
ROUGE = ("rouge_1", "rouge_2", "rouge_l")

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|-?inf)"
_VALUE = re.compile(_NUMBER, re.IGNORECASE)
_TRIPLE = re.compile("-".join([_NUMBER] * 3), re.IGNORECASE)
_PUBLISHED = {ours: theirs for theirs, ours in TASK_OF.items()}


def take(order: Order, taken: Taken) -> None:
    """Take files ``evaluation_result_*.jsonl``, or the folders that they lie in, as scores of ``order.cases``.

    A file's values are of the cases whose topic and task stand in its name, or in its folder's, as
    ``<level 1> - <level 2> - <task>``; where none does, of all. There have to be as many, in their order. A triple of
    ROUGE is three scores. A value outside 0..1 is a score without value, with its reason.

    Source: OmniEval (Wang et al., 2024).

    Raises:
        SettingError: no dataset was named.
        DataError: a file is not of this form.
    """
    if order.cases is None:
        raise SettingError(
            "a result of OmniEval names no case: say --cases FILE, the dataset that was imported with it"
        )
    cells: dict[str, list[Instance]] = {}
    for case in load(order.cases):
        cells.setdefault(_cell(case), []).append(case)
    for path in files_of(order.paths, "evaluation_result_*.jsonl"):
        cases = _cases_of(path, cells)
        for metric, lists in _lists(path, taken):
            _take(metric, lists, cases, f"{shown_path(path)}:{metric}", order.system, taken)


def _cell(case: Instance) -> str:
    facets = case.facets
    task = facets.get("task", "")
    return " - ".join((facets.get("topic_1", ""), facets.get("topic", ""), _PUBLISHED.get(task, task)))


def _cases_of(path: Path, cells: Mapping[str, list[Instance]]) -> list[Instance]:
    """Return the cases that a file is of: those of the longest cell that its name or its folder's holds, else all."""
    for name in (path.name, path.parent.name):
        held = [cell for cell in cells if cell in name]
        if held:
            return cells[max(held, key=len)]
    return [case for cases in cells.values() for case in cases]


def _lists(path: Path, taken: Taken) -> Iterator[tuple[str, list[str]]]:
    """Yield the metrics of a file with their values, as they are written."""
    name = shown_path(path)
    try:
        result = json.loads(read_text(path), parse_constant=str)  # a mean may be NaN, and is not read
    except (ValueError, RecursionError) as error:
        raise DataError(name, f"is not one JSON object: {error}") from None
    maps = [result[key] for key in MAPS if isinstance(result.get(key), dict)] if isinstance(result, dict) else []
    if not maps:
        raise DataError(name, f"found {json_kind(result)} without {' or '.join(MAPS)}; name a result of OmniEval")
    for metrics in maps:
        for metric, values in metrics.items():
            listed = values.get("list") if isinstance(values, dict) else None
            if isinstance(listed, list):
                listed = ",".join(map(str, listed))
            if not isinstance(listed, str):
                taken.leave(f"{name}:{metric}", f"found {json_kind(values)}, wanted an object with mean and list")
                continue
            yield metric, [value.strip() for value in listed.split(",")] if listed.strip() else []


def _take(metric: str, values: list[str], cases: list[Instance], where: str, system: str, taken: Taken) -> None:
    taken.rows += len(values)
    if len(values) != len(cases):
        problem = f"found {len(values)} values for {len(cases)} cases, wanted one for each, in order"
        taken.leave(where, f"{problem}; is it a result of other cases?")
        return
    names = ROUGE if metric == "rouge" else (metric_name(metric),)
    for case, text in zip(cases, values, strict=True):
        match = (_TRIPLE if metric == "rouge" else _VALUE).fullmatch(text)
        numbers = [float(number) for number in match.groups()] if match else [None] * len(names)
        for name, number in zip(names, numbers, strict=True):
            row: JsonObject = {"id": case.id, "metric": name, **({"system": system} if system else {})}
            taken.score(where, row | reading(metric, number), text)
