"""Select the diagnosed outcomes of a run, by our rule or by R-Eval's."""

from __future__ import annotations

from pytest_rageval.analysis.type_shares import DiagnosedOutcome
from pytest_rageval.errors import SettingError
from pytest_rageval.metrics.diagnosis.reval_type import type_of_reval
from pytest_rageval.report.run.json_text import from_json
from pytest_rageval.report.run.run import Run

__all__ = ["diagnosed_outcomes", "outcomes_by_reval"]


def diagnosed_outcomes(run: Run) -> list[DiagnosedOutcome]:
    """Return the outcomes of systems under test that have a diagnosis.

    Raises:
        SettingError: no outcome has a diagnosis.
    """
    outcomes = [
        DiagnosedOutcome(outcome, outcome.diagnosis.type, outcome.diagnosis.why)
        for outcome in run.of_systems()
        if outcome.diagnosis is not None
    ]
    if not outcomes:
        raise SettingError(
            "the run has no diagnosis; it needs gold answers, a metric of answers, and a trace, a ranking or supplied "
            "passages",
            code="RAG311",
        )
    return outcomes


def outcomes_by_reval(run: Run) -> list[DiagnosedOutcome]:
    """Return the diagnosed outcomes with a gold answer, with the types of R-Eval's published rule.

    Raises:
        SettingError: the run has no diagnosis, or was stored without texts.
    """
    cases = diagnosed_outcomes(run)
    if not run.texts:
        raise SettingError("--compat reval reads answers and traces, and the run was stored without texts")
    by_reval = []
    for case in cases:
        gold, answer = from_json(run.instances[case.outcome.case_id])["gold"], case.outcome.answer
        if answer is not None and gold and gold[0]:
            by_reval.append(DiagnosedOutcome(case.outcome, type_of_reval(gold[0][0], answer), ""))
    return by_reval
