"""Import OmniEval's predictions: a file per topic and task, a line per question or turn."""

from __future__ import annotations

from collections import Counter

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.cells import list_items
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of, read_rows
from pytest_rageval.datasets.omnieval import TASK_OF
from pytest_rageval.datasets.source import JsonObject, shown_path
from pytest_rageval.errors import DataError

__all__ = ["SUFFIX", "facets_of", "import_rows", "levels_of"]

SUFFIX = ".pred.jsonl"
TURNS = "conversational_qa"
QUESTIONS = {task for task in TASK_OF.values() if task != TURNS}
KEYS = ("golden_answers", "id", "output", "question", "relevant_node", "relevant_passage")
RANKED = {"contents": "text", "score": "score", "title": "title"}

Row = tuple[str, JsonObject]


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import files ``<level 1> - <level 2> - <task>.pred.jsonl``, or folders with such files.

    A line is a case and a recorded answer with its ranking. The case's gold chunks become ``qrels``, its gold passages
    positive passages. Lines of one file with the same id are the turns of a conversation, in order: the id of a turn is
    ``<id>.<round>``, and its history is the earlier turns with their gold answers. If several files contain the same
    id, ids start with the file's name: ``<level 1>-<level 2>-<task>-<id>``.

    Source: OmniEval (Wang et al., 2024).
    """
    files = {path: list(read_rows(path, result)) for path in files_of(request.paths, f"*{SUFFIX}")}
    ids = Counter(name for rows in files.values() for name in {str(row.get("id")) for _, row in rows})
    is_ambiguous = any(count > 1 for count in ids.values())
    if is_ambiguous:
        result.notes.append("Several files have the same ids: each id starts with the name of its file.")
    for path, rows in files.items():
        levels = levels_of(path.name)
        if len(levels) < 3:
            problem = f"the name is not <level 1> - <level 2> - <task>{SUFFIX}, so its cases have no topic."
            result.notes.append(f"{shown_path(path)}: {problem}")
        _file(rows, levels, "-".join([*levels, ""]) if is_ambiguous else "", request.system, result)


def _file(rows: list[Row], levels: list[str], prefix: str, system: str, result: ImportResult) -> None:
    facets = facets_of(levels)
    shared = Counter(str(row.get("id")) for _, row in rows)
    dialogues: dict[str, list[JsonObject]] = {}
    rounds: Counter[str] = Counter()
    for where, row in rows:
        record = Fields(where, row)
        try:
            name = f"{prefix}{record.identifier('id')}"
        except DataError as error:
            result.skip(error.where, error.problem)
            continue
        answers = list_items(row.get("golden_answers"))
        case: JsonObject = {"id": name, "question": row.get("question"), "answers": answers, **facets}
        turn = facets.get("task") == TURNS or (facets.get("task") not in QUESTIONS and shared[str(row["id"])] > 1)
        history = dialogues.setdefault(name, [])
        if turn:
            rounds[name] += 1
            case |= {"id": f"{name}.{rounds[name]}", "dialogue": name, "round": rounds[name], "history": [*history]}
        if _import_row(record, case, system, result) and turn:
            history.append({"question": case["question"], "answer": answers[0]})


def _import_row(record: Fields, case: JsonObject, system: str, result: ImportResult) -> bool:
    """Import the case and the answer of a line; return whether the case was imported."""
    row, where = record.values, record.where
    case |= result.facets(row, {*KEYS, *case})
    passages = [str(text) for text in list_items(row.get("relevant_passage")) if str(text).strip()]
    if passages:
        each = enumerate(dict.fromkeys(passages))
        case["passages"] = [{"id": f"p{at}", "text": text, "role": "positive"} for at, text in each]
    nodes = [str(node) for node in list_items(row.get("relevant_node")) if str(node).strip()]
    if nodes:
        case["qrels"] = dict.fromkeys(nodes, 1)
    if not result.case(where, case):
        return False
    try:
        output = record.inner("output", row.get("output"), "an object with pred and retrieval_result").without_nulls()
        answer: JsonObject = {"id": case["id"], "answer": output.string("pred")}
        if "retrieval_result" in output:
            answer["ranking"] = _ranking(output, result)
    except DataError as error:
        result.skip(error.where, f"answer skipped: {error.problem}")
        return True
    result.drop(output.values, ("pred", "retrieval_result"), "output.")
    result.unneeded.add("output.prompt")
    result.answer(where, answer | ({"system": system} if system else {}))
    return True


def _ranking(output: Fields, result: ImportResult) -> list[JsonObject]:
    items: list[JsonObject] = []
    for passage in output.objects("retrieval_result", "a list of objects with id, title and contents"):
        fields = passage.without_nulls()
        item: JsonObject = {"id": fields.identifier("id")}
        item |= {ours: fields.values[key] for key, ours in RANKED.items() if key in fields}
        result.drop(fields.values, ("id", *RANKED), "output.retrieval_result.")
        items.append(item)
    return result.ranking(items)


def levels_of(name: str) -> list[str]:
    """Return the parts of a file's name: the levels of the topic, then the task."""
    return [part.strip() for part in name.removesuffix(SUFFIX).removesuffix(".jsonl").split(" - ")]


def facets_of(levels: list[str]) -> dict[str, str]:
    """Return the facets in the parts of a file's name."""
    *domain, task = levels
    facets: dict[str, str] = {}
    if len(domain) > 1:
        facets = {"topic_1": domain[-2], "topic": domain[-1], "task": TASK_OF.get(task, task)}
    elif task in TASK_OF:
        facets = {"task": TASK_OF[task]}
    return facets | ({"domain": domain[0]} if len(domain) > 2 else {})
