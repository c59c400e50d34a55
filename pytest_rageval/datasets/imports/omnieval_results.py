"""Import OmniEval's results: a file per judge, a line per topic and task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.omnieval_compat import metric_name, score_fields
from pytest_rageval.datasets.imports.omnieval_predictions import SUFFIX, facets_of, levels_of
from pytest_rageval.datasets.imports.rows import files_of
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.datasets.omnieval import TASK_OF
from pytest_rageval.datasets.source import JsonObject, json_kind, read_text, shown_path
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.model.case import Instance

__all__ = ["import_rows"]

MAPS = ("retrieval_res_map", "generation_res_map")
AVERAGES = tuple(f"all_avg_{name}" for name in MAPS)
ROUGE = ("rouge_1", "rouge_2", "rouge_l")
LINE = f'{{"<level 1> - <level 2> - <task>{SUFFIX}": {{"{MAPS[0]}": ..., "{MAPS[1]}": ...}}}}'

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|-?inf)"
_VALUE = re.compile(_NUMBER, re.IGNORECASE)
_TRIPLE = re.compile("-".join([_NUMBER] * 3), re.IGNORECASE)


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import files ``evaluation_result_<judge>.jsonl``, or folders with such files, as scores of ``request.cases``.

    A line is ``{"<level 1> - <level 2> - <task>.pred.jsonl": {"retrieval_res_map": {...}, "generation_res_map":
    {...}}}``; a map is null if the judge wrote none. Its values belong to the cases with this topic and task, in
    order, and there must be as many values as cases. A metric is ``{"mean": ..., "list": "0.1,0.2"}``; the mean is
    ignored. ROUGE has ``r1-r2-rl`` for each case, which becomes three scores. A value outside 0..1 becomes a score with
    a reason instead of a value. The last line contains averages of these values and is skipped.

    If several files contain the same value of a case, for example merged files, it is imported once.

    Source: OmniEval (Wang et al., 2024).

    Raises:
        SettingError: ``request.cases`` is None.
        DataError: a file contains no such line.
    """
    if request.cases is None:
        raise SettingError(
            "OmniEval's results have no case ids; add --cases FILE, the dataset imported with the predictions"
        )
    cases = load(request.cases)
    scores: dict[object, JsonObject] = {}
    duplicates = 0
    for where, row, text in _scores(request, cases, result):
        first = scores.setdefault((row["id"], row["metric"]), row)
        if first is not row and first == row:
            duplicates += 1
        else:
            result.score(where, row, text)
    if duplicates:
        result.notes.append(f"{duplicates} values are in several files and were imported once.")


def _scores(
    request: ImportRequest, cases: Sequence[Instance], result: ImportResult
) -> Iterator[tuple[str, JsonObject, str]]:
    """Yield each score with its ``file:line`` and its source text."""
    for path in files_of(request.paths, "evaluation_result_*.jsonl"):
        for where, file, maps in _results(path, result):
            of_file = _cases_of(file, cases)
            if not of_file:
                result.skip(
                    where, f"no case has the topic and task of {short_repr(file)}; name its dataset with --cases"
                )
                continue
            for metric, values in _lists(where, file, maps, result):
                result.rows += len(values)
                if len(values) == len(of_file):
                    yield from ((where, row, text) for row, text in _of_metric(metric, values, of_file, request.system))
                    continue
                problem = f"found {len(values)} values for {len(of_file)} cases, wanted one for each, in order"
                result.skip(where, f"{short_repr(file)}: {metric}: {problem}; is it a result of other cases?")


def _results(path: Path, result: ImportResult) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield ``file:line``, the name of a prediction file and its maps; record other lines as skipped."""
    name = shown_path(path)
    seen = False
    for number, text in enumerate(read_text(path).split("\n"), 1):
        where = f"{name}:{number}"
        if not text.strip():
            continue
        try:
            line = json.loads(text, parse_constant=str)  # accept a mean of NaN, because it is ignored
        except (ValueError, RecursionError) as error:
            result.skip(where, f"is not one JSON object: {error}")
            continue
        if isinstance(line, dict) and any(key in line for key in AVERAGES):
            continue
        results = line.items() if isinstance(line, dict) else ()
        for file, maps in results:
            if isinstance(maps, dict) and any(key in maps for key in MAPS):
                seen = True
                yield where, file, maps
            else:
                result.skip(where, f"{short_repr(file)}: found {json_kind(maps)} without {' or '.join(MAPS)}")
        if not results:
            result.skip(where, f"found {json_kind(line)}, wanted {LINE}")
    if not seen:
        raise DataError(name, f"has no result of OmniEval; wanted lines {LINE}")


def _cases_of(file: str, cases: Sequence[Instance]) -> list[Instance]:
    """Return the cases with the topic and task that a prediction file's name contains; all cases if it has none."""
    facets = facets_of(levels_of(file))
    return [case for case in cases if all(_facet(case, name) == value for name, value in facets.items())]


def _facet(case: Instance, name: str) -> str:
    value = case.facets.get(name, "")
    return TASK_OF.get(value, value) if name == "task" else value


def _lists(where: str, file: str, maps: JsonObject, result: ImportResult) -> Iterator[tuple[str, list[str]]]:
    """Yield each metric of a line with the texts of its values."""
    for name in MAPS:
        metrics = maps.get(name)
        if metrics is None:
            continue
        if not isinstance(metrics, Mapping):
            result.skip(where, f"{short_repr(file)}: {name}: found {json_kind(metrics)}, wanted an object of metrics")
            continue
        for metric, values in metrics.items():
            text = values.get("list") if isinstance(values, dict) else None
            if not isinstance(text, str):
                result.skip(where, f"{short_repr(file)}: {metric}: found {json_kind(values)}, wanted mean and list")
                continue
            yield metric, [value.strip() for value in text.split(",")] if text.strip() else []


def _of_metric(metric: str, values: list[str], cases: list[Instance], system: str) -> Iterator[tuple[JsonObject, str]]:
    """Yield the scores of one metric, each with its source text."""
    names = ROUGE if metric.lower() == "rouge" else (metric_name(metric),)
    for case, text in zip(cases, values, strict=True):
        match = (_TRIPLE if names is ROUGE else _VALUE).fullmatch(text)
        numbers = [float(number) for number in match.groups()] if match else [None] * len(names)
        for name, number in zip(names, numbers, strict=True):
            row: JsonObject = {"id": case.id, "metric": name, **({"system": system} if system else {})}
            yield row | score_fields(metric.lower(), number), text
