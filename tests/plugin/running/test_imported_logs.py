"""Imported logs of agents run as recorded answers with their steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Project

from pytest_rageval.cli import main

SUITE = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:runs.jsonl", metrics=["accuracy"], gates=["{gate}"])
    def test_run(rag):
        ...
"""
QUESTION = "When does it open?"
TRANSCRIPT = "Thought 1: Look.\nAction 1: Search[museum]\nObservation 1: It opens at 9:00.\nAction 2: Finish[9:00]"
CALL = {"name": "Search", "arguments": "museum", "result": "It opens at 9:00."}
REACT_STEPS = [
    {"kind": "thought", "detail": {"text": "Look."}},
    {"kind": "tool", "detail": CALL},
    {"kind": "end", "detail": {"reason": "finished"}},
]

FINISH = {"node_type": "Action Input", "description": "", "children": [], "observation_code": 3, "expand_num": 1}
ANSWER = {"return_type": "give_answer", "final_answer": "9:00"}
TREE = {"children": [{"node_type": "Action", "description": "Finish", "children": [FINISH]}]}
TOOLBENCH = {
    "tree": {"tree": TREE},
    "answer_generation": {"query": QUESTION, "final_answer": json.dumps(ANSWER), "total_tokens": 90},
}
TREE_STEPS = [
    {"kind": "branch", "detail": {"path": "0", "outcome": "answer"}},
    {"kind": "completion", "detail": {"parent": 0}},
    {"kind": "end", "detail": {"reason": "finished"}},
]

PASSAGE = {"wikipedia_id": "12", "wikipedia_title": "Museum", "doc_id": "7", "text": "It opens at 9:00."}
RALLE = {"id": "q1", "input": QUESTION, "output": [{"prompt": QUESTION, "provenance": [PASSAGE]}]}
TRACE_PASSAGE = {"id": "7", "page": "12", "title": "Museum", "text": "It opens at 9:00."}
RALLE_STEPS = [{"kind": "retrieve", "detail": {"query": QUESTION, "passages": [TRACE_PASSAGE]}}]

LOGS: dict[str, tuple[str, dict[str, Any], str, list[dict[str, Any]]]] = {
    "react-log": (
        "runs.log",
        {"id": "q1", "question": QUESTION, "gold": "9:00", "answer": "At 9:00.", "transcript": TRANSCRIPT},
        "accuracy >= 1",
        REACT_STEPS,
    ),
    "reval-log": (
        "csj_log.jsonl",
        {"question": QUESTION, "answer": "9:00", "prediction": "At 9:00.", "scratchpad": TRANSCRIPT, "exe_time": 2},
        "latency_p50 <= 2",
        REACT_STEPS,
    ),
    "toolbench": ("1_DFS.json", TOOLBENCH, "tokens <= 90", TREE_STEPS),
    "ralle-output": ("output.jsonl", RALLE, "error_rate <= 0", RALLE_STEPS),
}


@pytest.mark.parametrize("form", LOGS)
def test_an_imported_log_is_scored_with_its_steps(
    form: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    name, row, gate, steps = LOGS[form]
    source, out = project.data([row], name), project.path / "runs.jsonl"
    assert main(["import", form, str(project.path / name), "--system", "mine", "--out", str(out)]) == 0, source
    capsys.readouterr()
    project.file("test_it.py", SUITE.format(gate=gate))
    run = project.run("--rag-answers", "runs.answers.jsonl")
    assert run.status == 0
    assert run.gates[gate]["status"] == "passed"
    (outcome,) = run.results["outcomes"]
    assert (outcome["status"], outcome["system"]) == ("scored", "mine")
    assert [step for step in outcome["answer"]["trace"] if step in steps] == steps
    reason = outcome["scores"]["accuracy"].get("reason")
    assert reason == (None if form.endswith("-log") else "not_applicable: no_gold")


def test_a_transcript_in_a_row_is_its_trace(project: Project) -> None:
    project.data([{"id": "q1", "question": QUESTION, "answers": ["9:00"]}], "runs.jsonl")
    project.data([{"id": "q1", "answer": "At 9:00.", "scratchpad": TRANSCRIPT}], "answers.jsonl")
    project.file("test_it.py", SUITE.format(gate="accuracy >= 1"))
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.status == 0
    assert run.results["outcomes"][0]["answer"]["trace"] == REACT_STEPS
