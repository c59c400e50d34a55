"""Load R-Eval's files: questions on three levels, in the domains wiki and aminer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.reval_tasks import LEVELS, TASKS
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Gold, Instance
from pytest_rageval.text.language import detect_language
from pytest_rageval.trace.literals import parse_literal

__all__ = ["REval", "load"]

KEYS = (
    "_id", "dataset", "environment", "input", "input_length", "language", "output_length", "outputs",
)  # fmt: skip

ENVIRONMENTS = {"aminer": "scholar"}
"""R-Eval's name of an environment -> our name, if they differ."""

NAME = "<id>_<dataset>.jsonl"
_NAME = re.compile(r"(?P<id>(?P<level>\d+)-\d+)_(?P<dataset>.+)\.jsonl")

ANSWERS = "a list of at least one answer, each a string that is not empty"


class REval:
    """Loads R-Eval's folder, or one of its files.

    Attributes:
        metrics: the default metrics of testbeds with this dataset.
    """

    metrics = ("hotpot_f1", "exact_match")

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        """Return the instances of a folder with files ``<id>_<dataset>.jsonl``, or of one file.

        The id of an instance is the record's ``_id``; without one, it is the sha256 that R-Eval computes. Any of the
        ``outputs`` is right. If an output is the text of a Python list of strings, such as ``"['AI', 'ML']"``, each
        item becomes a slot, and all slots must match. If the lists of several outputs have different items, they stay
        texts, because slots have no alternatives.

        The facets are ``dataset`` and ``task`` (the key of the dataset), ``task_id``, ``level``, ``domain`` (``wiki``
        or ``aminer``), ``environment`` (``scholar`` for aminer) and ``language``, and ``gold_kind`` = ``label`` if the
        gold answers are labels. For a dataset that is not in R-Eval, the file name gives the level: the digit before
        the hyphen, as in ``3-7_mine.jsonl``.

        An invalid record raises `DataError`.

        Source: R-Eval (Tu et al., KDD 2024).
        """
        instances: dict[str, Instance] = {}
        for file in self.files(path):
            name = shown_path(file)
            for line, values in read_records(file):
                with one_record:
                    _claim(instances, _instance(Fields(f"{name}:{line}", values), file))
        return tuple(instances.values())

    def files(self, path: Path) -> list[Path]:
        """Return the file, or the files of a folder with names like R-Eval's; raise `DataError` if there are none."""
        if not path.is_dir():
            return [path]
        files = [file for file in sorted(path.iterdir()) if _NAME.fullmatch(file.name)]
        if not files:
            raise DataError(shown_path(path), f"holds no file {NAME}; name one file, or rename the files")
        return files

    def left_out(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield each file of a folder that is not named like R-Eval's, with the reason."""
        if path.is_dir():
            for file in sorted(path.iterdir()):
                if not _NAME.fullmatch(file.name):
                    yield shown_path(file), f"its name is not {NAME}"


def _claim(instances: dict[str, Instance], instance: Instance) -> None:
    first = instances.setdefault(instance.id, instance)
    if first is not instance:
        problem = f"the _id {short_repr(instance.id)} is already in {first.origin}, wanted each once"
        raise DataError(instance.origin, problem, code="RAG203")


def _instance(record: Fields, file: Path) -> Instance:
    question = record.text("input")
    language = record.language("language", detect_language(question))
    return Instance(
        id=record.identifier("_id") if "_id" in record else _digest(record),
        question=question,
        gold=_gold(record),
        language=language,
        facets={**_task(record, file), "language": language, **record.facets(KEYS)},
        origin=record.where,
    )


def _digest(record: Fields) -> str:
    """Return the id that R-Eval computes for a record."""
    return hashlib.sha256(f"Tsinghua KoLA2 {json.dumps(record.values)}".encode()).hexdigest()


def _task(record: Fields, file: Path) -> dict[str, str]:
    """Return the facets of a record's dataset."""
    name = _NAME.fullmatch(file.name)
    key = record.text("dataset").strip() if "dataset" in record or name is None else name["dataset"]
    task = TASKS.get(key)
    facets = {"dataset": key, "task": key}
    if task is not None:
        facets |= {"task_id": task.id, "level": task.level}
    elif name is not None and name["level"] in LEVELS:
        facets |= {"task_id": name["id"], "level": LEVELS[name["level"]]}
    else:
        hint = f"name the file as 3-7_NAME.jsonl, in which 3 is the level, from 1 to {len(LEVELS)}"
        raise record.wrong("dataset", key, f"one of {', '.join(TASKS)}; or {hint}")
    domain = record.text("environment").strip() if "environment" in record or task is None else task.domain
    facets |= {"domain": domain, "environment": ENVIRONMENTS.get(domain, domain)}
    return facets | ({"gold_kind": "label"} if task is not None and task.has_labels else {})


def _gold(record: Fields) -> Gold:
    """Return the gold answers: one slot with all outputs, or the items of a list as slots."""
    outputs = record.items("outputs", ANSWERS)
    if not outputs:
        raise record.error("outputs", ANSWERS)
    texts = []
    for index, output in enumerate(outputs):
        if not isinstance(output, str) or not output.strip():
            raise record.wrong(f"outputs[{index}]", output, "a string that is not empty")
        texts.append(output)
    items = [_items(text) for text in texts]
    if all(len(each) == 1 for each in items):
        return (tuple(dict.fromkeys(each[0] for each in items)),)
    if len({tuple(sorted(each)) for each in items}) == 1:
        return tuple((item,) for item in items[0])
    return (tuple(dict.fromkeys(texts)),)


def _items(text: str) -> list[str]:
    """Return the items of a text with a Python list of strings; any other text is a single item."""
    items = parse_literal(text) if text.strip().startswith("[") else None
    if isinstance(items, list) and items and all(isinstance(item, str) and item.strip() for item in items):
        return items
    return [text]


load = REval()
