"""Import the prediction files of RGB's evaluation: one line per question."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of, read_rows
from pytest_rageval.datasets.source import JsonObject, shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.model.facets import facet_text

__all__ = ["import_rows"]

KEYS = ("ans", "docs", "factlabel", "id", "label", "noise_rate", "prediction", "query")
LABELS = ("factlabel", "label")

_NAME = re.compile(
    r"prediction_(?P<dataset>(?:en|zh)(?:_(?:refine|int|fact))?)_(?P<system>.+)"
    r"_temp(?P<temperature>[\d.]+)_noise(?P<noise_rate>[\d.]+)_passage(?P<passage_num>\d+)_correct(?P<correct_rate>[\d.]+)"
)
SETTINGS = ("noise_rate", "passage_num", "correct_rate", "temperature")

Setting = dict[str, object]


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import files of predictions, or folders with such files.

    A line is a case with the model's passages, in order and without roles, and a recorded answer. If the file is named
    like RGB's (``prediction_<dataset>_<model>_temp.._noise.._passage.._correct...json``), the case's id is
    ``<dataset>-<id>``, like in the dataset ``rgb:``, and its language is the dataset's. Otherwise the id starts with
    the file's name.

    The facets ``noise_rate``, ``passage_num``, ``correct_rate`` and ``temperature`` contain the settings in the file's
    name; a noise rate in the row has priority. ``source`` is the dataset. If files of one dataset differ in a setting,
    the ids end with it: ``en-17-noise_rate=0.4``.

    RGB's labels are skipped, because the answers are scored again: the means of ``rgb_all_rate_compat``,
    ``fact_check_rate_compat`` and ``correct_rate_compat`` equal the rates in RGB's ``_result.json``.

    Source: RGB (Chen et al., 2024).
    """
    rows: list[tuple[Fields, str, str, Setting]] = []
    settings: defaultdict[str, list[Setting]] = defaultdict(list)
    for path in files_of(request.paths, "*.json"):
        if path.stem.endswith("_result"):
            result.notes.append(f"{shown_path(path)}: skipped its rates, because the answers are scored again.")
            continue
        dataset, system, setting = _parse_name(path)
        for where, values in read_rows(path, result):
            row_setting = setting | ({"noise_rate": values["noise_rate"]} if "noise_rate" in values else {})
            rows.append((Fields(where, values), dataset, request.system or system, row_setting))
            settings[dataset].append(row_setting)
    varying = {dataset: _varying_settings(values) for dataset, values in settings.items()}
    for record, dataset, system, setting in rows:
        _import_row(record, dataset, setting, varying[dataset], system, result)


def _parse_name(path: Path) -> tuple[str, str, Setting]:
    """Return the dataset, the system and the setting in a file's name."""
    match = _NAME.fullmatch(path.stem)
    if match is None:
        return path.stem, "", {}
    setting = {key: int(match[key]) if match[key].isdigit() else float(match[key]) for key in SETTINGS}
    return match["dataset"], match["system"], dict(setting)


def _varying_settings(settings: list[Setting]) -> list[str]:
    return [name for name in SETTINGS if len({facet_text(setting.get(name, "")) for setting in settings}) > 1]


def _import_row(
    record: Fields, dataset: str, setting: Setting, varying: list[str], system: str, result: ImportResult
) -> None:
    row, where = record.values, record.where
    try:
        end = "".join(f"-{key}={facet_text(setting.get(key, ''))}" for key in varying)
        name = f"{dataset}-{record.identifier('id')}{end}"
    except DataError as error:
        result.skip(error.where, error.problem)
        return
    case: JsonObject = {"id": name, "question": row.get("query")}
    case |= {"language": dataset[:2]} if "passage_num" in setting else {}  # the file is named like RGB's
    gold = row.get("ans")
    case |= {"slots": gold} if isinstance(gold, list) else {"answers": gold}
    case |= {"source": dataset, **setting} | result.facets(row, {*KEYS, "source", *SETTINGS})
    if "docs" in row:
        case["passages"] = row["docs"]
    if not result.case(where, case):
        return
    result.fields.update(label for label in LABELS if label in row)
    result.unneeded.update(LABELS)
    answer: JsonObject = {"id": name, "answer": row.get("prediction")}
    result.answer(where, answer | ({"system": system} if system else {}))
