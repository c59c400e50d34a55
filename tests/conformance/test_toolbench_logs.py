"""Import ToolBench's logs: calls, branches and tokens of each."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_rageval.cli import main
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.trace.steps import BRANCH, THOUGHT, end_reason, model_calls, tool_calls


def test_imported_logs_have_the_counts_of_their_trees(
    rageval_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = rageval_data / "systems" / "toolbench"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    out = tmp_path / "runs.jsonl"
    assert main(["import", "toolbench", *map(str, sorted(folder.glob("G*.json"))), "--out", str(out)]) == 0
    assert "left:" not in capsys.readouterr().out
    rows = load_recorded(tmp_path / "runs.answers.jsonl")
    assert {f"{row.id}_{row.system}.json" for row in rows} == set(expected)
    for row in rows:
        counts, trace, usage = expected[f"{row.id}_{row.system}.json"], row.answer.trace, row.answer.usage
        assert len(model_calls(trace)) == counts["query_count"]
        assert len(tool_calls(trace)) == counts["tool_calls"] - counts["finish_calls"]
        assert usage is not None
        assert usage.total_tokens == counts["total_tokens"]
        outcomes = Counter(str(step.detail["outcome"]) for step in trace if step.kind == BRANCH)
        assert outcomes["gave_up"] + outcomes["dead_end"] == counts["pruned"]
        assert outcomes["answer"] == counts["win"]
        assert sum(step.kind == THOUGHT for step in trace) == counts["node_types"].get("Thought", 0)
        assert end_reason(trace) == ("finished" if counts["win"] else "gave_up")
        assert bool(row.answer.text) == counts["win"]
