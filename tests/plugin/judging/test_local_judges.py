"""``rag_judges = METRIC: local:FOLDER``: a trained judge, and a model below a confidence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from support.projects.model_projects import KEY, loaded, refused, stop  # noqa: F401
from support.projects.rag_project import SAYS, Mode, Project, Run, case
from support.samples.local_judges import judge_folder, made_judge, weights
from support.servers.openai_server import OpenAIServer

import pytest_rageval.engine.local_verdicts  # noqa: F401 - pytester unloads what a run imports
from pytest_rageval.local_judges.head import Head, Scaling, Threshold
from pytest_rageval.local_judges.judge_file import FILE
from pytest_rageval.local_judges.judge_model import TrainedJudge

METRIC = "accuracy_judged"
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy_judged"], gates=["accuracy_judged >= 0.5"])
    def test_it(rag): ...
"""
ROWS = [case("sure", "say Paris"), case("wrong", "say Rome"), case("doubt", "say Yes, Paris"), case("no", "say No")]
"""The confidences of the judge are 0.88, 0.88, 0.62 ("doubt") and 0.97."""

CASCADE = "local:judge, openai/m; escalate=0.8"


def write_project(project: Project, line: str = "local:judge", judge: TrainedJudge | None = None, *ini: str) -> None:
    """Make a project with a local judge."""
    judge_folder(project.path / "judge", judge or made_judge())
    project.file("pytest.ini", "\n".join(["[pytest]", *ini, f"rag_judges = {METRIC}: {line}"]))
    project.says(ROWS, test=TEST, conftest=SAYS)


def scores(run: Run) -> dict[str, Any]:
    return {name: outcome["scores"][METRIC] for name, outcome in run.outcomes.items()}


def model(openai_server: OpenAIServer) -> tuple[str, ...]:
    """Return the settings of a judge model that labels every answer as wrong."""
    openai_server.reply = lambda body: '{"reason": "so", "label": "wrong"}'
    params = {"api_base": openai_server.base_url, "api_key": KEY, "input_cost_per_token": 0.001}
    params["output_cost_per_token"] = 0.001
    return ("rag_judge_params =", *(f"    {name} = {value}" for name, value in params.items()))


def test_a_local_judge_scores_every_case(project: Project, mode: Mode) -> None:
    write_project(project)
    run = project.run(*mode, "-v")
    assert run.status == 0, run.text
    verdicts = scores(run)
    assert {name: score["value"] for name, score in verdicts.items()} == {"sure": 1, "wrong": 0, "doubt": 1, "no": 0}
    assert verdicts["doubt"] == {
        "value": 1, "label": "right", "rationale": "", "replies": [], "by": "local", "confidence": 0.6225,
    }  # fmt: skip
    assert verdicts["no"]["confidence"] == 0.9707
    (use,) = run.results["sections"]["local_judges"]
    assert (use["decided"], use["escalated"], use["unlike"]) == (4, 0, 0)
    digest = json.loads((project.path / "judge" / FILE).read_text())["checksum"]
    assert run.results["run"]["versions"]["local:judge"] == digest
    assert "model calls" not in run.text
    run.said("local judges", "metric*decided*unlike training", "accuracy_judged*4*0%")


def test_a_model_is_asked_only_below_the_confidence(project: Project, openai_server: OpenAIServer) -> None:
    labels = [("sure", "right"), ("wrong", "wrong"), ("doubt", "right"), ("no", "right")]
    project.file("labels.csv", "id,label\n" + "\n".join(f"{name},{label}" for name, label in labels))
    trust = ("rag_judge_labels = labels.csv", "rag_judge_min_kappa = 0.01")
    write_project(project, CASCADE, None, *model(openai_server), *trust)
    planned = project.run("--rag-dry-run")
    planned.said("test_it*accuracy_judged*openai/m*4*~4*", "At most 4 of these calls depend on the answers.")
    assert openai_server.requests == []
    run = project.run("-v", "--rag-record-mode", "once")
    assert len(openai_server.requests) == 1
    assert "Yes, Paris" in json.dumps(openai_server.requests[0].body)
    verdicts = scores(run)
    assert (verdicts["doubt"]["label"], "by" in verdicts["doubt"]) == ("wrong", False)
    assert (verdicts["doubt"]["value"], verdicts["doubt"]["confidence"]) == (0, 0.6225)
    assert verdicts["doubt"]["cost_usd"] == pytest.approx(run.results["usage"]["cost_usd"])
    (use,) = run.results["sections"]["local_judges"]
    assert (use["decided"], use["escalated"], use["escalate"]) == (3, 1, 0.8)
    assert (use["local"], use["model"]) == ({"n": 3, "same": 2}, {"n": 1, "same": 0})
    assert use["cost_usd"] == verdicts["doubt"]["cost_usd"] > 0
    run.said("metric*decided*escalated*below*", f"{METRIC}*3*1*0.8*")
    (recording,) = (project.path / "cassettes/judge-openai--m.jsonl").read_text(encoding="utf-8").splitlines()
    assert "Yes, Paris" in recording  # local verdicts are not recorded
    replayed = project.run("--rag-record-mode", "none")
    assert scores(replayed) == verdicts
    assert len(openai_server.requests) == 1


def test_auto_selects_the_smallest_confidence_with_the_required_accuracy(
    project: Project, openai_server: OpenAIServer
) -> None:
    """The lower end of the interval is 0.838 for 91 of 100, and 0.946 for 99 of 100."""
    write_project(project, CASCADE.replace("0.8", "auto"), None, *model(openai_server))
    run = project.run()
    assert run.results["sections"]["local_judges"][0]["escalate"] == 0.9
    assert len(openai_server.requests) == 3
    write_project(project, CASCADE.replace("0.8", "auto"), None, *model(openai_server), "rag_judge_min_accuracy = 0.8")
    assert project.run().results["sections"]["local_judges"][0]["escalate"] == 0.75


def test_auto_is_refused_if_no_confidence_has_the_required_accuracy(
    project: Project, openai_server: OpenAIServer
) -> None:
    write_project(project, CASCADE.replace("0.8", "auto"), None, *model(openai_server), "rag_judge_min_accuracy = 0.99")
    sentence = refused(project)
    assert "escalate=auto wants an accuracy of 0.99, which no confidence shows (at most 0.95); lower" in sentence
    assert openai_server.requests == []


def test_a_cascade_without_its_model_leaves_cases_below_the_confidence_unscored(project: Project) -> None:
    write_project(project, "local:judge, rag_judge; escalate=0.8")
    run = project.run()
    assert scores(run)["doubt"]["reason"] == "judge_unavailable"
    assert scores(run)["sure"]["value"] == 1


def test_a_local_judge_votes_with_a_model(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, "local:judge, openai/m; majority", None, *model(openai_server))
    run = project.run()
    assert len(openai_server.requests) == 4
    assert scores(run)["wrong"]["value"] == 0
    assert scores(run)["sure"]["reason"] == "judges_disagree: right x 1, wrong x 1"
    assert scores(run)["sure"]["votes"][0] == {
        "model": "local:judge", "repeat": 1, "swapped": False, "label": "right", "rationale": "", "replies": [],
        "by": "local", "confidence": 0.8808,
    }  # fmt: skip


def test_answers_unlike_the_training_data_are_reported(project: Project) -> None:
    sds = tuple(0.1 if weight else 10.0 for weight in weights(length=1.0))
    means = tuple(1.6 if weight else 0.0 for weight in weights(length=1.0))  # ln 5 of "Rome"
    head = Head({"en": Scaling(means, sds)}, (Threshold(0.0, weights(contains=1.0)),))
    write_project(project, judge=made_judge(head=head))
    run = project.run()
    run.said("warning: accuracy_judged: 50% of the answers that its local judge read are unlike its training data (*")
    assert run.results["sections"]["local_judges"][0]["unlike_by_system"] == {"rag_system": 0.5}
    assert scores(run)["doubt"]["unlike"] is True
    assert "unlike" not in scores(run)["wrong"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"metric": "completeness"}, "the judge was trained for completeness; name one of accuracy_judged"),
        ({"metric_digest": "0"}, "the labels of accuracy_judged changed since the judge was trained; train it again"),
        (
            {"head": Head({"zh": Scaling((0.0,) * 13, (1.0,) * 13)}, made_judge().head.thresholds)},
            "the case 'sure' is in en, and the judge was trained on zh; train it on en, too, or name a model",
        ),
    ],
)
def test_a_judge_outside_its_training_is_refused_before_anything_runs(
    project: Project, changes: dict[str, Any], problem: str
) -> None:
    write_project(project, judge=made_judge(**changes))
    assert f"rag_judges: accuracy_judged: local:judge: {problem}" in refused(project)


def test_a_changed_or_missing_judge_is_refused(project: Project, mode: Mode) -> None:
    write_project(project)
    path = project.path / "judge" / FILE
    path.write_text(path.read_text().replace('"penalty": 0.1', '"penalty": 0.3'))
    sentence = refused(project, *mode)
    assert "judge/judge.json was changed after the training: its checksum differs; train it again" in sentence
    path.unlink()
    assert "holds no judge.json; name a folder that rageval judge train wrote" in refused(project, *mode)


def test_a_judge_with_cosines_names_the_missing_model(project: Project) -> None:
    from pytest_rageval.local_judges.judge_file import content_of, feature_versions, judge_text
    from pytest_rageval.local_judges.judge_model import UsedEmbedder

    scaling = Scaling((0.0,) * 16, (1.0,) * 16)
    head = Head({"en": scaling}, (Threshold(0.0, (0.0,) * 16),))
    embedder = UsedEmbedder("sentence-transformers/small", "d")
    judge = made_judge(features=feature_versions(cosines=True), head=head, embedder=embedder)
    write_project(project)
    (project.path / "judge" / FILE).write_text(judge_text(content_of(judge, None)), encoding="utf-8")
    sentence = refused(project)
    assert "the ini names no embedding model; set rag_embedder_model = sentence-transformers/small" in sentence


def test_a_session_with_a_local_judge_imports_no_training_library(project: Project) -> None:
    write_project(project)
    project.file(
        "conftest.py", SAYS + "    import atexit, sys\n    atexit.register(lambda: print(sorted(sys.modules)))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly"]
    process = subprocess.run(
        [*command, "-p", "pytest_rageval.plugin"],
        cwd=project.path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    modules = process.stdout.splitlines()[-1]
    assert "'pytest_rageval.local_judges.local_judge'" in modules
    for name in ("sklearn", "peft", "torch", "transformers", "scipy"):
        assert f"'{name}'" not in modules
