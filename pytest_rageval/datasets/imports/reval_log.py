"""Import R-Eval's logs ``<dataset>_log.jsonl``: one run per line."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.cells import plain
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of, read_log
from pytest_rageval.datasets.imports.trace_rows import trace_rows
from pytest_rageval.datasets.reval_tasks import TASKS
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.literals import parse_literal
from pytest_rageval.trace.scratchpad import Transcript, read_transcript
from pytest_rageval.trace.steps import FINISHED

__all__ = ["import_rows"]

VERDICTS = ("correct", "reward")
KEYS = ("answer", "error", "exe_time", "halted", "prediction", "prompt", "question", "scratchpad", *VERDICTS)
MAX_STEPS = 10
"""Number of actions after which R-Eval stops a run."""

_FOLDER = re.compile(r"(?P<workflow>.+?)_(?:wiki|aminer)_run_(?:\w*?Agent)_(?P<model>.+)_\d+")

Row = tuple[Fields, str, JsonObject]
"""A row, the id of its case, and the system data in the name of its folder."""


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import R-Eval's logs ``<dataset>_log.jsonl``, or folders with such files.

    A line is a case (``answer`` is its gold answer) and a recorded answer (``prediction``) with its trace, read from
    the ``scratchpad`` (see `read_transcript`), and its time (``exe_time``). The id is ``<dataset>-<digest>`` of
    question and gold answer, so runs of several systems share their cases. For R-Eval's twelve datasets, the facets
    ``task``, ``task_id``, ``level`` and ``domain`` are set. A folder
    ``<agent>_<environment>_run_Agent_<model>_<length>`` names the system, its workflow and its model.

    ``halted`` means ``step_limit`` after 10 actions, else ``context_limit``; ``error`` means ``model_error``, which is
    an error of the case. A scratchpad in another format than ReAct's yields no steps. ``correct`` and ``reward``
    become facets and are never used as scores; they are skipped if the systems of a case differ in them.

    Source: R-Eval (Tu et al., KDD 2024).
    """
    rows: list[Row] = []
    for path in files_of(request.paths, "*_log.jsonl"):
        dataset, system = path.stem.removesuffix("_log"), _system_of(path, request.system)
        for where, values in read_log(path, result):
            record = Fields(where, values)
            try:
                digest = content_id(f"{record.text('question')}\n{plain(values.get('answer'))}")
            except DataError as error:
                result.skip(error.where, error.problem)
                continue
            rows.append((record, f"{dataset}-{digest}", system | {"task": dataset}))
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    for record, name, _ in rows:
        verdicts[name].add(repr([record.values.get(key) for key in VERDICTS]))
    for record, name, system in rows:
        _import_row(record, name, system, result, is_shared=len(verdicts[name]) > 1)


def _system_of(path: Path, system: str) -> JsonObject:
    """Return system, workflow and model, if the option or the folder names them."""
    match = _FOLDER.fullmatch(path.absolute().parent.name)
    if match is None:
        return {"system": system} if system else {}
    workflow = match["workflow"].removesuffix("Agent").lower()
    return {"system": system or f"{workflow}@{match['model']}", "workflow": workflow, "model": match["model"]}


def _import_row(record: Fields, name: str, system: JsonObject, result: ImportResult, *, is_shared: bool) -> None:
    try:
        _add(record, name, system, result, is_shared=is_shared)
    except DataError as error:
        result.skip(error.where, error.problem)


def _add(record: Fields, name: str, system: JsonObject, result: ImportResult, *, is_shared: bool) -> None:
    dataset = str(system["task"])
    answer, transcript = record.string("prediction"), read_transcript(record.string("scratchpad", ""))
    trace = _trace(record, transcript, answer)
    seconds = record.without_nulls().amount("exe_time", least=0)
    case: JsonObject = {"id": name, "question": record.text("question"), **_gold(record.values.get("answer"))}
    case |= _task(dataset) | result.facets(record.values, KEYS)
    case |= {} if is_shared else {key: record.values[key] for key in VERDICTS if key in record}
    if not result.case(record.where, case):
        return
    result.fields.update(key for key in ("prompt", *(VERDICTS if is_shared else ())) if key in record)
    result.unneeded.add("prompt")
    row: JsonObject = {"id": name, "answer": answer, **{key: system[key] for key in system if key != "task"}}
    row |= {} if seconds is None else {"usage": {"latency_s": seconds}}
    result.answer(record.where, row | ({"trace": trace_rows(trace)} if trace else {}))


def _gold(gold: object) -> JsonObject:
    """Return the gold answer; a text with a Python list of texts becomes slots, which must all match."""
    items = parse_literal(gold) if isinstance(gold, str) and gold.startswith("[") else None
    if isinstance(items, list) and items and all(isinstance(item, str) for item in items):
        return {"slots": items}
    return {"answers": plain(gold)}


def _task(dataset: str) -> JsonObject:
    task = TASKS.get(dataset)
    if task is None:
        return {"task": dataset}
    facets: JsonObject = {"task": dataset, "task_id": task.id, "level": task.level, "domain": task.domain}
    return facets | ({"gold_kind": "label"} if task.has_labels else {})


def _trace(record: Fields, transcript: Transcript, answer: str) -> tuple[Step, ...]:
    """Return the steps and the end of the run; empty if the log has neither."""
    halted = "step_limit" if transcript.rounds >= MAX_STEPS else "context_limit"
    reason = "model_error" if record.flag("error") else halted if record.flag("halted") else ""
    if transcript.is_labelled or reason:
        labelled = transcript if transcript.is_labelled else read_transcript("")
        return labelled.with_end(reason or (FINISHED if answer.strip() else "empty_answer"))
    return ()
