"""Load JSON Lines with ``answers`` or ``slots``; unknown keys become facets."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from pytest_rageval.datasets.evidence import evidence_in
from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import ROLES, Fields, claim
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Gold, Instance, Passage, Role, Turn
from pytest_rageval.model.facets import SharedFacets, facet_text
from pytest_rageval.text.language import detect_language

__all__ = ["KEYS", "LABELLED", "load", "read_instance"]

KEYS = (
    "answerable", "answers", "evidence", "fake_answers", "generated", "history", "id", "language", "passages",
    "provenance", "qrels", "question", "slots",
)  # fmt: skip
"""The keys of the format; any other key is a facet. ``generated`` says how `rageval generate` made the record; it is
stored but never passed to a system."""

_KNOWN = frozenset(KEYS)

LABELLED = "labelled"
"""The facet with the value false on records that still need a gold answer."""


def load(path: Path) -> tuple[Instance, ...]:
    """Return the instances of a file in our own format; the id of an instance is the record's id.

    The facet ``dataset`` is the file's name without ``.jsonl``, ``.json`` or ``.rag.jsonl``. An invalid record raises
    `DataError`.
    """
    name = shown_path(path)
    dataset = path.stem.removesuffix(".rag")
    seen: dict[object, int] = {}
    shared = SharedFacets()
    instances = []
    for line, values in read_records(path):
        with one_record:
            record = Fields(f"{name}:{line}", values)
            instance = read_instance(record, dataset, shared)
            if instance.id in seen:
                claim(seen, instance.id, f"the id {short_repr(instance.id)}", name, line)
            seen[instance.id] = line
            instances.append(instance)
    return tuple(instances)


def read_instance(record: Fields, dataset: str, shared: SharedFacets | None = None) -> Instance:
    """Return the instance of one record in our own format; raise `DataError` for an invalid record.

    Records with equal facets share one mapping, which ``shared`` stores.
    """
    if "id" not in record:
        hint = "; `rageval import jsonl FILE --ids content` gives every record one"
        problem = record.error("id", "an integer or a string that is not empty").problem
        raise DataError(record.where, problem if record.near("id") else problem + hint, code="RAG202")
    name = record.identifier("id")
    question = record.text("question")
    answerable = record.flag("answerable")
    values = record.values
    if not isinstance(values.get("generated", {}), dict):
        raise record.error("generated", "an object, as `rageval generate` writes it; a facet needs another name")
    language = record.language("language", detect_language(question))
    facets = {"dataset": dataset, "language": language, **record.facets(_KNOWN)}
    if answerable is not None:
        facets["answerable"] = facet_text(answerable)
    return Instance(
        id=name,
        question=question,
        gold=_gold(record, answerable),
        passages=_passages(record) if "passages" in values else None,
        fake=_fake(record) if "fake_answers" in values else (),
        qrels=_qrels(record) if "qrels" in values else {},
        provenance=_provenance(record) if "provenance" in values else (),
        evidence=evidence_in(record) if "evidence" in values else (),
        history=_history(record) if "history" in values else (),
        answerable=answerable,
        language=language,
        facets=facets if shared is None else shared.of(facets),
        origin=record.where,
    )


_EVIDENCE = ("evidence", "provenance", "qrels")
"""A record with one of these keys needs no gold answer, because it can judge the retrieval."""


def _gold(record: Fields, answerable: bool | None) -> Gold:
    if "answers" in record and "slots" in record:
        problem = "found both answers and slots, wanted one: answers (any one is right) or slots (each must be met)"
        raise DataError(record.where, problem)
    if answerable is False and [] in (record.values.get("answers"), record.values.get("slots")):
        return ()
    if "slots" in record:
        return record.slots("slots")
    if "answers" in record:
        return (record.aliases("answers"),)
    near = record.near("answers", "slots")
    unlabelled = answerable is False or record.values.get(LABELLED) is False
    if unlabelled or (not near and any(key in record for key in _EVIDENCE)):
        return ()
    problem = 'found neither answers nor slots, wanted one of them, or "answerable": false'
    raise DataError(record.where, f"{problem}{near}")


def _fake(record: Fields) -> Gold:
    """Return the false answers in the same form as the gold answer: slots, or the aliases of one slot."""
    value = record.values["fake_answers"]
    nested = isinstance(value, list) and any(isinstance(item, list) for item in value)
    if nested or (isinstance(value, list) and "slots" in record):
        return record.slots("fake_answers")
    return (record.aliases("fake_answers"),)


def _passages(record: Fields) -> tuple[Passage, ...]:
    wanted = "a list of objects with id and text, or of strings"
    passages: dict[str, Passage] = {}
    for index, item in enumerate(record.items("passages", wanted)):
        if isinstance(item, str) and item.strip():
            passage = Passage(f"d{index}", item)
        else:
            passage = _passage(record.inner(f"passages[{index}]", item, "an object with id and text, or a string"))
        if passage.id in passages:
            raise record.wrong(f"passages[{index}].id", passage.id, "an id that no other passage of the record has")
        passages[passage.id] = passage
    return tuple(passages.values())


def _passage(fields: Fields) -> Passage:
    fields.only(("group", "id", "role", "text", "title"))
    role = fields.string("role", "")
    if "role" in fields and role not in ROLES:
        raise fields.error("role", f"one of {', '.join(ROLES)}, or no role")
    return Passage(
        id=fields.identifier("id"),
        text=fields.text("text"),
        title=fields.string("title", ""),
        role=cast("Role", role),
        group=fields.count("group"),
    )


def _qrels(record: Fields) -> dict[str, int]:
    grades = record.inner("qrels", record.values["qrels"], "an object of passage ids and integer grades")
    return {name: grades.grade(name) for name in grades.values}


def _provenance(record: Fields) -> tuple[tuple[str, ...], ...]:
    sets = []
    for index, pages in enumerate(record.items("provenance", "a list of sets of page ids, each a list")):
        name = f"provenance[{index}]"
        if not isinstance(pages, list) or not pages:
            raise record.wrong(name, pages, "a list of at least one page id")
        numbered = Fields(record.where, {str(at): page for at, page in enumerate(pages)}, f"{name}.")
        sets.append(tuple(numbered.identifier(at) for at in numbered.values))
    return tuple(sets)


def _history(record: Fields) -> tuple[Turn, ...]:
    turns = []
    for fields in record.objects("history", "a list of objects with question and answer"):
        fields.only(("answer", "question"))
        turns.append(Turn(fields.text("question"), fields.string("answer")))
    return tuple(turns)
