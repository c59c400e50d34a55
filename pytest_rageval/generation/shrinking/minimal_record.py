"""Build and append records of cases with their smallest contexts, as regression tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.jsonl import load
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.model.case import Case, Gold, Instance, Passage
from pytest_rageval.model.facets import RELATION, VARIANT, is_variant

__all__ = ["append_record", "check_target", "facets_of_record", "minimal_record", "minimal_records"]

SUFFIX = "-min"

_DERIVED = ("answerable", "dataset", "language", "noise_rate", "noise_realised", "passages", "correct_rate",
            "correct_realised", "ability", "system", "repeat", "workflow", "model", "dialogue", "round")  # fmt: skip
"""Facets that a session adds, that are separate keys of the record, or that number it in a conversation."""


def minimal_record(case: Case, shrunk: ShrinkResult) -> dict[str, Any]:
    """Return the JSON Lines record of a case with its smallest context; its id ends with ``-min``."""
    instance = case.instance
    change = [case.facets[name] for name in (RELATION, VARIANT) if is_variant(case.facets)]
    record: dict[str, Any] = {"id": "-".join([instance.id, *change]) + SUFFIX, "question": instance.question}
    record |= _gold("answers", instance.gold)
    record |= _gold("fake_answers", instance.fake)
    record["passages"] = [_passage(each.passage) for each in shrunk.context]
    if shrunk.history:
        record["history"] = [{"question": turn.question, "answer": turn.answer} for turn in shrunk.history]
    if instance.answerable is not None:
        record["answerable"] = instance.answerable
    return {**record, "language": instance.language, **facets_of_record(instance)}


def facets_of_record(instance: Instance) -> dict[str, Any]:
    """Return the facets for a separate record, without facets that a session adds."""
    return {name: value for name, value in instance.facets.items() if name not in _DERIVED}


def minimal_records(results: Iterable[tuple[Case, ShrinkResult]]) -> list[dict[str, Any]]:
    """Return the records of cases with their smallest contexts, without duplicates.

    A case may have several smallest contexts, by settings and systems; their ids end with ``-2``, ``-3`` and so on.
    """
    by_id: dict[str, list[dict[str, Any]]] = {}
    for record in (minimal_record(case, shrunk) for case, shrunk in results):
        records = by_id.setdefault(record["id"], [])
        if record not in records:
            records.append(record)
    return [
        record if number == 1 else {**record, "id": f"{name}-{number}"}
        for name, records in by_id.items()
        for number, record in enumerate(records, 1)
    ]


def check_target(path: Path) -> None:
    """Check that records can be appended to a JSON Lines file, before any call of a system.

    Raises:
        DataError: the file is invalid.
        SettingError: its folder is missing.
    """
    if path.exists():
        _ids(path)
    elif not path.absolute().parent.is_dir():
        raise SettingError(f"--out {short_repr(str(path))}: its folder does not exist; make it, or name another file")


def append_record(path: Path, records: Sequence[dict[str, Any]]) -> list[str]:
    """Append records with new ids to a JSON Lines file and return these ids.

    Raises:
        DataError: the file is invalid.
        SettingError: the file cannot be written.
    """
    try:
        stored_ids = _ids(path) if path.exists() else set()
        new = [record for record in records if record["id"] not in stored_ids]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * bool(text and not text.endswith("\n")))
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in new)
    except OSError as error:
        raise SettingError(f"--out {short_repr(str(path))}: {error.strerror or error}") from None
    return [record["id"] for record in new]


def _ids(path: Path) -> set[str]:
    """Return the ids of the records in a file, which may be empty."""
    return {each.id for each in load(path)} if path.is_dir() or path.stat().st_size else set()


def _gold(key: str, gold: Gold) -> dict[str, Any]:
    """Return gold answers under ``key``: the aliases of the only slot, or all slots."""
    if not gold:
        return {}
    if len(gold) == 1:
        return {key: list(gold[0])}
    return {"slots" if key == "answers" else key: [list(slot) for slot in gold]}


def _passage(passage: Passage) -> dict[str, Any]:
    extras = {"title": passage.title, "role": passage.role}
    record: dict[str, Any] = {"id": passage.id, "text": passage.text}
    record |= {name: value for name, value in extras.items() if value}
    return record if passage.group is None else record | {"group": passage.group}
