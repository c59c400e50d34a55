"""OmniEval's judged metrics end to end: judge requests, rules, unscored cases and a gate."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

from support.projects.rag_project import Project, Row
from support.projects.scripted_projects import JUDGE, NOTED, asked_of, conftest, values

FIVE = ["hallucination", "accuracy_judged", "completeness", "utilization", "numerical_accuracy"]
PASSAGES = [{"id": "d1", "text": "The castle has two towers and a gate.", "role": "positive"}]

TEST = f"""
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics={FIVE}, gates=["hallucination <= 0.1"])
    def test_it(rag):
        ...
"""

RULES = """lambda messages: verdict(
    next(label for text, labels in {
        "> Five towers": "wrong none hallucinated unused",
        "> Nothing of": "not_applicable partly_right not_hallucinated unused",
        "> More than": "right not_hallucinated partly_used",
        "": "right all not_hallucinated fully_used",
    }.items() if text in messages[1]["content"] for label in labels.split() if f'"{label}"' in messages[0]["content"]))
"""
"""A judge with a list of labels for each answer; it replies with the first one that the prompt offers."""

ANSWERS = {
    "good": "A gate and towers.",
    "bad": "Five towers.",
    "objected": "Nothing of the kind.",
    "ruled": "It has 12 metres.",
    "asked": "More than 10 metres, if not 12 metres.",
    "closed": "A gate.",
}

SYSTEM = f"""
    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: {ANSWERS!r}[query.question]
"""


def record(name: str, gold: str, **more: object) -> Row:
    return {"id": name, "question": name, "answers": [gold], "passages": PASSAGES, **more}


def write_project(project: Project, rows: list[Row], test: str = TEST, judge: str = JUDGE) -> None:
    """Make a project with a system that returns `ANSWERS` and a scripted judge."""
    project.data(rows)
    conftest(project, NOTED, SYSTEM, dedent(judge).replace("{RULES}", RULES))
    project.file("test_it.py", test)


ROWS = [
    record("good", "A gate, a moat and towers"),
    record("bad", "A gate, a moat and towers"),
    record("objected", "Gates; and moats"),
    record("ruled", "12 metres"),
    record("asked", "12 metres"),
    record("closed", "A gate", passages=[]),
]


VALUES = {
    "hallucination": [0.0, 1.0, 0.0, 0.0, 0.0, None],
    "accuracy_judged": [1.0, 0.0, 0.5, 1.0, 1.0, 1.0],
    "completeness": [1.0, 0.0, None, None, None, None],
    "utilization": [1.0, 0.0, 0.0, 1.0, 0.5, None],
    "numerical_accuracy": [None, None, None, 1.0, 1.0, None],
}
"""The expected values, in the order of the cases."""


def test_five_judged_metrics_score_cases_and_decide_a_gate(project: Project) -> None:
    write_project(project, ROWS)
    run = project.run()
    assert run.status == 1
    assert {name: list(values(run, name).values()) for name in FIVE} == VALUES
    scores = {name: outcome["scores"] for name, outcome in run.outcomes.items()}
    assert scores["objected"]["completeness"]["reason"] == "judge_says_not_applicable"
    assert scores["objected"]["completeness"]["label"] == "not_applicable"
    assert scores["closed"]["completeness"] == {"value": None, "reason": "not_applicable: one_aspect"}
    assert scores["closed"]["utilization"] == {"value": None, "reason": "not_applicable: no_passages"}
    assert scores["bad"]["numerical_accuracy"] == {"value": None, "reason": "not_applicable: no_number"}
    by_rule = {"value": 1.0, "label": "right", "rationale": "", "replies": [], "by": "rule"}
    assert scores["ruled"]["numerical_accuracy"] == by_rule
    assert "by" not in scores["asked"]["numerical_accuracy"]
    run.said("unscored: 1 judge_says_not_applicable (completeness)")
    gate = run.gates["hallucination <= 0.1"]
    assert (gate["status"], gate["value"], gate["n"]) == ("failed", 0.2, 5)
    assert gate["worst"][0] == {"nodeid": "test_it.py::test_it[bad]", "value": 1.0}
    assert run.result.parseoutcomes()["missed"] == 1


def test_judges_are_asked_only_if_their_metric_applies(project: Project) -> None:
    write_project(project, ROWS)
    project.run()
    criteria = Counter(
        request["messages"][0]["content"].partition("Criterion: ")[2][:40] for request in asked_of(project, "judge")
    )
    assert sorted(criteria.values()) == [1, 3, 5, 5, 6]  # numbers, aspects, passages twice, gold


def test_without_a_judge_the_rule_still_scores_simple_cases(project: Project) -> None:
    write_project(project, ROWS, judge="")
    run = project.run()
    numbers = {name: outcome["scores"]["numerical_accuracy"] for name, outcome in run.outcomes.items()}
    assert numbers["ruled"]["value"] == 1.0
    assert numbers["asked"] == {"value": None, "reason": "judge_unavailable"}
    assert numbers["good"] == {"value": None, "reason": "not_applicable: no_number"}
    run.said("unscored: *1 judge_unavailable (numerical_accuracy)*")


def test_the_worst_cell_of_hallucination_is_the_highest(project: Project) -> None:
    rows = [{**row, "topic": topic} for row, topic in zip(ROWS[:4], ["walls", "towers", "walls", "walls"], strict=True)]
    write_project(project, rows, TEST.replace("hallucination <=", "hallucination[topic=*] <="))
    gate = project.run().gates["hallucination[topic=*] <= 0.1"]
    assert (gate["status"], gate["slice"], gate["value"]) == ("failed", {"topic": "towers"}, 1.0)
