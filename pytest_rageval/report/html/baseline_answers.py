"""Read the answers of the baseline's run for the page, if this machine still has the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.html.case_pairs import BaselineCases, case_key
from pytest_rageval.report.run.json_text import from_json

__all__ = ["BaselineAnswers", "read_baseline_answers"]


class BaselineAnswers:
    """The answers of the baseline's run, looked up by the outcomes of this run.

    Args:
        outcomes: the outcomes of the baseline's run.
        baseline_cases: the pairs of cases of both runs.
    """

    def __init__(self, outcomes: Iterable[Mapping[str, Any]], baseline_cases: BaselineCases) -> None:
        self._baseline_cases = baseline_cases
        self._answers = {(case_key(each), each["facets"].get(REPEAT)): _answer(each) for each in outcomes}

    def of(self, outcome: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return text, status and passages of the same case in the baseline's run; None if that run lacks it."""
        before = self._baseline_cases.known.get(outcome["nodeid"])
        return None if before is None else self._answers.get((before.key, outcome["facets"].get(REPEAT)))


def read_baseline_answers(
    runs: Path, results: Mapping[str, Any], baseline_cases: BaselineCases
) -> BaselineAnswers | None:
    """Return the answers of the run that the results were compared with.

    None if that run is no longer in ``runs``, or if the results have no texts; then the page must not show any.
    """
    name = results["comparison"]["baseline"].get("run", "")
    if Path(name).name != name or any(
        "question" not in from_json(each) for each in islice(results["instances"].values(), 1)
    ):
        return None
    try:
        baseline_results = parse_json((runs / name / "results.json").read_text(encoding="utf-8"))
        return BaselineAnswers(baseline_results["outcomes"], baseline_cases)
    except (OSError, KeyError, TypeError, ValueError):
        return None


def _answer(outcome: Mapping[str, Any]) -> dict[str, Any]:
    answer = outcome["answer"] or {}
    ranking = answer.get("ranking")
    passages = outcome.get("supplied", []) if ranking is None else [each["doc_id"] for each in ranking]
    return {
        "text": answer.get("text"),
        "status": outcome["status"],
        "abstained": answer.get("abstained"),
        "passages": passages,
    }
