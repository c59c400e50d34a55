"""The matrix of two-level topics and tasks in summary, results.json and ``rageval show``."""

from __future__ import annotations

import re

import pytest
from support.projects.rag_project import RAISES, RIGHT, WRONG, Project, case

from pytest_rageval.cli import main

QUESTIONS = {
    ("Banking", "Cards", "qa"): [RIGHT] * 5,
    ("Banking", "Fees", "qa"): [RIGHT, WRONG],
    ("Banking", "Fees", "chat"): [WRONG] * 5,
    ("Insurance", "Fees", "qa"): [RIGHT] * 3 + [WRONG] * 3,
    ("Insurance", "Fees", "chat"): [RAISES],
}


def test_topics_are_grouped_under_their_parents_with_micro_and_macro_margins(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    project.says([
        case(f"q{number}-{at}", question, topic_1=above, topic=topic, task=task)
        for number, ((above, topic, task), questions) in enumerate(QUESTIONS.items())
        for at, question in enumerate(questions)
    ])  # fmt: skip
    run = project.run("-v")
    expected = """\
accuracy by topic x task
  mean (n); * < 5 cases; +k unscored; 2 of 6 cells missing

topic \\ task         chat         qa        micro    macro
--------------  ---------  ---------  -----------  -------
Banking          0.00 (5)   0.86 (7)    0.50 (12)     0.43
  Cards                 –   1.00 (5)     1.00 (5)        –
  Fees           0.00 (5)  0.50 (2)*     0.14 (7)     0.25
Insurance        ? (0+1)*   0.50 (6)   0.50 (6+1)        –
  Fees           ? (0+1)*   0.50 (6)   0.50 (6+1)        –
micro          0.00 (5+1)  0.69 (13)  0.50 (18+1)     0.35
macro                   –       0.67         0.55        –
"""
    lines = [line.split() for line in expected.splitlines() if not line.startswith("---")]
    printed = [line.split() for line in run.text.splitlines() if not line.startswith("---")]
    at = printed.index(lines[0])
    assert printed[at : at + len(lines)] == lines
    assert {"  Cards", "  Fees "} <= {line[:7] for line in run.text.splitlines()}
    matrix = run.results["matrix"]
    assert matrix["rows"] == ["Cards", "Fees", "Fees"]
    groups = matrix["row_groups"]
    assert groups["facet"] == "topic_1"
    assert [(each["name"], each["n_rows"], each["margin"]["mean"]) for each in groups["groups"]] == [
        ("Banking", 2, 0.5), ("Insurance", 1, 0.5),
    ]  # fmt: skip
    assert groups["groups"][0]["cells"][1]["n"] == 7
    assert matrix["row_macro"] == [None, 0.25, None]
    assert (matrix["col_macro"][0], matrix["total_macro"]) == (None, None)
    assert matrix["col_macro"][1] == pytest.approx(2 / 3)
    capsys.readouterr()
    assert main(["show", "--full"]) == 0
    output = _without_seconds(capsys.readouterr().out)
    assert set(output[1:]) <= set(_without_seconds(run.text))
    assert lines[-1] in [line.split() for line in output]


def _without_seconds(text: str) -> list[str]:
    return [re.sub(r"\d+\.\d s,", "", line) for line in text.splitlines()]


def test_the_parent_topics_can_be_the_rows(project: Project) -> None:
    project.says([case("a", topic_1="Banking", topic="Fees"), case("b", topic_1="Banking", topic="Cards")])
    matrix = project.run("--rag-rows", "topic_1", "--rag-cols", "topic").results["matrix"]
    assert (matrix["rows"], matrix["cols"], "row_groups" in matrix) == (["Banking"], ["Cards", "Fees"], False)
