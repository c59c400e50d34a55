"""Load RGB's base, refine, integration and counterfactual files, in English and Chinese.

Schema of Chen et al., "Benchmarking Large Language Models in Retrieval-Augmented Generation", AAAI 2024;
its data is CC BY-NC-SA 4.0 and not part of this package. The keys of a record decide its kind, not the file's name.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Gold, Instance, Passage, Role
from pytest_rageval.text.language import detect_language

__all__ = ["content_id", "load"]

KEYS = (
    "answer", "answer1", "answer2", "asnwer1", "fakeanswer", "id", "language", "negative", "positive",
    "positive_wrong", "query",
)  # fmt: skip

_LANGUAGE = re.compile(r"(en|zh)(?![a-z])")


def load(path: Path) -> tuple[Instance, ...]:
    """Return the instances of one RGB file; the id of an instance is ``<file stem>-<id>``.

    Passages get the ids p0 p1 ... (positive), n0 ... (negative), w0 ... (positive_wrong) and, in integration
    records, ``p<group>.<index>``. The page of a passage is its content id, which is also the id of its document in a
    corpus. ``asnwer1``, ``answer1`` and ``answer2`` are ignored, as in RGB's own evaluation. An invalid record raises
    `DataError`.
    """
    name = shown_path(path)
    seen: dict[object, int] = {}
    instances = []
    for line, values in read_records(path):
        with one_record:
            instance = _instance(Fields(f"{name}:{line}", values), path.stem)
            claim(seen, instance.id, f"the id {short_repr(values['id'])}", name, line)
            instances.append(instance)
    return tuple(instances)


def content_id(text: str) -> str:
    """Return the content id of a passage: the first 12 hexadecimal digits of its text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _instance(record: Fields, dataset: str) -> Instance:
    name = record.identifier("id")
    question = record.text("query")
    prefix = _LANGUAGE.match(dataset)
    default = prefix[1] if prefix else detect_language(question)
    language = record.language("language", default)
    return Instance(
        id=f"{dataset}-{name}",
        question=question,
        gold=_slots(record, "answer"),
        passages=(*_positives(record), *_counterfactuals(record), *_pool(record, "negative", "n", "negative")),
        fake=_slots(record, "fakeanswer") if _is_counterfactual(record) else (),
        language=language,
        facets={"dataset": dataset, "language": language, **record.facets(KEYS)},
        origin=record.where,
    )


def _is_counterfactual(record: Fields) -> bool:
    return "positive_wrong" in record or "fakeanswer" in record


def _slots(record: Fields, field: str) -> Gold:
    """Return the slots of an answer: a string is one slot; each item of a list is a slot, inner lists are aliases."""
    return record.slots(field) if isinstance(record.values.get(field), list) else (record.aliases(field),)


def _positives(record: Fields) -> tuple[Passage, ...]:
    groups = record.items("positive", "a list of strings, or of lists of strings")
    if not any(isinstance(group, list) for group in groups):
        return _pool(record, "positive", "p", "positive")
    passages = []
    for number, group in enumerate(groups):
        name = f"positive[{number}]"
        if not isinstance(group, list) or not group:
            raise record.wrong(name, group, "a list of at least one string, as in the other groups")
        passages += _passages(record, name, group, f"p{number}.", "positive", number)
    return tuple(passages)


def _counterfactuals(record: Fields) -> tuple[Passage, ...]:
    if not _is_counterfactual(record):
        return ()
    passages = _pool(record, "positive_wrong", "w", "counterfactual")
    positives = record.items("positive", "a list of strings")
    if len(passages) != len(positives):
        problem = f"found {len(passages)} positive_wrong for {len(positives)} positive, wanted one for each, in order"
        raise DataError(record.where, problem)
    return passages


def _pool(record: Fields, field: str, prefix: str, role: Role) -> tuple[Passage, ...]:
    if field not in record:
        raise record.error(field, "a list of strings")
    return tuple(_passages(record, field, record.items(field, "a list of strings"), prefix, role))


def _passages(
    record: Fields, name: str, texts: list[object], prefix: str, role: Role, group: int | None = None
) -> list[Passage]:
    passages = []
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise record.wrong(f"{name}[{index}]", text, "a string")
        passages.append(Passage(f"{prefix}{index}", text, role=role, group=group, page=content_id(text)))
    return passages
