"""`rageval score` reads the verdicts that pytest recorded, and asks no model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.projects.model_projects import KEY, loaded  # noqa: F401
from support.projects.rag_project import Project
from support.samples.recorded_data import write_rows
from support.samples.same_scores import same_gates, same_outcomes
from support.servers.openai_replies import text_of
from support.servers.openai_server import OpenAIServer

import pytest_rageval as rag
from pytest_rageval.cli import main
from pytest_rageval.errors import SettingError

RATE, ACCURATE = "rejection_rate_judged", "accuracy_judged"
METRICS = [RATE, ACCURATE, "accuracy"]
GATES = [f"{RATE} <= 0.5", f"{RATE}[topic=*] <= 0.4", "cost_usd <= 1"]
TEST = f"""
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics={METRICS}, gates={GATES})
    def test_it(rag): ...
"""
N = 12
MODEL = "openai/judge"
FILE = "judge-openai--judge.jsonl"
JUDGE: Mapping[str, Any] = {
    "judge_model": MODEL,
    "judge_params": {"max_tokens": 64, "api_key": object()},
}


def verdict(body: Mapping[str, Any]) -> str:
    """Return a verdict: "no idea" is a rejection; the verdict on "mumble" is unreadable."""
    system, user = (text_of(message) for message in body["messages"][:2])
    if "> mumble" in user:
        return "well"
    if '"rejected"' in system:
        label = "rejected" if "> no idea" in user else "answered"
    else:
        label = "wrong" if "> no idea" in user else "right"
    return json.dumps({"reason": "so", "label": label})


@pytest.fixture
def results(project: Project) -> Any:
    """Return the results of a session that replays its judge; the server has stopped."""
    texts = ["Paris", "no idea", "mumble"]
    case = {"answers": ["Paris"]}
    cases = [{"id": f"q{at}", "question": f"Capital {at}?", "topic": f"t{at % 2}", **case} for at in range(N)]
    write_rows(project.path / "cases.jsonl", cases)
    write_rows(project.path / "answers.jsonl", [{"id": f"q{at}", "answer": texts[at % 3]} for at in range(N - 1)])
    project.file("test_it.py", TEST)
    with OpenAIServer(reply=verdict) as server:
        params = f"rag_judge_params=api_base = {server.base_url}\napi_key = {KEY}\nmax_tokens = 64"
        args = ("--rag-answers", "answers.jsonl", "--rag-judge-model", MODEL, "-o", params)
        project.run(*args, "--rag-record-mode", "once")
        assert len(server.requests) == 28  # a reply without a label is requested once more
    return project.run(*args, "--rag-record-mode", "none").results


def test_recorded_verdicts_give_the_same_scores_as_pytest(project: Project, results: Any) -> None:
    scores = rag.score("jsonl:cases.jsonl", "answers.jsonl", metrics=METRICS, gates=GATES, jobs=1, **JUDGE)
    same_outcomes(scores, results)
    same_gates(scores, results)
    assert {gate.status for gate in scores.gates} == {"passed", "failed"}
    assert scores.cell(RATE).n_unscored == 4  # 3 replies without a label, 1 case without an answer
    assert scores.mean(ACCURATE) == 0.5
    replays = {outcome["case_id"]: outcome["calls"]["replayed"] for outcome in results["outcomes"]}
    assert {row["case_id"]: row["calls.replayed"] for row in scores.rows()} == replays


def test_a_verdict_that_is_not_recorded_is_unscored_and_counted(
    project: Project, results: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project.path / "cassettes" / FILE
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    other_lines = [line for line in lines if "Capital 0?" not in line or "rejected" in line]
    assert len(other_lines) == len(lines) - 1
    args = ["score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", f"{RATE},{ACCURATE}", "--judge-model", MODEL,
            "--judge-param", "max_tokens = 64", "--jobs", "1"]  # fmt: skip
    assert main([*args, "--out", "before"]) == 0
    path.write_text("".join(other_lines), encoding="utf-8")
    assert main([*args, "--out", "after"]) == 0
    note = f"verdicts are not recorded, so scores are missing (judge_unavailable): 1 of {ACCURATE}"
    output = capsys.readouterr().out
    assert note in output
    assert f"no reply of judge '{MODEL}' to this request is recorded" in output
    assert main([*args, "--judge-param", "seed = 1", "--out", "other"]) == 0
    output = capsys.readouterr().out
    assert output.count("the nearest recording differs so:") == 1
    assert "+seed: 1" in output
    texts = {name: (project.path / name / "summary.txt").read_text(encoding="utf-8") for name in ("before", "after")}
    assert ["judge_unavailable" in text for text in texts.values()] == [False, True]
    scores = rag.score("jsonl:cases.jsonl", "answers.jsonl", metrics=METRICS, jobs=1, **JUDGE)
    rows = {row["case_id"]: row for row in scores.rows()}
    assert rows["q0"][f"reason.{ACCURATE}"] == "judge_unavailable"
    assert rows["q0"][f"score.{RATE}"] == 0.0
    assert rows["q3"][f"score.{ACCURATE}"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": [RATE]}, "needs verdicts of a judge, which are read from recordings; name its model with"),
        ({"metrics": ["accuracy"], "judge_model": MODEL}, f"no metric asks the judge '{MODEL}'; leave"),
        ({"metrics": [RATE], "judge_model": MODEL, "cassettes": "no"}, "the folder no has no recordings of the judge"),
        ({"metrics": [RATE], "judge_model": MODEL, "engine": "ray"}, "reads recordings, which only this machine has"),
    ],
)  # fmt: skip
def test_a_judge_without_recordings_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Mapping[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    cases, answers = [{"id": "q", "question": "?", "answers": ["Paris"]}], [{"id": "q", "answer": "Paris"}]
    with pytest.raises(SettingError, match=re.escape(message)):
        rag.score(cases, answers, **arguments)


@pytest.fixture
def score_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return arguments of ``rageval score`` with a judge; its folder of recordings is empty."""
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "cases.jsonl", [{"id": "q", "question": "?", "answers": ["Paris"]}])
    write_rows(tmp_path / "answers.jsonl", [{"id": "q", "answer": "Paris"}])
    (tmp_path / "cassettes").mkdir()
    return ["score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", RATE, "--judge-model", MODEL, "--jobs", "1",
            "--out", "scores"]  # fmt: skip


def refusal(capsys: pytest.CaptureFixture[str], args: list[str]) -> str:
    """Return the one sentence that refuses the arguments."""
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line


def test_a_malformed_recording_is_refused_before_anything_is_scored(
    score_arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cassettes", FILE).write_text('{"key": 1}\n', encoding="utf-8")
    error = refusal(capsys, score_arguments)
    assert f"{FILE}:1: " in error
    assert "[RAG412]" in error
    assert not Path("scores").exists()


def test_a_folder_with_the_name_of_the_recordings_is_refused(
    score_arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cassettes", FILE).mkdir()
    error = refusal(capsys, score_arguments)
    assert f"{FILE}: recordings cannot be read here" in error
    assert "[RAG412]" in error


def test_the_reserved_key_repeat_is_refused_in_a_record(
    score_arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(Path("cases.jsonl"), [{"id": "q", "question": "?", "answers": ["Paris"], "repeat": "x"}])
    Path("cassettes", FILE).write_text("", encoding="utf-8")
    assert "the key 'repeat' is reserved by the plugin; rename it" in refusal(capsys, score_arguments)


def test_a_malformed_parameter_of_the_judge_is_refused(
    score_arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cassettes", FILE).write_text("", encoding="utf-8")
    error = refusal(capsys, [*score_arguments, "--judge-param", "attempts = 0"])
    assert "--judge-param has attempts = 0; write a whole number of 1 or more" in error
    problems: list[tuple[dict[str, Any], str]] = [
        ({"attempts": 0}, "judge_params has attempts = 0; write a whole number of 1 or more"),
        ({"top": object()}, r"the param 'top' is or holds <object .* which is no JSON value"),
    ]
    for params, message in problems:
        with pytest.raises(SettingError, match=message):
            rag.score("jsonl:cases.jsonl", "answers.jsonl", metrics=[RATE], judge_model=MODEL, judge_params=params)
