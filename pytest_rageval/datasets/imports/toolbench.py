"""Import ToolBench's DFSDT logs: one run per file, with its search tree."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of
from pytest_rageval.datasets.imports.toolbench_tree import Tree, read_tree
from pytest_rageval.datasets.imports.trace_rows import trace_rows
from pytest_rageval.datasets.jsonl import LABELLED
from pytest_rageval.datasets.source import JsonObject, read_object, shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.literals import parse_json
from pytest_rageval.trace.steps import COMPLETION, END, FINISHED, model_calls

__all__ = ["import_rows"]

KEYS = ("answer_generation", "forward_args", "tree")
UNNEEDED = (
    "answer_generation.chain", "answer_generation.finish_type", "answer_generation.function",
    "answer_generation.train_messages", "answer_generation.valid_data", "compare_candidates", "win",
)  # fmt: skip
GIVEN_UP = "give_up_and_restart"
MAX_CALLS = 200
"""The limit on model calls in the published runs."""

_NAME = re.compile(r"(?P<id>(?:[A-Za-z]+\d*_)?\d+)_(?P<system>.+)")
_MODEL = re.compile(r"(.+?)_DFS\w*")


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import runs of ToolBench: files ``<id>_<system>.json``, or folders with such files.

    A file is a case and a recorded answer with its trace: the whole tree, with a branch for each turn. The outcome of a
    branch is ``gave_up`` if it gave up, ``dead_end`` if it was pruned. ``query_count`` is the number of model calls,
    ``total_tokens`` the number of tokens. A run without an answer gave up if one of its branches did; otherwise a limit
    ended it. ToolBench has no gold answers, so the cases have ``"labelled": false``; add ``answers`` to the cases to
    score the answers. If several folders contain the same id, ids start with the folder's name.

    Source: ToolLLM (Qin et al., ICLR 2024).
    """
    files = files_of(request.paths, "*.json")
    folders = Counter(name for name, _ in {(_parse_name(path)[0], path.absolute().parent) for path in files})
    for path in files:
        result.rows += 1
        name, system = _parse_name(path)
        if folders[name] > 1:
            name = f"{path.absolute().parent.name}-{name}"
        try:
            _import_row(path, name, request.system or system, result)
        except DataError as error:
            result.skip(error.where, error.problem)


def _parse_name(path: Path) -> tuple[str, str]:
    """Return the id and the system in a file's name."""
    match = _NAME.fullmatch(path.stem)
    return (match["id"], match["system"]) if match else (path.stem, "")


def _import_row(path: Path, name: str, system: str, result: ImportResult) -> None:
    where = f"{shown_path(path)}:1"
    values = read_object(path)
    record = Fields(where, values)
    log = _inner(record, "answer_generation")
    tree = read_tree(_inner(_inner(record, "tree"), "tree"))
    question = log.text("query")
    answer, reason = _answer(log)
    steps = _with_missing_calls(tree, log.count("query_count"), where)
    limits = _inner(record, "forward_args") if "forward_args" in record else Fields(where, {})
    end = Step(END, {"reason": reason or _end_reason(tree, steps, limits.count("max_query_count"))})
    if not result.case(where, {"id": name, "question": question, LABELLED: False}):
        return
    result.drop(values, KEYS)
    result.drop(log.values, ("final_answer", "query", "query_count", "total_tokens"), "answer_generation.")
    result.unneeded.update(UNNEEDED)
    tokens = log.count("total_tokens")
    model = _MODEL.fullmatch(system)
    row: JsonObject = {"id": name, "answer": answer, **({"system": system} if system else {}), "workflow": "dfsdt"}
    row |= {"model": model[1]} if model else {}
    row |= {} if tokens is None else {"usage": {"total_tokens": tokens}}
    result.answer(where, row | {"trace": trace_rows((*steps, end))})


def _inner(record: Fields, name: str) -> Fields:
    if name not in record:
        raise record.error(name, "an object")
    return record.inner(name, record.values[name], "an object")


def _answer(log: Fields) -> tuple[str, str]:
    """Return the answer and the reason why the run ended; "" as reason if there is no answer."""
    final = log.values.get("final_answer", "")
    values = parse_json(final) if isinstance(final, str) else final
    if isinstance(values, dict):
        reply = Fields(log.where, values, f"{log.prefix}final_answer.")
        if reply.string("return_type", "") == GIVEN_UP:
            return "", "gave_up"
        answer = reply.string("final_answer")
        return answer, FINISHED if answer.strip() else "empty_answer"
    answer = log.string("final_answer", "")
    return answer, FINISHED if answer.strip() else ""


def _with_missing_calls(tree: Tree, queries: int | None, where: str) -> list[Step]:
    """Return the steps with all model calls of the log; calls without a reply in the tree come last."""
    missing = 0 if queries is None else queries - len(model_calls(tree.steps))
    if missing < 0:
        problem = f"query_count is {queries}, but the tree has {queries - missing if queries else -missing} replies"
        raise DataError(where, problem)
    return [*tree.steps, *[Step(COMPLETION)] * missing]


def _end_reason(tree: Tree, steps: list[Step], limit: int | None) -> str:
    if "gave_up" in tree.outcomes:
        return "gave_up"
    return "call_limit" if len(model_calls(steps)) >= (limit or MAX_CALLS) else "step_limit"
