"""Panels of judges per metric, with repeats and swapped order, and their votes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from support.projects.model_projects import KEY, bodies, loaded, recordings, stop  # noqa: F401
from support.projects.rag_project import SAYS, Mode, Project, Run, bare, case
from support.servers.openai_replies import text_of
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.cli import main

RATE = "rejection_rate_judged"
GOOD = "good"

REGISTERS = """
    from pytest_rageval import PromptedJudge

    def pytest_rageval_register(registry):
        registry.judges.register("good", PromptedJudge("good", "How good is the answer?", scale=(0, 4)))
        registry.judges.register("brief", lambda sample: len(sample.answer.text) < 100)
        registry.judges.register("wise", lambda sample, model: 1.0)
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "rejection_rate_judged"{metrics}])
    def test_it(rag): ...
"""

ROWS = [case("no", "say no idea"), case("yes", "say Paris"), case("odd", "say perhaps"), case("mute", "say static")]
CENTS = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Parameters of calls that cost at most ten cents each: a cent per word."""


def write_project(
    project: Project, base_url: str, *lines: str, metrics: str = "", params: Any = None, ini: str = ""
) -> None:
    """Make a project with ``lines`` of ``rag_judges``, whose models are at an address."""
    model_params = {"api_base": base_url, "api_key": KEY, **(params or {})}
    ini_lines = ["[pytest]", ini, "rag_judges =", *(f"    {line}" for line in lines), "rag_judge_params ="]
    project.file(
        "pytest.ini", "\n".join([*ini_lines, *(f"    {name} = {value}" for name, value in model_params.items())])
    )
    project.says(ROWS, test=TEST.replace("{metrics}", metrics), conftest=SAYS + REGISTERS)


def verdict(body: Mapping[str, Any]) -> str:
    """Reply like the model: strict rejects "perhaps", first prefers the label that the prompt lists first."""
    system, user = text_of(body["messages"][0]), text_of(body["messages"][1])
    model = body["model"]
    if "> static" in user and model == "lax":
        return "well, who knows"
    if "scale" in model:
        label: object = 1 if model == "scale-a" else 4
    elif "> perhaps" in user and model == "first":
        label = "rejected" if system.index('"rejected"') < system.index('"answered"') else "answered"
    else:
        rejects = "> no idea" in user or ("> perhaps" in user and model == "strict")
        label = "rejected" if rejects else "answered"
    return json.dumps({"reason": f"{model} finds so", "label": label})


@pytest.fixture
def judges(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.reply = verdict
    return openai_server


def score(run: Run, name: str, metric: str = RATE) -> Any:
    return run.outcomes[name]["scores"][metric]


def labels(run: Run, name: str, metric: str = RATE) -> list[Any]:
    return [(vote["model"], vote["label"]) for vote in score(run, name, metric)["votes"]]


def test_several_judges_vote_and_their_disagreement_is_reported(
    project: Project, judges: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(project, judges.base_url, f"{RATE}: openai/strict, openai/lax", ini="rag_report_texts = true")
    run = project.run("-v")
    assert run.status == 0, run.text
    assert [score(run, name)["value"] for name in ("no", "yes", "odd", "mute")] == [1, 0, None, None]
    assert score(run, "odd")["reason"] == "judges_disagree: answered x 1, rejected x 1"
    assert score(run, "mute")["reason"] == "parse_error: 1 of 2 votes gave no label"
    assert score(run, "no")["votes"] == [
        {
            "model": f"openai/{name}", "repeat": 1, "swapped": False, "label": "rejected",
            "rationale": f"{name} finds so", "replies": [f'{{"reason": "{name} finds so", "label": "rejected"}}'],
        }
        for name in ("strict", "lax")
    ]  # fmt: skip
    assert score(run, "mute")["votes"][1]["problem"] == "parse_error: the reply holds no JSON object"
    (ballot,) = run.results["ballots"]
    nothing = {"share": None, "n": 0}
    assert ballot == {
        "metric": RATE, "models": ["openai/strict", "openai/lax"], "votes": 8, "unread": 1, "answers": 3,
        "split": pytest.approx(1 / 3), "two_judges": {"share": pytest.approx(2 / 3), "n": 3},
        "asked_again": nothing, "swapped": nothing,
    }  # fmt: skip
    section = ["judges - split:*", "metric*judges*votes*no label*split*two judges"]
    row = f"{RATE}*2*8*1*0.33 of 3*0.67 of 3"
    run.said(*section, row, f"unscored: 1 judges_disagree ({RATE}), 1 parse_error ({RATE})")
    assert (
        run.results["usage"]["calls"] == len(judges.requests) == 9
    )  # one reply was unreadable, so its judge was asked again
    output = shown_results(project, capsys)
    assert "judges - split" in output
    assert "0.67 of 3" in output


def shown_results(project: Project, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of ``rageval show --full`` for the last run."""
    capsys.readouterr()
    main(["show", "--full", str(project.path / "results.json")])
    return capsys.readouterr().out


def test_without_texts_votes_are_stored_with_labels_only(
    project: Project, judges: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(project, judges.base_url, f"{RATE}: openai/strict, openai/lax", ini="rag_report_texts = false")
    run = project.run()
    assert score(run, "no")["votes"][0] == {
        "model": "openai/strict", "repeat": 1, "swapped": False, "label": "rejected",
    }  # fmt: skip
    assert score(run, "mute")["votes"][1]["problem"] == "parse_error"
    assert "finds so" not in json.dumps(run.results)
    assert "0.67 of 3" in shown_results(project, capsys)


def test_a_judge_is_asked_again_and_in_the_other_order(project: Project, judges: OpenAIServer) -> None:
    write_project(project, judges.base_url, f"{RATE}: openai/first; repeat=2; swapped")
    run = project.run()
    assert run.status == 0, run.text
    votes = [(vote["repeat"], vote["swapped"], vote["label"]) for vote in score(run, "odd")["votes"]]
    assert votes == [(1, False, "rejected"), (2, False, "rejected"), (1, True, "answered")]
    assert score(run, "odd")["value"] == 1
    (ballot,) = run.results["ballots"]
    assert (ballot["asked_again"], ballot["swapped"]) == ({"share": 1, "n": 4}, {"share": 0.75, "n": 4})
    assert (ballot["votes"], ballot["split"], ballot["two_judges"]["n"]) == (12, 0.25, 0)
    user = [text_of(body["messages"][1]) for body in bodies(judges) if "> perhaps" in text_of(body["messages"][1])]
    assert sorted(text.index("> perhaps") < text.index("> say perhaps") for text in user) == [False, False, True]


def test_a_metric_may_have_a_separate_judge(project: Project, judges: OpenAIServer) -> None:
    lines = (f"{RATE}: openai/strict", "good: openai/scale-a, openai/scale-b")
    write_project(project, judges.base_url, *lines, metrics=', "good", "wise"', ini="rag_judge_model = openai/lax")
    run = project.run()
    assert run.status == 0, run.text
    assert (score(run, "odd")["value"], score(run, "odd")["label"]) == (1, "rejected")
    assert "votes" not in score(run, "odd")
    assert labels(run, "odd", GOOD) == [("openai/scale-a", 1), ("openai/scale-b", 4)]
    assert (score(run, "odd", GOOD)["label"], score(run, "odd", GOOD)["value"]) == (2.5, 0.625)
    assert score(run, "odd", "wise")["value"] == 1
    assert Counter(body["model"] for body in bodies(judges)) == {"strict": 4, "scale-a": 4, "scale-b": 4}
    assert [ballot["metric"] for ballot in run.results["ballots"]] == [GOOD]


OWN_JUDGE = """
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="session")
    def rag_judge():
        return ScriptedLLM('{"reason": "ours", "label": "rejected"}')
"""


def test_a_panel_may_contain_the_fixture(project: Project, judges: OpenAIServer) -> None:
    write_project(project, judges.base_url, f"{RATE}: rag_judge, openai/strict")
    project.file("conftest.py", SAYS + REGISTERS + OWN_JUDGE)
    run = project.run()
    assert run.status == 0, run.text
    assert labels(run, "no") == [("rag_judge", "rejected"), ("openai/strict", "rejected")]
    assert score(run, "yes")["reason"].startswith("judges_disagree")
    project.file("conftest.py", SAYS + REGISTERS)
    run = project.run()
    assert score(run, "no")["votes"][0]["problem"] == "judge_unavailable"
    assert score(run, "no")["reason"] == "judge_unavailable: 1 of 2 votes gave no label"


def test_each_vote_is_replayed_from_its_own_recording(project: Project, judges: OpenAIServer, mode: Mode) -> None:
    line = f"{RATE}: openai/strict, openai/first; repeat=2; swapped"
    write_project(project, judges.base_url, line, ini="rag_record_mode = new_episodes")
    first = project.run("--rag-repeat", "2")
    assert first.status == 0, first.text
    assert len(judges.requests) == 4 * 2 * 2 * 3
    for name in ("strict", "first"):
        lines = recordings(project, f"cassettes/judge-openai--{name}.jsonl")
        assert Counter(line["repeat"] for line in lines) == {1: 8, 2: 4, 3: 8, 4: 4}
    stop(judges)
    again = project.run("--rag-repeat", "2", "--rag-record-mode", "none", *mode)
    assert again.status == 0, again.text
    assert again.results["ballots"] == first.results["ballots"]
    assert [o["scores"] for o in bare(again.results)["outcomes"]] == [
        o["scores"] for o in bare(first.results)["outcomes"]
    ]
    assert again.results["usage"]["replayed"] == 4 * 2 * 2 * 3


def test_a_budget_covers_every_vote(project: Project, judges: OpenAIServer) -> None:
    judges.reply = lambda body: f"{verdict(body)} so so so so"  # ten words, ten cents
    write_project(project, judges.base_url, f"{RATE}: openai/strict, openai/first; repeat=2", params=CENTS)
    run = project.run("--rag-budget-usd", "0.45", "--rag-budget-partial", "--rag-concurrency", "1")
    assert run.statuses == {"no": "scored", "yes": "skipped", "odd": "skipped", "mute": "skipped"}
    assert len(judges.requests) == 4
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.4)


def test_a_dry_run_counts_every_vote(project: Project, judges: OpenAIServer) -> None:
    line = f"{RATE}: openai/strict, openai/first; repeat=3; swapped"
    write_project(project, judges.base_url, line, "wise: openai/strict", metrics=', "wise"', params=CENTS)
    run = project.run("--rag-dry-run")
    assert (run.status, judges.requests) == (0, [])
    run.said(
        f"test_it*rag_system*{RATE}*openai/strict*4*16*0*~*160*~1.6000",
        f"test_it*rag_system*{RATE}*openai/first*4*16*0*~*160*~1.6000",
        "test_it*rag_system*wise*openai/strict*4*?*",
    )


def test_a_failed_vote_makes_the_case_an_error_and_stops_its_votes(project: Project, judges: OpenAIServer) -> None:
    judges.plan = lambda number, body: Fault("status", 400) if body["model"] == "strict" else None
    write_project(project, judges.base_url, f"{RATE}: openai/strict, openai/lax")
    run = project.run()
    assert set(run.statuses.values()) == {"error"}
    assert run.outcomes["no"]["error_type"] == "bad_request"
    assert run.outcomes["no"]["answer"]["text"] == "no idea"
    assert {body["model"] for body in bodies(judges)} == {"strict"}
    assert "ballots" not in run.results


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["rejection: openai/m"], "rag_judges: unknown metric 'rejection'*"),
        (["accuracy: openai/m"], "rag_judges: accuracy asks no model for a verdict; take its line out"),
        (["brief: openai/m"], "rag_judges: brief asks no model for a verdict; take its line out"),
        (["wise: openai/m; swapped"], "rag_judges: the judge of wise cannot be asked in another order*"),
        ([f"{RATE}: a, b; mean"], f"rag_judges: {RATE} is 0 or 1, and a mean is neither; write 'majority'"),
        (["good openai/m"], "rag_judges has the line 'good openai/m'; write 'metric: model, model; option'*"),
        (["good: a, ; mean"], "rag_judges has the line 'good: a, ; mean'; write *"),
        (["good: a; often"], "rag_judges: good has the option 'often'; write majority, mean, repeat=N, swapped *"),
        (["good: a; repeat=0"], "rag_judges: good has the option 'repeat=0'; write *"),
        (["good: a, b; mean; majority"], "rag_judges: good has 'mean' and 'majority'; give one"),
        (["good: a, a"], "rag_judges: good names 'a' twice; repeat=2 asks it twice"),
        (["good: a", "good: b"], "rag_judges has two lines for 'good'; write one"),
        (
            ["error_correction_rate_judged: a", "error_detection_rate_judged: b"],
            "rag_judges has two lines for the judge of 'error_detection_rate_judged'; write one*",
        ),
    ],
)
def test_an_invalid_line_is_refused_with_one_sentence(project: Project, lines: list[str], sentence: str) -> None:
    write_project(project, "http://127.0.0.1:9/v1", *lines)
    run = project.run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (message,) = [line for line in run.result.stderr.str().splitlines() if line.strip()]
    run.result.stderr.fnmatch_lines([f"ERROR: {sentence} [[]RAG*"])
    assert "Traceback" not in message
