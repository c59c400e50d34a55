"""The outcomes as columns for the page to sort, filter and average."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_rageval.analysis.usage import CALLS, calls_in_trace
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.report.html.case_pairs import BaselineCases
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.trace.steps import is_cut_short

__all__ = ["columns_of"]

_USED = ("latency_s", "cost_usd", "prompt_tokens", "completion_tokens")


class _Coded:
    """A column of texts as indexes into the list of distinct texts; -1 for none."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._table = {value: at for at, value in enumerate(values)}
        self.codes: list[int] = []

    def add(self, value: str, row: int) -> None:
        """Set the value of a row; earlier rows without a value are filled up."""
        codes, table = self.codes, self._table
        if len(codes) < row:
            self.fill(row)
        codes.append(table.setdefault(value, len(table)))

    def fill(self, rows: int) -> None:
        self.codes += [-1] * (rows - len(self.codes))

    def plain(self, rows: int) -> dict[str, Any]:
        self.fill(rows)
        return {"values": list(self._table), "codes": self.codes}


def columns_of(results: Mapping[str, Any], paired: BaselineCases | None) -> tuple[dict[str, Any], list[str]]:
    """Return the outcomes as columns, and their searchable texts (answers and errors, or "").

    Args:
        results: the content of results.json; outcomes and instances may be JSON text.
        paired: the cases of the baseline, if there is one.

    Returns:
        Columns by name, each with one entry per outcome: ``nodeid``; ``testbed``, ``system``, ``case``, ``status``,
        ``error_type`` and each of ``facets`` as ``{"values", "codes"}``; each of ``scores`` and, for the baseline,
        ``before`` with None for no value; ``used``, the usage of answers; ``answered``, and ``failed`` for a failed
        test, as 0 or 1; ``missed`` likewise, None if the run's version did not say it.
    """
    required = {name: _Coded() for name in ("testbed", "system", "status")}
    case, error = _Coded(results["instances"]), _Coded()
    of_failed_tests = frozenset(results["run"].get("failed", ()))
    nodeids: list[str] = []
    flags: dict[str, list[int]] = {"answered": [], "failed": [], "missed": []}
    texts: list[str] = []
    facets: dict[str, _Coded] = defaultdict(_Coded)
    scores: dict[str, list[float | None]] = {}
    before: dict[str, list[float | None]] = {}
    used: dict[str, list[float | None]] = {name: [] for name in (*_USED, *CALLS)}
    for row, outcome in enumerate(map(from_json, results["outcomes"])):
        nodeids.append(outcome["nodeid"])
        for name, column in required.items():
            column.add(outcome[name], row)
        case.add(outcome["case_id"], row)
        if outcome["error_type"]:
            error.add(outcome["error_type"], row)
        flags["failed"].append(int(outcome["nodeid"] in of_failed_tests))
        flags["missed"].append(int(outcome.get("missed", False)))
        for name, value in outcome["facets"].items():
            facets[name].add(value, row)
        _put(scores, {name: score["value"] for name, score in outcome["scores"].items()}, row)
        case_before = paired.scored.get(outcome["nodeid"]) if paired else None
        if case_before is not None:
            _put(before, case_before.scores, row)
        trace = _trace_of(outcome["answer"])
        for name, value in _used_by(outcome, trace):
            used[name].append(value)
        flags["answered"].append(int(_is_answered(outcome, trace)))
        texts.append(_searchable(outcome))
    rows = len(nodeids)
    for values in (*scores.values(), *before.values()):
        values += [None] * (rows - len(values))
    columns = {
        "nodeid": nodeids,
        **{name: column.plain(rows) for name, column in required.items()},
        "case": case.plain(rows),
        "error_type": error.plain(rows),
        "facets": {name: column.plain(rows) for name, column in facets.items()},
        "scores": scores,
        "before": before,
        "used": used,
        **flags,
        "missed": flags["missed"] if "account" in results else None,
    }
    return columns, texts


def _is_answered(outcome: Mapping[str, Any], trace: tuple[Step, ...]) -> bool:
    """Return whether an outcome has an answer, see `outcomes_with_answer`; steps before an exception are none."""
    answer = outcome["answer"]
    return answer is not None and not (outcome["status"] == "error" and is_cut_short(trace) and not answer["usage"])


def _trace_of(answer: Mapping[str, Any] | None) -> tuple[Step, ...]:
    return tuple(Step(step["kind"], step["detail"]) for step in answer["trace"]) if answer else ()


def _used_by(outcome: Mapping[str, Any], trace: tuple[Step, ...]) -> Iterator[tuple[str, float | None]]:
    """Yield the usage of an encoded outcome, and the calls in its trace; None for what is unknown."""
    answer = outcome["answer"]
    usage = (answer and answer["usage"]) or {}
    yield from ((name, usage.get(name)) for name in _USED)
    whole = Answer("", trace=trace, usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")))
    is_scored = outcome["status"] == "scored"
    yield from ((name, calls_in_trace(name, whole) if is_scored else None) for name in CALLS)


def _searchable(outcome: Mapping[str, Any]) -> str:
    """Return the text in which an outcome is found, besides its names: answer, kind and message of its error."""
    answer = outcome["answer"]
    return "\n".join(filter(None, (answer and answer["text"], outcome["error_type"], outcome["error"])))


def _put(columns: dict[str, list[float | None]], values: Mapping[str, float | None], row: int) -> None:
    """Append a row's values to their columns, after filling up earlier rows."""
    for name, value in values.items():
        column = columns.setdefault(name, [])
        if len(column) < row:
            column += [None] * (row - len(column))
        column.append(value)
