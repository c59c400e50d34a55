"""``rageval analyze preferences`` and ``leaderboard``: a judge compares a run's systems."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import pytest
from support.projects.model_projects import KEY
from support.projects.rag_project import Project
from support.servers.openai_replies import text_of
from support.servers.openai_server import Fault, OpenAIServer

SUITE = """
[[testbed]]
name = "town"
dataset = "jsonl:cases.jsonl"
metrics = ["token_f1"]
"""

REGISTERS = """
from pytest_rageval import PromptedJudge

def pytest_rageval_register(registry):
    registry.judges.register("longer", PromptedJudge("longer", "Which answer says more?", pair=True))
    registry.judges.register("broken", PromptedJudge("broken", "Which?", pair=True, applies=lambda sample: 1 / 0))
    registry.judges.register("never", PromptedJudge("never", "Which?", pair=True, applies=lambda sample: "no_gold"))
    registry.judges.register("brief", lambda sample: len(sample.answer.text) < 100)
"""

ANSWERS = {
    "gothic-desk": ("a long answer", "a long answer", "same words", "two words", "an answer"),
    "baroque-desk": ("short", "short", "same  words", "2nd words", "error"),
    "rococo-desk": ("middling", "no", "no", "no", "no"),
}
"""Answers by system. In q3 the first two are equally long, so the order decides; in q2 they are equal."""

COSTS = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}


def verdict(body: Mapping[str, Any]) -> str:
    """Reply like a judge that prefers the longer answer, and the first of two equally long ones."""
    user = text_of(body["messages"][1])
    first, second = re.findall(r"Answer [AB]:\n> (.*)", user)
    return json.dumps({"reason": "it says more", "label": "A" if len(first) >= len(second) else "B"})


def run_project(project: Project, base_url: str, *ini: str, **params: object) -> None:
    """Make and run a project with recorded answers of three systems and a judge model at an address."""
    model_params = {"api_base": base_url, "api_key": KEY, **params}
    lines = ["[pytest]", "rag_judge_model = openai/j", *ini, "rag_judge_params ="]
    project.file("pytest.ini", "\n".join([*lines, *(f"    {name} = {value}" for name, value in model_params.items())]))
    project.file("conftest.py", REGISTERS)
    project.file("town.rag.toml", SUITE)
    cases = [{"id": f"q{at}", "question": f"What is {at}?", "answers": ["words"]} for at in range(5)]
    rows = [
        {"id": f"q{at}", "system": system, "answer": text}
        for system, texts in ANSWERS.items()
        for at, text in enumerate(texts)
        if text != "error"
    ]
    for name, each in (("cases", cases), ("answers", rows)):
        project.file(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in each))
    project.run("--rag-answers", "answers.jsonl")


def preferences(project: Project, *arguments: str) -> Any:
    result = project.command("analyze", "preferences", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def judge(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.reply = verdict
    return openai_server


def test_a_judge_compares_all_pairs_in_both_orders(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    plain = preferences(project, "--judge", "longer")
    pairs = {(each["system"], each["other"]): each for each in plain["pairs"]}
    first = pairs["gothic-desk", "baroque-desk"]
    assert (first["n"], first["won"], first["tied"], first["lost"]) == (4, 2, 2, 0)
    assert (first["order_decided"], first["same_answer"], first["share"]) == (1, 1, 0.75)
    assert plain["left_out"] == {"an error has no answer": 2}
    assert len(judge.requests) == plain["usage"]["calls"] == 2 * (3 + 5 + 4)
    assert plain["order_decided"] == {"share": pytest.approx(1 / 12), "n": 12, "ci95": plain["order_decided"]["ci95"]}
    assert plain["first_shown"]["share"] == pytest.approx((11 * 0.5 + 1) / 12)
    ranked = [each["system"] for each in plain["leaderboard"]["systems"]]
    assert ranked == ["gothic-desk", "baroque-desk", "rococo-desk"]
    prompts = "".join(text_of(message) for request in judge.requests for message in request.body["messages"])
    assert "Which answer says more?" in prompts
    assert not any(system in prompts for system in ANSWERS)
    output = project.command("analyze", "preferences", "--judge", "longer").stdout
    assert "preferences of longer (openai/j), asked in both orders\n" in output
    assert "the order decided 0.08" in output
    assert "leaderboard by longer - paired tests, Holm, alpha 0.05\n" in output


def test_agreement_reads_the_csv_of_verdicts(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    result = project.command("analyze", "preferences", "--csv", "judged.csv")
    assert result.stdout == "written: judged.csv\n"
    rows = list(csv.DictReader(io.StringIO((project.path / "judged.csv").read_text())))
    assert len(rows) == 13
    assert rows[0] == {
        "id": "q0", "A": "gothic-desk", "B": "baroque-desk", "preferred": "gothic-desk", "straight": "A", "turned": "B",
        "reason": "it says more", "problem": "",
    }  # fmt: skip
    assert {row["preferred"] for row in rows if row["id"] == "q2" and row["B"] == "baroque-desk"} == {"tie"}
    result = project.command("agreement", "judged.csv", "--json")
    assert json.loads(result.stdout)["pairs"]["used"] == 13


def test_a_spent_budget_stops_and_the_next_command_asks_only_the_rest(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url, "rag_concurrency = 1", **COSTS)
    result = project.command("analyze", "preferences", "--budget-usd", "0.6")
    assert result.returncode == 0, result.stderr
    assert re.search(r"warning: \d+ pairs were not asked \(the budget of \$0.6 would be passed", result.stdout)
    before = len(judge.requests)
    assert 2 <= before < 24
    plain = preferences(project)
    assert len(judge.requests) == 24
    assert [each["unscored"] for each in plain["pairs"]] == [{}, {}, {}]
    assert not list((project.path / ".rageval" / "preferences").glob("*/*"))


def test_an_interrupted_command_resumes_where_it_stopped(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url, "rag_concurrency = 1")
    judge.delay_s = 0.1
    start = "import sys; from pytest_rageval.cli import main; sys.exit(main())"
    command = subprocess.Popen(
        [sys.executable, "-c", start, "analyze", "preferences"],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while len(judge.requests) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=20)
    assert (command.returncode, out, err.decode().strip()) == (130, b"", "rageval: interrupted")
    before = len(judge.requests)
    assert 5 <= before < 24
    judge.delay_s = 0.0
    plain = preferences(project)
    assert len(judge.requests) in (24, 25)  # the call in flight has no reply
    assert sum(each["n"] for each in plain["pairs"]) == 13


def test_recorded_verdicts_are_replayed(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    first = preferences(project, "--record-mode", "new_episodes")
    judge.plan = lambda number, body: Fault("status", 500)
    again = preferences(project, "--record-mode", "none")
    assert len(judge.requests) == 24
    assert again["pairs"] == first["pairs"]


def test_a_panel_of_two_models_votes(project: Project, judge: OpenAIServer) -> None:
    def split(body: Mapping[str, Any]) -> str:
        preference = json.loads(verdict(body))
        label = {"A": "B", "B": "A"}[preference["label"]] if body["model"] == "contrary" else preference["label"]
        return json.dumps(preference | {"label": label})

    judge.reply = split
    run_project(project, judge.base_url, "rag_judges =", "    longer: rag_judge, openai/contrary")
    plain = preferences(project, "--judge", "longer")
    assert plain["models"] == ["openai/j", "openai/contrary"]
    assert len(judge.requests) == 48
    assert {(each["won"], each["lost"]) for each in plain["pairs"]} == {(0, 0)}
    assert [each["order_decided"] for each in plain["pairs"]] == [1, 0, 0]


def test_pairs_without_a_verdict_are_counted(project: Project, judge: OpenAIServer) -> None:
    judge.reply = lambda body: "I like both" if "> short" in text_of(body["messages"][1]) else verdict(body)
    run_project(project, judge.base_url)
    plain = preferences(project)
    assert [each["unscored"] for each in plain["pairs"]] == [{"parse_error": 2}, {}, {"parse_error": 2}]
    assert [each["n"] for each in plain["pairs"]] == [2, 5, 2]
    assert "without a verdict 2 parse_error" in project.command("analyze", "preferences").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "lomger"), "rageval: --judge: unknown judge of pairs 'lomger'; did you mean 'longer'?"),
        (("--judge", "brief"), "rageval: --judge 'brief' judges single answers; name a PromptedJudge(..., pair=True)"),
        (("--judge-model", "script:none.toml"), "rageval: the model script:none.toml cannot be used: there is no file"),
        (("nowhere",), "rageval: the run nowhere is not under"),
        (
            ("--judge", "broken"),
            "rageval: no pair of answers was judged: 12 of 12 pairs: judge_error: judge 'broken' failed on ",
        ),
        (("--judge", "never"), "rageval: no pair of answers was judged: 12 of 12 pairs: not_applicable: no_gold"),
    ],
)
def test_an_error_is_reported_in_one_sentence(
    arguments: tuple[str, ...], message: str, project: Project, judge: OpenAIServer
) -> None:
    run_project(project, judge.base_url)
    result = project.command("analyze", "preferences", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert not judge.requests


def test_swapped_is_refused_for_pairs(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url, "rag_judges =", "    preference: rag_judge; repeat=2; swapped")
    result = project.command("analyze", "preferences")
    assert result.stderr.startswith("rageval: rag_judges: preference is asked in both orders anyway; remove 'swapped'")


def test_a_local_judge_is_refused_for_pairs(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url, "rag_judges =", "    preference: local:judge")
    result = project.command("analyze", "preferences")
    assert result.stderr.startswith(
        "rageval: rag_judges: preference compares two answers, and a local judge reads one;"
    )


def test_a_refused_key_ends_the_command(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url, "rag_concurrency = 1")
    judge.plan = lambda number, body: Fault("status", 401)
    result = project.command("analyze", "preferences")
    assert result.returncode == 2
    assert result.stderr.startswith("rageval: no pair of answers was judged: ")
    assert len(judge.requests) == 1


def test_without_a_model_or_with_one_system_nothing_is_asked(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    text = (project.path / "pytest.ini").read_text()
    project.file("pytest.ini", text.split("rag_judge_params")[0].replace("rag_judge_model = openai/j", ""))
    result = project.command("analyze", "preferences")
    assert result.stderr.startswith(
        "rageval: no model is named to judge; name one with --judge-model, or with rag_judg"
    )
    rows = (project.path / "answers.jsonl").read_text().splitlines()
    project.file("answers.jsonl", "\n".join(row for row in rows if "gothic" in row) + "\n")
    project.run("--rag-answers", "answers.jsonl")
    for analysis in ("preferences", "leaderboard"):
        result = project.command("analyze", analysis)
        assert result.stderr.startswith("rageval: the run has one system (gothic-desk)")


def test_the_leaderboard_by_a_metric_asks_no_model(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    output = project.command("analyze", "leaderboard").stdout
    assert "leaderboard by token_f1 - paired tests, Holm, alpha 0.05\n" in output
    assert "not separable from" in output
    plain = json.loads(project.command("analyze", "leaderboard", "--json").stdout)
    assert [each["system"] for each in plain["systems"]][-1] == "rococo-desk"
    assert sum(each["won"] for each in plain["systems"]) == sum(each["lost"] for each in plain["systems"])
    assert not judge.requests
    result = project.command("analyze", "leaderboard", "--metric", "token_f2")
    assert result.stderr.startswith("rageval: --metric: unknown metric 'token_f2'; did you mean 'token_f1'?")


def test_a_judge_of_pairs_named_as_a_metric_is_refused(project: Project, judge: OpenAIServer) -> None:
    run_project(project, judge.base_url)
    project.file("town.rag.toml", SUITE.replace("token_f1", "longer"))
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.result.ret == 4
    message = "the judge 'longer' compares two answers and is no metric of one; ask it with rageval analyze preferences"
    assert message in " ".join(run.result.errlines + run.result.outlines)
