"""The sentences of the page's first screen: what decided the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.report.html.comparison import alpha_of, is_primary, is_significant
from pytest_rageval.report.html.gate_rows import in_order, is_undecided
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

MOST = 3  # sentences of a kind
NAMED = 3  # cases or tests that a sentence lists
REASON = 200  # characters of a gate's reason; the table has the whole

_FATES = {"failed": "failed", "undecided": "inconclusive", "skipped": "not judged"}
_VERBS = {"failed": "", "undecided": "is ", "skipped": "was "}

Row = Mapping[str, Any]


def sentences_of(results: Row, columns: Row, cases: Cases) -> list[Sentence]:
    """Return sentences on gates that do not hold, changes from the baseline, and failed tests.

    Args:
        results: the content of results.json.
        columns: its outcomes, see `columns.columns_of`.
        cases: the cases that the page can open.
    """
    several = len(columns["system"]["values"]) > 1
    return [*_gates(results), *_changes(results, cases, several=several), *_failed(results, columns, cases)]


def _gates(results: Row) -> Iterator[Sentence]:
    gates = enumerate(in_order(results))
    open_gates = [(at, gate) for at, gate in gates if gate["status"] != "passed" or is_undecided(gate)]
    for at, gate in open_gates[:MOST]:
        yield [Piece(gate["expr"], f"gate-{at}"), Piece(f" {_of(gate)} {_fate(gate)}")]
    if len(open_gates) > MOST:
        rest = Counter(_FATES[_state(gate)] for _, gate in open_gates[MOST:])
        yield [Piece(", ".join(f"{n} more {fate}" for fate, n in rest.items()), "gates")]


def _of(gate: Row) -> str:
    return "of the session" if gate["scope"] == "session" else f"of {gate['scope']}"


def _state(gate: Row) -> str:
    return "undecided" if is_undecided(gate) else str(gate["status"])


def _fate(gate: Row) -> str:
    state = _state(gate)
    reason = "too few cases to decide" if state == "undecided" else (gate["reason"] or "")
    why = reason if len(reason) <= REASON else f"{reason[: REASON - 3]}..."
    if is_not_decided(state, why):
        return f"is {why}"
    return f"{_VERBS[state]}{_FATES[state]}" + (f": {why}" if why else "")


def _changes(results: Row, cases: Cases, *, several: bool) -> Iterator[Sentence]:
    """Yield broken and fixed cases by the primary metrics, and other significant changes."""
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
    for each in changes[:MOST]:
        yield list(_change(each, results, cases, several=several))
    if len(changes) > MOST:
        yield [Piece(counted(len(changes) - MOST, "more change"), "baseline"), Piece(" against the baseline")]
    if not significant:
        some = any(each["broken"] or each["fixed"] for each in rows)
        regressed = any(gate["status"] == "failed" and gate["verdict"] for gate in results["gates"])
        if not (some and regressed):
            unchanged = unchanged_text(results["comparison"]["cases"].get("unscored", {}))
            yield [Piece("against the baseline", "baseline"), Piece(f": {ALL_NOISE if some else unchanged}")]


def _change(each: Row, results: Row, cases: Cases, *, several: bool) -> Iterator[Piece]:
    testbed = results["testbeds"].get(each["testbed"], {}).get("name", each["testbed"])
    name = row_text(testbed, each["metric"], each["system"] if several else "")
    between = ": "
    if is_significant(each, alpha_of(results)):
        of = ("testbed", "metric", "system")
        rows = results["comparison"]["comparisons"]
        cells = sum(bool(row["slice"]) for row in rows if all(row[key] == each[key] for key in of))
        name, between = moved_text(name, each["slice"], each["delta"], each["p_holm"], cells), "; "
    yield Piece(name)
    for key, verb in (("broken", "broke"), ("fixed", "fixed")):
        if each[key]:
            yield Piece(f"{between}{verb} ")
            yield from cases.link_names(cases.by_id(each[key]), NAMED, f"{key}-cases")
            if key == "broken":
                yield Piece(f" ({causes_text(each['causes'], each.get('by_answer', 0))})")
            between = "; "


def _failed(results: Row, columns: Row, cases: Cases) -> Iterator[Sentence]:
    """Yield failed tests, kinds of errors, and the number of cases that never ended."""
    failed: Sequence[str] = results["run"].get("failed", ())
    if failed:
        names = [(nodeid.partition("::")[2] or nodeid, nodeid) for nodeid in failed]
        yield [Piece(f"{counted(len(failed), 'test')} failed: "), *cases.link_names(names, NAMED, "failed-tests")]
    errors, status = columns["error_type"], columns["status"]
    by_outcome = zip(errors["codes"], status["codes"], strict=True)
    error_codes = [kind for kind, code in by_outcome if status["values"][code] == "error"]
    if error_codes:
        kinds = Counter(errors["values"][kind] for kind in error_codes if kind >= 0)
        by_kind = f": {kinds_text(kinds)}" if kinds else ""
        yield [Piece(f"{counted(len(error_codes), 'case')} ended in an "), Piece("error", "cases"), Piece(by_kind)]
    if unfinished := len(results["plan"]["unfinished"]):
        yield [Piece(f"{counted(unfinished, 'case')} never ended")]
