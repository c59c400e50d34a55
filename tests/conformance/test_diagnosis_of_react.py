"""Diagnose 250 published runs of ReAct on FEVER, by our types and by R-Eval's rule."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Project

from pytest_rageval.metrics.answers.squad import EXACT_MATCH
from pytest_rageval.metrics.diagnosis.diagnose import diagnose
from pytest_rageval.metrics.diagnosis.reval_type import published_type, type_of_reval
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.outcome import Diagnosis
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.steps import END, THOUGHT, TOOL, end_reason

LINE = re.compile(r"^(Thought|Action|Observation) (\d+):[ ]?", re.MULTILINE)
ACTION = re.compile(r"\s*(Search|Lookup|Finish)\[(.*?)\]", re.IGNORECASE)
VERDICT = re.compile(r"Episode finished, reward = .*", re.DOTALL)
NOT_FOUND = ("Could not find", "Invalid")


@pytest.fixture(scope="module")
def folder(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "react_fever"
    if not path.is_dir():
        pytest.skip(f"{path} is missing")
    return path


def transcripts(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def lines_of(transcript: str) -> list[tuple[str, str]]:
    """Return the (head, text) of each thought, action and observation; an observation ends at the next one."""
    matches = list(LINE.finditer(transcript))
    ends = [*(match.start() for match in matches[1:]), len(transcript)]
    return [(match[1], transcript[match.end() : end].strip()) for match, end in zip(matches, ends, strict=True)]


def answer_of(row: dict[str, Any]) -> Answer:
    """Return the answer of a transcript with its trace, without the grader's verdict."""
    trace: list[Step] = []
    call: dict[str, Any] | None = None
    for head, text in lines_of(row["transcript"]):
        if head == "Thought":
            trace.append(Step(THOUGHT, {"text": text}))
        elif head == "Action":
            action = ACTION.match(text)
            call = {"name": action[1], "arguments": action[2]} if action else {"name": "no_action", "invalid": True}
        elif call is not None and not VERDICT.match(text):  # a Finish that the environment refused is a failed call
            missed = {"found": False} if text.startswith(NOT_FOUND) else {}
            trace.append(Step(TOOL, {**call, "result": text, **missed}))
    return Answer(row["answer"], trace=(*trace, Step(END, {"reason": "finished" if row["answer"] else "step_limit"})))


def case_of(row: dict[str, Any]) -> Case:
    return Case(row["id"], Instance(row["id"], row["question"], ((row["gold"],),)), None, {})


def test_our_types_have_the_expected_counts(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["dev"]
    types: Counter[str] = Counter()
    for row in transcripts(folder):
        case, answer = case_of(row), answer_of(row)
        diagnosis = diagnose(case, answer, EXACT_MATCH.compute(Sample(case, answer)), 1.0)
        assert isinstance(diagnosis, Diagnosis)
        types[diagnosis.type] += 1
    assert types == expected["ours"]


def test_published_types_of_transcripts_have_the_expected_counts(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["dev"]
    types = Counter(
        published_type(row["gold"], row["answer"], row["transcript"], halted=not row["answer"])
        for row in transcripts(folder)
    )
    assert types == expected["compat"]


def test_published_types_of_traces_have_the_expected_counts(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["dev"]
    answers = [(row, answer_of(row)) for row in transcripts(folder)]
    assert sum(end_reason(answer.trace) == "step_limit" for _, answer in answers) == 5
    assert Counter(type_of_reval(row["gold"], answer) for row, answer in answers) == expected["compat"]


SYSTEM = """
    import json
    from pathlib import Path

    import pytest
    from pytest_rageval import Answer, Step

    ANSWERS = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            text, trace = ANSWERS[query.question]
            return Answer(text, trace=tuple(Step(kind, detail) for kind, detail in trace))
        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["exact_match"], gates=["diagnosis:TE <= 0.01", "diagnosis:AM <= 0"])
    def test_fever(rag):
        ...
"""


def test_the_command_counts_the_types_of_a_run(folder: Path, project: Project) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["dev"]
    rows = transcripts(folder)
    project.data([{"id": row["id"], "question": row["question"], "answers": [row["gold"]]} for row in rows])
    answers = {row["question"]: (row["answer"], [(s.kind, s.detail) for s in answer_of(row).trace]) for row in rows}
    project.file("answers.json", json.dumps(answers))
    project.file("conftest.py", SYSTEM)
    project.file("test_a.py", TEST)
    run = project.run()
    assert {gate["expr"]: gate["status"] for gate in run.results["gates"]} == {
        "diagnosis:TE <= 0.01": "passed",
        "diagnosis:AM <= 0": "passed",
    }
    assert counts(project, "analyze", "errors", "--json") == expected["ours"]
    assert counts(project, "analyze", "errors", "--json", "--compat", "reval") == expected["compat"]


def counts(project: Project, *args: str) -> dict[str, int]:
    """Return type -> number of answers, as the command prints them."""
    process = project.command(*args)
    assert process.returncode == 0, process.stderr
    (group,) = json.loads(process.stdout)["groups"]
    return {name: each["n"] for name, each in group["types"].items() if each["n"] and name not in ("ACC", "WA")}
