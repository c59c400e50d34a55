"""Load KILT's files, also used by RaLLe: questions, answers and evidence pages."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import detect_language

__all__ = ["TASK_OF", "load"]

KEYS = ("id", "input", "language", "meta", "output")

TASK_OF = {
    "aidayago2": "entity_linking", "cweb": "entity_linking", "eli5": "open_domain_qa", "fever": "fact_checking",
    "hotpotqa": "open_domain_qa", "nq": "open_domain_qa", "structured_zeroshot": "slot_filling", "trex": "slot_filling",
    "triviaqa": "open_domain_qa", "wned": "entity_linking", "wow": "dialogue",
}  # fmt: skip
"""KILT's dataset, as in the file name -> its task."""

_PUBLISHED = re.compile(r"(\w+)-(?:train|dev|test)\w*-kilt")
"""The name of a published file, such as ``nq-dev-kilt`` or ``triviaqa-dev_id-kilt``."""

Evidence = tuple[tuple[str, ...], ...]


def load(path: Path) -> tuple[Instance, ...]:
    """Return the instances of a KILT file; the id of an instance is the record's id.

    Any answer of a record is right. Each output with a provenance is one evidence set: the pages in its
    ``wikipedia_id`` fields. The position of the evidence in a page and ``meta`` are ignored. The facet ``task`` is set
    if the file is named like KILT's published files. If a record has no answer or no evidence, the metrics that need
    it are unscored. A record without both, or an invalid record, raises `DataError`.

    Source: KILT (Petroni et al., NAACL 2021); RaLLe (Hoshi et al., EMNLP 2023) reads the same.
    """
    name = shown_path(path)
    published = _PUBLISHED.fullmatch(path.stem)
    task = TASK_OF.get(published[1], "") if published else ""
    facets = {"dataset": path.stem, **({"task": task} if task else {})}
    seen: dict[object, int] = {}
    instances = []
    for line, values in read_records(path):
        with one_record:
            instance = _instance(Fields(f"{name}:{line}", values), facets)
            claim(seen, instance.id, f"the id {short_repr(instance.id)}", name, line)
            instances.append(instance)
    return tuple(instances)


def _instance(record: Fields, facets: dict[str, str]) -> Instance:
    name = record.identifier("id")
    question = record.text("input")
    language = record.language("language", detect_language(question))
    answers, evidence = _outputs(record)
    if not answers and not evidence:
        problem = "output: found no answer and no provenance, wanted at least one of them"
        raise DataError(record.where, problem)
    return Instance(
        id=name,
        question=question,
        gold=(answers,) if answers else (),
        language=language,
        facets={**facets, "language": language, **record.facets(KEYS)},
        origin=record.where,
        provenance=evidence,
    )


def _outputs(record: Fields) -> tuple[tuple[str, ...], Evidence]:
    """Return the distinct answers and the evidence sets; as in KILT, a set without a page can never be retrieved."""
    wanted = "a list of objects with answer and provenance"
    if "output" not in record:
        raise record.error("output", wanted)
    answers: dict[str, None] = {}
    evidence = []
    for output in record.objects("output", wanted):
        fields = output.without_nulls()
        answer = fields.string("answer", "").strip()
        if answer:
            answers[answer] = None
        if "provenance" in fields:
            pages = fields.objects("provenance", "a list of objects with wikipedia_id")
            evidence.append(tuple(dict.fromkeys(page.identifier("wikipedia_id").strip() for page in pages)))
    return tuple(answers), tuple(evidence)
