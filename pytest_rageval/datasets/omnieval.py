"""Load OmniEval's folder tree: one file of questions or conversations per topic and task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.source import JsonObject, read_groups, read_text, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.text.language import detect_language

__all__ = ["TASK_OF", "OmniEval", "load"]

KEYS = (
    "answer", "id", "language", "question", "relevant_node", "relevant_passage", "round", "task_name",
    "though_process", "thought_process", "topic_name",
)  # fmt: skip

TASK_OF = {
    "抽取类问答": "extractive_qa",
    "多跳推理类问答": "multi_hop_qa",
    "对比类问答": "contrast_qa",
    "长答案形式问答": "long_form_qa",
    "多轮对话能力": "conversational_qa",
}
"""OmniEval's task, as in its file names -> our name."""

TREE = "<level 1>/<level 2>/<task>.jsonl"

_NO_TURNS = re.compile(r"^[ \t]*\[[ \t]*\][ \t\r]*$", re.MULTILINE)


class OmniEval:
    """Loads OmniEval's folder tree, or one of its files."""

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        """Return the instances of a tree or of one file.

        A file is JSON Lines: each line is a record, or a list of records that are the turns of one conversation. Each
        turn is an instance; its history is the earlier turns with the first alias of their gold answers.

        The facets ``topic_1``, ``topic`` (level 2) and ``task`` come from the tree, for a single file from
        ``topic_name`` and ``task_name``. The first of three parts of a topic name is the ``domain``. Turns have the
        facets ``dialogue`` and ``round``. A record without an id gets ``<level 1>-<level 2>-<task>-<line>``; the id of
        a turn is ``<dialogue>.<round>``, with rounds from 1.

        All spellings in ``answer`` are aliases of one slot. The chunks in ``relevant_node`` get the grade 1; the
        passages in ``relevant_passage`` are positive.

        An invalid record, or a file at another level of the tree, raises `DataError`.

        Source: OmniEval (Wang et al., 2024).
        """
        instances: dict[str, Instance] = {}
        for file, levels in _files(path):
            name = shown_path(file)
            for line, turns in read_groups(file):
                with one_record:
                    for instance in _group(turns, f"{name}:{line}", file.stem, levels, line):
                        _claim(instances, instance)
        return tuple(replace(each, facets={"dataset": path.stem, **each.facets}) for each in instances.values())

    def left_out(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield ``file:line`` of each conversation without turns; OmniEval writes [] when it drops all turns."""
        for file, _ in _files(path):
            text = read_text(file)
            for match in _NO_TURNS.finditer(text):
                yield f"{shown_path(file)}:{text.count(chr(10), 0, match.start()) + 1}", "a conversation of zero turns"


def _claim(instances: dict[str, Instance], instance: Instance) -> None:
    first = instances.setdefault(instance.id, instance)
    if first is not instance:
        problem = f"the id {short_repr(instance.id)} is already in {first.origin}, wanted each once"
        raise DataError(instance.origin, problem)


def _files(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield each file of a tree with the two levels of its topic, or a single file without levels."""
    if not path.is_dir():
        yield path, ()
        return
    files = sorted(path.rglob("*.jsonl"))
    if not files:
        raise DataError(shown_path(path), f"holds no file {TREE}; name the root of the tree, or one file")
    for file in files:
        levels = file.relative_to(path).parts[:-1]
        if len(levels) != 2:
            deep = "1 level" if len(levels) == 1 else f"{len(levels)} levels"
            problem = f"lies {deep} deep below the root, wanted {TREE}; name the root of the tree, or one file"
            raise DataError(shown_path(file), problem)
        yield file, levels


def _group(
    turns: list[JsonObject] | JsonObject, where: str, stem: str, levels: tuple[str, ...], line: int
) -> Iterator[Instance]:
    """Yield the instance of a record, or of each turn of a conversation."""
    if not isinstance(turns, list):
        yield _instance(Fields(where, turns), stem, levels, line)
        return
    history: tuple[Turn, ...] = ()
    name = ""
    for number, values in enumerate(turns, 1):
        record = Fields(where, values, f"turn {number}: ")
        name = name or _name(record, stem, levels, line)
        yield _instance(record, stem, levels, line, history, (name, number))
        history = (*history, Turn(record.text("question"), record.aliases("answer")[0]))


def _instance(
    record: Fields,
    stem: str,
    levels: tuple[str, ...],
    line: int,
    history: tuple[Turn, ...] = (),
    place: tuple[str, int] | None = None,
) -> Instance:
    question = record.text("question")
    language = record.language("language", detect_language(question))
    nodes = _texts(record, "relevant_node")
    facets = {**_names(record, stem, levels), "language": language, **record.facets(KEYS)}
    if place is not None:
        facets |= {"dialogue": place[0], "round": str(place[1])}
    return Instance(
        id=_name(record, stem, levels, line) if place is None else f"{place[0]}.{place[1]}",
        question=question,
        gold=(record.aliases("answer"),),
        passages=_passages(_texts(record, "relevant_passage"), nodes),
        qrels={node: 1 for node in nodes if node.strip()},
        history=history,
        language=language,
        facets=facets,
        origin=record.where,
    )


def _name(record: Fields, stem: str, levels: tuple[str, ...], line: int) -> str:
    return record.identifier("id") if "id" in record else "-".join((*levels, stem, str(line)))


def _names(record: Fields, stem: str, levels: tuple[str, ...]) -> dict[str, str]:
    """Return the facets for the topic and the task of a record."""
    task = record.string("task_name", stem) if not levels else stem
    parts = [part.strip() for part in record.string("topic_name", "").split(" - ")]
    if not levels and len(parts) > 1:
        levels = tuple(parts[-2:])
    facets = {"task": TASK_OF.get(task, task)}
    if levels:
        facets |= {"topic_1": levels[0], "topic": levels[1]}
    return facets | ({"domain": parts[0]} if len(parts) > 2 else {})


def _texts(record: Fields, field: str) -> tuple[str, ...]:
    """Return the strings of a field that holds a string or a list of strings."""
    value = record.values.get(field, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise record.error(field, "a string or a list of strings")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise record.wrong(f"{field}[{index}]", text, "a string")
    return tuple(texts)


def _passages(texts: tuple[str, ...], nodes: tuple[str, ...]) -> tuple[Passage, ...] | None:
    """Return the distinct passages of a record; the page of a passage is its chunk's id.

    A single chunk is the page of all passages. If there are as many chunks as passages, they are the pages in order.
    Otherwise the pages are unknown.
    """
    chunks = nodes * len(texts) if len(nodes) == 1 else nodes
    pages = chunks if len(chunks) == len(texts) else ("",) * len(texts)
    distinct: dict[str, str] = {}
    for text, page in zip(texts, pages, strict=True):
        if text.strip():
            distinct.setdefault(text, page)
    pairs = enumerate(distinct.items())
    return tuple(Passage(f"p{at}", text, role="positive", page=page) for at, (text, page) in pairs) or None


load = OmniEval()
