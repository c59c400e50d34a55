"""Parse real runs of ReAct on FEVER: actions and their counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.trace.actions import read_action
from pytest_rageval.trace.steps import end_reason, tool_calls

FOLDER = Path("systems") / "react_fever"


@pytest.fixture
def expected(rageval_data: Path) -> dict[str, Any]:
    counts: dict[str, Any] = json.loads((rageval_data / FOLDER / "expected.json").read_text(encoding="utf-8"))["dev"]
    return counts


def test_parsed_actions_have_the_expected_counts(rageval_data: Path, expected: dict[str, Any]) -> None:
    """A published action is a name, a bracket, and a closing bracket at the end of the line."""
    lenient, strict = Counter[str](), Counter[str]()
    lines = (rageval_data / FOLDER / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
    for line in (line for row in lines for line in json.loads(row)["transcript"].split("\n")):
        if not line.startswith("Action ") or ":" not in line:
            continue
        action = read_action(line, ("Search", "Lookup", "Finish"))
        assert action is None or not action.fault
        lenient[action.name.lower() if action else "no_action"] += 1
        lenient["trailing"] += bool(action and action.trailing)
        strict[action.name if action and not action.trailing else "malformed"] += 1
    assert lenient == expected["lenient"]
    assert strict == {**expected["actions"], "malformed": expected["malformed"]}


def test_imported_runs_have_the_expected_calls_and_ends(
    rageval_data: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "fever.jsonl"
    assert main(["import", "react-log", str(rageval_data / FOLDER / "transcripts.jsonl"), "--out", str(out)]) == 0
    answers = [row.answer for row in load_recorded(tmp_path / "fever.answers.jsonl")]
    calls = Counter(step.detail["name"] for answer in answers for step in tool_calls(answer.trace))
    counts = expected["lenient"]
    assert calls == {"Search": counts["search"], "Lookup": counts["lookup"], "no_action": counts["no_action"]}
    steps = [step.detail for answer in answers for step in answer.trace]
    assert sum(detail.get("found") is False for detail in steps) == expected["not_found"]
    assert sum(detail.get("invalid", False) for detail in steps) == expected["malformed"]
    assert not any("Episode finished" in str(detail.get("result")) for detail in steps)
    ends = Counter(end_reason(answer.trace) for answer in answers)
    assert ends == {"finished": counts["finish"], "step_limit": expected["n"] - counts["finish"]}
