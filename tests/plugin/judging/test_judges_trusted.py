"""Judges must agree with people's labels; the metric of a judge that does not is unscored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, case
from support.projects.scripted_projects import judged, values

from pytest_rageval.cli import main

RATE = "rejection_rate_judged"

TEST = f"""
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["{RATE}", "accuracy"], gates=["{RATE} >= 0.2", "accuracy >= 0"])
    def test_it(rag):
        ...
"""

GRADED = """
    from pytest_rageval import PromptedJudge

    def pytest_rageval_register(registry):
        registry.judges.register("good", PromptedJudge("good", "How good is it?", scale=(0, 4)))
"""

ROWS = [case(f"declines{at}", "say no idea") for at in range(3)] + [
    case(f"answers{at}", "say Paris") for at in range(3)
]


def label(name: str, value: object, **more: Any) -> dict[str, Any]:
    return {"id": name, "label": value, "metric": RATE, **more}


NOTHING_JUDGED = "it has judged no labelled answer of this run"

AGREEING_LABELS = [label(f"declines{at}", 1) for at in range(3)] + [label(f"answers{at}", 0) for at in range(3)]
OPPOSITE_LABELS = [label(f"declines{at}", 0) for at in range(3)] + [label(f"answers{at}", 1) for at in range(3)]


def write_project(project: Project, labels: list[dict[str, Any]], kappa: str = "0.6") -> None:
    judged(project, ROWS, TEST)
    project.data(labels, "labels.jsonl")
    project.file("pytest.ini", f"[pytest]\nrag_judge_labels = labels.jsonl\nrag_judge_min_kappa = {kappa}")


def test_a_judge_that_agrees_with_people_counts(project: Project) -> None:
    write_project(project, AGREEING_LABELS)
    run = project.run("-v")
    assert run.status == 0, run.text
    assert run.gates[f"{RATE} >= 0.2"]["value"] == 0.5
    (trust,) = run.results["trust"]
    assert trust == {
        "judge": RATE, "least": 0.6, "n": 6, "n_unscored": 0, "accuracy": 1.0, "kappa": 1.0, "ci95": [1.0, 1.0],
        "problem": None, "unused": {},
    }  # fmt: skip
    run.said("judges against people", f"{RATE} * 6 * 1.00 * 1.00 * 0.6")


def test_the_scores_of_a_judge_that_disagrees_with_people_are_withheld(project: Project, mode: Mode) -> None:
    write_project(project, OPPOSITE_LABELS)
    run = project.run(*mode)
    assert run.status == 1
    assert set(values(run, RATE).values()) == {None}
    score = run.outcomes["declines0"]["scores"][RATE]
    assert score["reason"] == "judge_untrusted: kappa -1.00 on 6 labelled answers, wanted 0.6"
    assert score["label"] == "rejected"
    gate = run.gates[f"{RATE} >= 0.2"]
    assert (gate["status"], gate["n"], gate["value"]) == ("failed", 0, None)
    assert run.gates["accuracy >= 0"]["status"] == "passed"
    run.said(
        f"warning: {RATE} is not trusted, its scores do not count: kappa -1.00 on 6 labelled answers, wanted 0.6",
        f"unscored: 6 judge_untrusted ({RATE})",
    )


def test_the_threshold_of_a_graded_judge_is_reported(project: Project) -> None:
    test = TEST.replace(f'"{RATE}", ', '"good", ').replace(RATE, "good")
    judged(project, ROWS, test, GRADED, """{"> no idea": '{"label": 1}', "": '{"label": 3}'}""")
    project.data([{**row, "metric": "good", "label": 4 - 4 * row["label"]} for row in AGREEING_LABELS], "labels.jsonl")
    project.file("pytest.ini", "[pytest]\nrag_judge_labels = labels.jsonl\nrag_judge_min_kappa = 0.6")
    run = project.run("-v")
    (trust,) = run.results["trust"]
    assert (trust["kappa"], trust["threshold"], trust["problem"]) == (1.0, 0.5, None)
    run.said("good: a score of at least 0.5 counts as 1, any other as 0")


def test_a_diagnosis_by_an_untrusted_judge_is_withheld(project: Project) -> None:
    write_project(project, OPPOSITE_LABELS)
    project.data([{**row, "passages": [{"id": "p", "text": "In Paris."}]} for row in ROWS])
    test = TEST.replace('"accuracy >= 0"', '"diagnosis:WA <= 1"').replace('"accuracy"]', '"R@5"]')
    project.file("test_it.py", test)
    run = project.run()
    gate = run.gates["diagnosis:WA <= 1"]
    assert (gate["status"], gate["n"]) == ("failed", 0)
    reason = run.outcomes["declines0"]["scores"]["diagnosis:WA"]["reason"]
    assert reason == "judge_untrusted: kappa -1.00 on 6 labelled answers, wanted 0.6"


@pytest.mark.parametrize(
    ("labels", "problem", "unused"),
    [
        ([label("elsewhere", 1)], NOTHING_JUDGED, {"of no case of the run": 1}),
        ([label("declines0", 1, answer="another answer")], NOTHING_JUDGED, {"of an answer that is not the run's": 1}),
        (
            [label("declines0", 1)],
            "its kappa is undefined, because it and people give one value to all 1 labelled answers",
            {},
        ),
    ],
    ids=["other case", "other answer", "one"],
)
def test_a_judge_without_a_kappa_is_not_trusted(
    project: Project, labels: list[dict[str, Any]], problem: str, unused: dict[str, int]
) -> None:
    write_project(project, labels)
    run = project.run("-v")
    assert run.results["trust"][0]["problem"] == problem
    assert run.results["trust"][0]["unused"] == unused
    for why in unused:
        run.said(f"{RATE}: 1 label not used, {why}")
    assert set(values(run, RATE).values()) == {None}


def test_a_judge_without_verdicts_is_not_reported(project: Project) -> None:
    write_project(project, AGREEING_LABELS)
    project.file("test_b.py", TEST.replace(f'"{RATE}", ', "").replace(f'"{RATE} >= 0.2", ', ""))
    run = project.run("-v", "-k", "test_b")
    assert run.status == 0
    assert "trust" not in run.results
    assert "judges against people" not in run.text


@pytest.mark.parametrize("other", ["", "error_detection_rate_judged"])
def test_labels_of_a_judge_that_the_run_does_not_use_are_ignored(project: Project, other: str) -> None:
    write_project(project, [label("declines0", "rejected"), label("answers0", "answered")])
    judge_metric = f'"{other}", ' if other else ""
    project.file("test_b.py", TEST.replace(f'"{RATE}", ', judge_metric).replace(f'"{RATE} >= 0.2", ', ""))
    run = project.run("test_b.py")
    assert run.status == 0, run.text
    assert RATE not in {each["judge"] for each in run.results.get("trust", ())}


def test_a_kappa_may_be_required_of_one_judge(project: Project) -> None:
    write_project(project, OPPOSITE_LABELS, "error_detection_rate_judged: 0.5")
    run = project.run()
    assert "trust" not in run.results
    assert values(run, RATE)["declines0"] == 1.0


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("rag_judge_max_bias = 2", "rag_judge_max_bias is '2'; write a share from 0 to 1, such as 0.5"),
        ("rag_judge_min_kappa = 0.5", "rag_judge_min_kappa has no effect without rag_judge_labels; set both"),
        ("rag_judge_labels = none.jsonl\nrag_judge_min_kappa = 0.5", "there is no such file; correct the path"),
        ("rag_judge_labels = labels.jsonl\nrag_judge_min_kappa = much", "'much'; write a number above 0 and at most 1"),
        ("rag_judge_labels = labels.jsonl\nrag_judge_min_kappa = nan", "'nan'; write a number above 0 and at most 1"),
        ("rag_judge_labels = labels.jsonl\nrag_judge_min_kappa = accuracy: 0.5", "'accuracy', which no judge scores"),
        ("rag_judge_labels = labels.jsonl\nrag_judge_min_kappa = acuracy: 0.5", "unknown metric 'acuracy'"),
        ("rag_judge_labels = labels.jsonl\nrag_judge_min_kappa =\n 0.5\n 0.6", "gives two numbers for every judge"),
    ],
)  # fmt: skip
def test_an_invalid_setting_is_refused(project: Project, ini: str, problem: str) -> None:
    write_project(project, AGREEING_LABELS)
    project.file("pytest.ini", "[pytest]\n" + ini)
    run = project.run()
    assert run.status == 4
    assert problem in run.result.stderr.str()


def test_a_label_out_of_range_is_refused(project: Project) -> None:
    write_project(project, [*AGREEING_LABELS, label("answers0", 7, rater="b")])
    run = project.run()
    assert run.status == 4
    message = "labels.jsonl:7: label: found 7, wanted one of 'rejected', 'answered', or a number in 0..1"
    assert message in run.result.stderr.str()


SHEET = f"""
    id,system,metric,question,history,gold,passages,answer,label,rater,instructions
    a,old,{RATE},How far is it?,,five miles,It is five miles.,no idea,rejected,ann,
    b,old,{RATE},How high is it?,,,,Paris,answered,ann,
    b,old,{RATE},How high is it?,,,,Paris,Answered,bob,
    declines0,old,{RATE},Where is it?,,,,Paris,{{LAST}},ann,
"""

CALIBRATED = (
    TEST
    + f"""
    @rag_case("labelled:labels.csv", metrics=["{RATE}"], gates=["{RATE} >= 0.2"])
    def test_judge(rag):
        ...
"""
)


@pytest.mark.parametrize(("last", "status", "kappa"), [("answered", 0, 1.0), ("rejected", 1, 0.5)])
def test_a_sheet_of_labels_is_also_a_dataset(project: Project, last: str, status: int, kappa: float) -> None:
    judged(project, ROWS, CALIBRATED)
    project.file("labels.csv", SHEET.replace("{LAST}", last))
    project.file("pytest.ini", "[pytest]\nrag_judge_labels = labels.csv\nrag_judge_min_kappa = 0.6")
    run = project.run()
    assert run.status == status, run.text
    (trust,) = run.results["trust"]
    assert (trust["n"], trust["kappa"]) == (3, pytest.approx(kappa, abs=0.2))
    assert run.outcomes["a"]["answer"]["text"] == "no idea"
    assert run.outcomes["a"]["system"] == "old"
    assert run.results["instances"]["a"]["gold"] == [["five miles"]]
    assert (values(run, RATE)["declines1"] is None) is bool(status)


def test_a_sheet_with_two_answers_of_one_system_is_refused(project: Project) -> None:
    judged(project, ROWS, CALIBRATED)
    project.file("labels.csv", SHEET.replace("{LAST}", "answered") + "    b,old,,How high is it?,,,,Rome,answered,,\n")
    run = project.run()
    assert run.status == 4
    message = "labels.csv:6: the system 'old' has another answer to 'b' at labels.csv:3, wanted one"
    assert message in run.result.stderr.str()


STRICT = """
    from pytest_rageval import Metric, PromptedJudge, Score

    polite = PromptedJudge("polite", "Is it polite?", labels={"answered": "a", "rejected": "b"}, values={"answered": 1, "rejected": 0})

    def pytest_rageval_register(registry):
        registry.metrics.register("strict", Metric("strict", lambda sample: Score(0.5), judge=polite))
"""  # noqa: E501 - a line of a user's


@pytest.mark.parametrize("name", ["strict", "polite"])
def test_a_metric_that_reads_a_judge_is_withheld_with_it(project: Project, name: str) -> None:
    test = TEST.replace(f'"{RATE}", "accuracy"', f'"strict", "{RATE}"').replace("accuracy >= 0", "strict >= 0")
    judged(project, ROWS, test, STRICT)
    project.data([{**each, "metric": name} for each in OPPOSITE_LABELS], "labels.jsonl")
    project.file("pytest.ini", f"[pytest]\nrag_judge_labels = labels.jsonl\nrag_judge_min_kappa = {name}: 0.6")
    run = project.run()
    (trust,) = run.results["trust"]
    assert (trust["judge"], trust["problem"]) == ("polite", "it has judged no labelled answer of this run")
    score = run.outcomes["answers0"]["scores"]["strict"]
    assert (score["value"], score["withheld"]) == (None, 0.5)
    assert run.gates["strict >= 0"]["status"] == "failed"
    assert values(run, RATE)["declines0"] == 1.0


def test_withheld_verdicts_are_still_compared_with_people(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project, OPPOSITE_LABELS)
    project.run()
    capsys.readouterr()
    monkeypatch.chdir(project.path)
    assert main(["agreement", "labels.jsonl"]) == 0
    output = capsys.readouterr().out
    assert "6 labels of 6 answers to 6 cases" in output
    assert "-1.00" in output


def test_a_label_of_an_unknown_metric_is_refused(project: Project) -> None:
    write_project(project, [*AGREEING_LABELS, {"id": "answers0", "label": 1, "metric": "rejection_rate_judgd"}])
    run = project.run()
    assert run.status == 4
    assert "labels.jsonl:7: metric: unknown metric 'rejection_rate_judgd'" in run.result.stderr.str()


SYSTEMS = """
    id,system,metric,question,gold,passages,answer,label,rater,facets
    a,one,,How far is it?,five miles,,no idea,rejected,ann,"{""topic"": ""Ways"", ""language"": ""en""}"
    a,two,,How far is it?,five miles,,Five.,answered,ann,"{""topic"": ""Ways"", ""language"": ""en""}"
    b,two,,How high is it?,,,Paris,answered,ann,
    c,one,,How old is it?,,,Paris,,,
"""


def test_each_labelled_answer_is_judged_once_with_its_original_facets(project: Project) -> None:
    judged(project, ROWS, CALIBRATED)
    project.file("labels.csv", SYSTEMS)
    run = project.run("-k", "test_judge", "--rag-rows", "topic")
    facets = {(o["case_id"], o["system"]): o["facets"] for o in run.results["outcomes"]}
    assert set(facets) == {("a", "one"), ("a", "two"), ("b", "two")}
    assert facets["a", "one"]["topic"] == "Ways"
    assert run.results["run"]["interrupted"] is False
    note = "labelled:labels.csv: 1 line is no case: 'c', whose answer has no label yet at labels.csv:5"
    assert f"warning: {note}\n" in run.prose


SHARED_ROWS = [case("a", "say no idea"), case("b", "say Paris")]


def test_a_case_in_the_sheet_and_in_the_suite_counts_once(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(project, SHARED_ROWS, CALIBRATED.replace(', gates=["rejection_rate_judged >= 0.2"]', "", 1))
    project.file("labels.csv", SYSTEMS.replace("Paris,,,", "Paris,answered,ann,"))
    project.file("pytest.ini", "[pytest]\nrag_judge_labels = labels.csv\nrag_judge_min_kappa = 0.6")
    run = project.run("--rag-gate", f"{RATE} >= 0.1")
    (trust,) = run.results["trust"]
    assert (trust["n"], trust["unused"]) == (4, {})
    gate = next(gate for gate in run.results["gates"] if gate["scope"] == "session")
    assert gate["n"] == 2
    assert run.results["matrices"][0]["total"]["n"] == 2
    capsys.readouterr()
    monkeypatch.chdir(project.path)
    assert main(["agreement", "labels.csv", "--metric", RATE]) == 0
    assert "4 labels of 4 answers to 3 cases" in capsys.readouterr().out


def test_a_mean_is_corrected_with_withheld_verdicts_too(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [case(f"c{at}", "say no idea" if at % 2 else "say Paris") for at in range(30)]
    judged(project, many, TEST)
    project.data([label(f"c{at}", int(at % 3 > 0)) for at in range(12)], "labels.jsonl")
    project.file("pytest.ini", "[pytest]\nrag_judge_labels = labels.jsonl\nrag_judge_min_kappa = 0.9")
    project.run()
    capsys.readouterr()
    monkeypatch.chdir(project.path)
    assert main(["agreement", "labels.jsonl", "--json"]) == 0
    (mean,) = json.loads(capsys.readouterr().out)["means"]
    assert (mean["n_labelled"], mean["n_judged"]) == (12, 30)
