"""Answers of the baseline's run for the page, if that run is still on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.html.case_pairs import BaselineCases, case_key
from pytest_rageval.report.run.json_text import from_json

__all__ = ["Earlier", "read_earlier"]


class Earlier:
    """The answers of an earlier run, looked up by outcomes of a later one.

    Args:
        outcomes: the outcomes of the earlier run.
        paired: the pairs of cases of both runs.
    """

    def __init__(self, outcomes: Iterable[Mapping[str, Any]], paired: BaselineCases) -> None:
        self._paired = paired
        self._answers = {(case_key(each), each["facets"].get(REPEAT)): _answer(each) for each in outcomes}

    def of(self, outcome: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return text, status and passages of the same case in the earlier run; None if that run lacks it."""
        before = self._paired.known.get(outcome["nodeid"])
        return None if before is None else self._answers.get((before.key, outcome["facets"].get(REPEAT)))


def read_earlier(runs: Path, results: Mapping[str, Any], paired: BaselineCases) -> Earlier | None:
    """Return the answers of the run that results were compared with.

    None if it is not among ``runs`` any more, or if the results have no texts: then the page must show none either.
    """
    name = results["comparison"]["baseline"].get("run", "")
    if Path(name).name != name or any("question" not in from_json(e) for e in islice(results["instances"].values(), 1)):
        return None
    try:
        earlier = parse_json((runs / name / "results.json").read_text(encoding="utf-8"))
        return Earlier(earlier["outcomes"], paired)
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
