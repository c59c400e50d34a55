"""The section on the diagnosis: types of right and wrong answers, by system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line
from pytest_rageval.trace.steps import tool_calls

__all__ = ["DIAGNOSIS", "SystemTypes"]

TITLE = "diagnosis - % of scored cases; right: EM retrieved, AM from memory, A? not known; wrong: GE RE TE ME W?"

SETTING = "rag_diagnosis"
"""The ini setting that also shows the section for systems without tools."""


@dataclass(frozen=True, slots=True)
class SystemTypes:
    """Number of answers of each type, for one system.

    Attributes:
        system: name of the system.
        n: number of answers with a type.
        types: type -> number of answers.
        without_type: reason -> number of outcomes without a type.
    """

    system: str
    n: int
    types: Mapping[str, int]
    without_type: Mapping[str, int]


def _compute(run: Run) -> list[SystemTypes]:
    """Return the types of each system, over testbeds whose traces have tools; `SETTING` includes all testbeds."""
    outcomes = run.of_systems()
    if SETTING not in run.settings:
        with_tools = {o.testbed for o in outcomes if o.answer is not None and tool_calls(o.answer.trace)}
        outcomes = [outcome for outcome in outcomes if outcome.testbed in with_tools]
    if not outcomes:
        return []
    from pytest_rageval.analysis.error_types import without_type

    rows = []
    for system in dict.fromkeys(outcome.system for outcome in outcomes):
        of_system = [outcome for outcome in outcomes if outcome.system == system]
        types = Counter(outcome.diagnosis.type for outcome in of_system if outcome.diagnosis is not None)
        counts = {str(each): types[each] for each in (*RIGHT, *WRONG)}
        rows.append(SystemTypes(system, types.total(), counts, without_type(of_system)))
    return [row for row in rows if row.n]


def _tables(rows: Sequence[SystemTypes], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table of percentages with a row for each system; the types of a row sum to 100."""
    from pytest_rageval.analysis.type_shares import percents

    shares = [percents({each: row.types[each] for each in (*RIGHT, *WRONG)}) for row in rows]
    columns = [
        ["system", *(row.system for row in rows)],
        ["n", *(str(row.n) for row in rows)],
        ["ACC", *(str(sum(share[each] for each in RIGHT)) for share in shares)],
        *([each, *(str(share[each]) for share in shares)] for each in (*RIGHT, *WRONG)),
    ]
    yield Table(TITLE, columns, [Line(_note(row)) for row in rows if row.without_type])


def _note(row: SystemTypes) -> str:
    reasons = ", ".join(f"{reason} {n}" for reason, n in row.without_type.items())
    return f"{row.system}: {sum(row.without_type.values())} without a type ({reasons})"


DIAGNOSIS = Section("diagnosis", SystemTypes, _compute, _tables)
