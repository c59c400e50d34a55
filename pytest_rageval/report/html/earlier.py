"""What systems answered in the run that the baseline was taken from, where that run is still kept on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_rageval.report.html.pairing import case_key, renamed_in
from pytest_rageval.report.json_text import from_json

__all__ = ["Earlier", "read_earlier"]


class Earlier:
    """The answers of an earlier run, looked up by the outcomes of a later one.

    Args:
        outcomes: those of the earlier run.
        renamed: id of a case -> the id that it had then.
    """

    def __init__(self, outcomes: list[dict[str, Any]], renamed: Mapping[str, str]) -> None:
        self._renamed = renamed
        self._told = {_key(each["case_id"], each): _told(each) for each in outcomes}

    def of(self, outcome: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return ``{"text", "status"}`` of what the same case was answered then; None where it was not asked."""
        return self._told.get(_key(self._renamed.get(outcome["case_id"], outcome["case_id"]), outcome))


def read_earlier(runs: Path, results: Mapping[str, Any]) -> Earlier | None:
    """Return the answers of the run that results were compared with.

    None where it is not among ``runs`` any more, and for results without texts, beside which there are to be none.
    """
    comparison = results.get("comparison")
    if any("question" not in from_json(each) for each in islice(results["instances"].values(), 1)):
        return None
    name = comparison["baseline"]["run"] if comparison else ""
    if not name or Path(name).name != name:
        return None
    try:
        read = json.loads((runs / name / "results.json").read_text(encoding="utf-8"))
        return Earlier(read["outcomes"], renamed_in(results))
    except (OSError, KeyError, TypeError, ValueError):
        return None


def _key(name: str, outcome: Mapping[str, Any]) -> tuple[Any, ...]:
    return *case_key(outcome["testbed"], name, outcome), outcome["facets"].get("repeat")


def _told(outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": (outcome["answer"] or {}).get("text"), "status": outcome["status"]}
