"""Which answers of an earlier run stand beside those of a later one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.report.html.earlier import Earlier, read_earlier


def outcome(name: str, text: str | None = "then", **facets: str) -> dict[str, Any]:
    answer = None if text is None else {"text": text}
    status = "error" if text is None else "scored"
    told = {"testbed": "t.py::t", "case_id": name, "system": "mine", "facets": {"system": "mine", **facets}}
    return {**told, "status": status, "answer": answer}


def compared(run: str = "r1", **instance: Any) -> dict[str, Any]:
    instances = {"q1": instance or {"question": "?"}}
    return {"instances": instances, "comparison": {"baseline": {"run": run}, "cases": {"renamed": [["old", "new"]]}}}


def test_the_same_case_in_the_same_setting_and_repeat() -> None:
    earlier = Earlier(
        [
            outcome("q1", "once", repeat="1"),
            outcome("q1", "twice", repeat="2"),
            outcome("q2", "noisy", noise_rate="0.8"),
            outcome("q3", None),
            outcome("old", "by its old name"),
        ],
        {"new": "old"},
    )
    assert earlier.of(outcome("q1", repeat="2", knew="true")) == {"text": "twice", "status": "scored"}
    assert earlier.of(outcome("q1", repeat="3")) is None
    assert earlier.of(outcome("q2", noise_rate="0.4")) is None
    assert earlier.of(outcome("q3")) == {"text": None, "status": "error"}
    assert earlier.of(outcome("new")) == {"text": "by its old name", "status": "scored"}


def test_the_run_of_the_baseline_is_read_where_it_is_kept(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    stored = tmp_path / "r1" / "results.json"
    stored.write_text(json.dumps({"outcomes": [outcome("q1")]}))
    found = read_earlier(tmp_path, compared())
    assert found is not None
    assert found.of(outcome("q1")) == {"text": "then", "status": "scored"}
    assert read_earlier(tmp_path, {"instances": {}}) is None
    assert read_earlier(tmp_path, compared(passages={})) is None  # texts are left out
    assert read_earlier(tmp_path, compared("gone")) is None
    stored.write_text("{}")
    assert read_earlier(tmp_path, compared()) is None


@pytest.mark.parametrize("name", ["", "../r1", "/r1", "."])
def test_only_a_run_of_the_project_is_read(tmp_path: Path, name: str) -> None:
    for folder in (tmp_path, tmp_path / "r1"):
        folder.mkdir(exist_ok=True)
        (folder / "results.json").write_text(json.dumps({"outcomes": [outcome("q1")]}))
    (tmp_path / "runs").mkdir()
    assert read_earlier(tmp_path / "runs", compared(name)) is None
