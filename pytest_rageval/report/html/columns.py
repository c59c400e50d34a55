"""Convert outcomes to columns, which the page sorts, filters and averages."""

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

_USAGE_FIELDS = ("latency_s", "cost_usd", "prompt_tokens", "completion_tokens")


class _CodedColumn:
    """A column of texts, encoded as indexes into its distinct texts; -1 for a row without a text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._table = {value: at for at, value in enumerate(values)}
        self.codes: list[int] = []

    def add(self, value: str, row: int) -> None:
        """Set the text of a row; rows before it that were left out get -1."""
        codes, table = self.codes, self._table
        if len(codes) < row:
            self.fill(row)
        codes.append(table.setdefault(value, len(table)))

    def fill(self, rows: int) -> None:
        self.codes += [-1] * (rows - len(self.codes))

    def plain(self, rows: int) -> dict[str, Any]:
        self.fill(rows)
        return {"values": list(self._table), "codes": self.codes}


def columns_of(results: Mapping[str, Any], baseline_cases: BaselineCases | None) -> tuple[dict[str, Any], list[str]]:
    """Return the outcomes as columns, and their searchable texts (answers and errors, or "").

    Args:
        results: the content of results.json; outcomes and instances may be JSON text.
        baseline_cases: the cases of the baseline; None without a baseline.

    Returns:
        Columns by name, each with one entry per outcome. ``testbed``, ``system``, ``case``, ``status``, ``error_type``
        and each of ``facets`` are ``{"values", "codes"}``; ``nodeid`` is a list of texts. Each of ``scores``, of
        ``before`` (the baseline's scores) and of ``used`` (usage of answers) is a list with None for no value.
        ``answered``, ``failed`` (the test failed) and ``missed`` are lists of 0 or 1; ``missed`` is None if an older
        version wrote the results without it.
    """
    required = {name: _CodedColumn() for name in ("testbed", "system", "status")}
    case, error = _CodedColumn(results["instances"]), _CodedColumn()
    failed_tests = frozenset(results["run"].get("failed", ()))
    nodeids: list[str] = []
    flags: dict[str, list[int]] = {"answered": [], "failed": [], "missed": []}
    texts: list[str] = []
    facets: dict[str, _CodedColumn] = defaultdict(_CodedColumn)
    scores: dict[str, list[float | None]] = {}
    before: dict[str, list[float | None]] = {}
    used: dict[str, list[float | None]] = {name: [] for name in (*_USAGE_FIELDS, *CALLS)}
    for row, outcome in enumerate(map(from_json, results["outcomes"])):
        nodeids.append(outcome["nodeid"])
        for name, column in required.items():
            column.add(outcome[name], row)
        case.add(outcome["case_id"], row)
        if outcome["error_type"]:
            error.add(outcome["error_type"], row)
        flags["failed"].append(int(outcome["nodeid"] in failed_tests))
        flags["missed"].append(int(outcome.get("missed", False)))
        for name, value in outcome["facets"].items():
            facets[name].add(value, row)
        _append_row(scores, {name: score["value"] for name, score in outcome["scores"].items()}, row)
        case_before = baseline_cases.scored.get(outcome["nodeid"]) if baseline_cases else None
        if case_before is not None:
            _append_row(before, case_before.scores, row)
        trace = _trace_of(outcome["answer"])
        for name, value in _usage_of(outcome, trace):
            used[name].append(value)
        flags["answered"].append(int(_is_answered(outcome, trace)))
        texts.append(_search_text(outcome))
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
    """Return whether an outcome has an answer, like `outcomes_with_answer`; steps before an exception are no answer."""
    answer = outcome["answer"]
    return answer is not None and not (outcome["status"] == "error" and is_cut_short(trace) and not answer["usage"])


def _trace_of(answer: Mapping[str, Any] | None) -> tuple[Step, ...]:
    return tuple(Step(step["kind"], step["detail"]) for step in answer["trace"]) if answer else ()


def _usage_of(outcome: Mapping[str, Any], trace: tuple[Step, ...]) -> Iterator[tuple[str, float | None]]:
    """Yield the usage of an encoded outcome, and the calls in its trace; None for unknown values."""
    answer = outcome["answer"]
    usage = (answer and answer["usage"]) or {}
    yield from ((name, usage.get(name)) for name in _USAGE_FIELDS)
    counted_answer = Answer("", trace=trace, usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")))
    is_scored = outcome["status"] == "scored"
    yield from ((name, calls_in_trace(name, counted_answer) if is_scored else None) for name in CALLS)


def _search_text(outcome: Mapping[str, Any]) -> str:
    """Return the text that a search looks through in addition to names: the answer and the error."""
    answer = outcome["answer"]
    return "\n".join(filter(None, (answer and answer["text"], outcome["error_type"], outcome["error"])))


def _append_row(columns: dict[str, list[float | None]], values: Mapping[str, float | None], row: int) -> None:
    """Append a row's values to their columns; earlier rows without a value get None."""
    for name, value in values.items():
        column = columns.setdefault(name, [])
        if len(column) < row:
            column += [None] * (row - len(column))
        column.append(value)
