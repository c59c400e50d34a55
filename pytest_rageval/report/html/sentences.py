"""Write the sentences of the page's first screen for results without an account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.report.html.comparison_rows import alpha_of, is_primary, is_significant
from pytest_rageval.report.html.gate_rows import gates_in_order, is_inconclusive
from pytest_rageval.report.html.links import Cases, Piece, Sentence
from pytest_rageval.report.sections.comparison import (
    ALL_NOISE,
    NO_PAIR,
    causes_text,
    moved_text,
    row_text,
    unchanged_text,
)
from pytest_rageval.report.sections.model_usage import kinds_text
from pytest_rageval.report.text.lines import counted

__all__ = ["sentences_of"]

MAX_SENTENCES = 3  # of each kind
MAX_NAMES = 3  # cases or tests in a sentence
MAX_REASON = 200  # characters of a gate's reason; the table has the full text

_STATE_WORDS = {"failed": "failed", "inconclusive": "inconclusive", "skipped": "not judged"}
_VERBS = {"failed": "", "inconclusive": "is ", "skipped": "was "}

Row = Mapping[str, Any]


def sentences_of(results: Row, columns: Row, cases: Cases) -> list[Sentence]:
    """Return sentences about gates that do not hold, changes from the baseline, and failed tests.

    Args:
        results: the content of results.json.
        columns: its outcomes, see `columns.columns_of`.
        cases: the cases that the page can open.
    """
    several = len(columns["system"]["values"]) > 1
    return [*_gates(results), *_changes(results, cases, several=several), *_failed(results, columns, cases)]


def _gates(results: Row) -> Iterator[Sentence]:
    gates = enumerate(gates_in_order(results))
    open_gates = [(at, gate) for at, gate in gates if gate["status"] != "passed" or is_inconclusive(gate)]
    for at, gate in open_gates[:MAX_SENTENCES]:
        yield [Piece(gate["expr"], f"gate-{at}"), Piece(f" {_scope_text(gate)} {_state_text(gate)}")]
    if len(open_gates) > MAX_SENTENCES:
        rest = Counter(_STATE_WORDS[_state(gate)] for _, gate in open_gates[MAX_SENTENCES:])
        yield [Piece(", ".join(f"{n} more {state}" for state, n in rest.items()), "gates")]


def _scope_text(gate: Row) -> str:
    return "of the session" if gate["scope"] == "session" else f"of {gate['scope']}"


def _state(gate: Row) -> str:
    return "inconclusive" if is_inconclusive(gate) else str(gate["status"])


def _state_text(gate: Row) -> str:
    state = _state(gate)
    reason = "too few cases to decide" if state == "inconclusive" else (gate["reason"] or "")
    short_reason = reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 3]}..."
    if is_not_decided(state, short_reason):
        return f"is {short_reason}"
    return f"{_VERBS[state]}{_STATE_WORDS[state]}" + (f": {short_reason}" if short_reason else "")


def _changes(results: Row, cases: Cases, *, several: bool) -> Iterator[Sentence]:
    """Yield sentences about broken and fixed cases by the primary metrics, and other significant changes."""
    if "comparison" not in results:
        return
    rows, alpha = results["comparison"]["comparisons"], alpha_of(results)
    if all(each["slice"] for each in rows):
        yield [Piece(NO_PAIR, "baseline")]
        return
    significant = [each for each in rows if is_significant(each, alpha)]
    primary = [each for each in rows if is_primary(each, results) and not each["slice"]]
    changes = [each for each in primary if each["broken"] or each["fixed"] or is_significant(each, alpha)]
    changes += [each for each in sorted(significant, key=lambda each: bool(each["slice"])) if each not in changes]
    for each in changes[:MAX_SENTENCES]:
        yield list(_change(each, results, cases, several=several))
    if len(changes) > MAX_SENTENCES:
        yield [Piece(counted(len(changes) - MAX_SENTENCES, "more change"), "baseline"), Piece(" against the baseline")]
    if not significant:
        some_changed = any(each["broken"] or each["fixed"] for each in rows)
        regressed = any(gate["status"] == "failed" and gate["verdict"] for gate in results["gates"])
        if not (some_changed and regressed):
            unchanged = unchanged_text(results["comparison"]["cases"].get("unscored", {}))
            yield [Piece("against the baseline", "baseline"), Piece(f": {ALL_NOISE if some_changed else unchanged}")]


def _change(each: Row, results: Row, cases: Cases, *, several: bool) -> Iterator[Piece]:
    testbed = results["testbeds"].get(each["testbed"], {}).get("name", each["testbed"])
    name = row_text(testbed, each["metric"], each["system"] if several else "")
    separator = ": "
    if is_significant(each, alpha_of(results)):
        of = ("testbed", "metric", "system")
        rows = results["comparison"]["comparisons"]
        cells = sum(bool(row["slice"]) for row in rows if all(row[key] == each[key] for key in of))
        name, separator = moved_text(name, each["slice"], each["delta"], each["p_holm"], cells), "; "
    yield Piece(name)
    for key, verb in (("broken", "broke"), ("fixed", "fixed")):
        if each[key]:
            yield Piece(f"{separator}{verb} ")
            yield from cases.link_names(cases.by_id(each[key]), MAX_NAMES, f"{key}-cases")
            if key == "broken":
                yield Piece(f" ({causes_text(each['causes'], each.get('by_answer', 0))})")
            separator = "; "


def _failed(results: Row, columns: Row, cases: Cases) -> Iterator[Sentence]:
    """Yield sentences about failed tests, errors by kind, and cases that never ended."""
    failed: Sequence[str] = results["run"].get("failed", ())
    if failed:
        names = [(nodeid.partition("::")[2] or nodeid, nodeid) for nodeid in failed]
        yield [Piece(f"{counted(len(failed), 'test')} failed: "), *cases.link_names(names, MAX_NAMES, "failed-tests")]
    errors, status = columns["error_type"], columns["status"]
    by_outcome = zip(errors["codes"], status["codes"], strict=True)
    error_codes = [kind for kind, code in by_outcome if status["values"][code] == "error"]
    if error_codes:
        kinds = Counter(errors["values"][kind] for kind in error_codes if kind >= 0)
        by_kind = f": {kinds_text(kinds)}" if kinds else ""
        yield [Piece(f"{counted(len(error_codes), 'case')} ended in an "), Piece("error", "cases"), Piece(by_kind)]
    if unfinished := len(results["plan"]["unfinished"]):
        yield [Piece(f"{counted(unfinished, 'case')} never ended")]
