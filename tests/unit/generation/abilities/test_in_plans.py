"""The tables [abilities], [[names]] and [leakage] of a plan."""

from __future__ import annotations

import pytest
from support.projects.plan_project import TABLE, PlanProject

ASK = 'table = "staff"\nask = "Where does {name}, the {job}, work?"\nanswer = "{city}"'
SINCE = 'table = "staff"\nask = "Since when does {name}, the {job}, work?"\nanswer = "{since}"'
CITIES = '[[names]]\nvalues = ["Oslo", "Bergen", "Turku"]\n'
SPLIT = "[split]\nauto_test = 1.0\nauto_train = 0.0\n"


def test_sets_get_negatives_and_files_of_the_other_abilities(project: PlanProject) -> None:
    project.plan(ASK, SINCE, table=f"[abilities]\nnegatives = 1\n{CITIES}{SPLIT}" + TABLE)
    status, lines = project.run()
    assert status == 0
    pools = project.lines("auto_test.jsonl")
    assert len(pools) == 6
    roles = [[each["role"] for each in record["passages"]] for record in pools]
    assert ["positive", "negative"] in roles
    lies = project.lines("auto_test.counterfactual.jsonl")
    assert {each["answers"][0] for each in lies} == {"Oslo", "Bergen", "2011", "2004", "2019"}
    for record in lies:
        (twin,) = [each["text"] for each in record["passages"] if each["role"] == "counterfactual"]
        assert record["fake_answers"][0] in twin
        assert record["answers"][0] not in twin
        assert record["generated"]["draft"] == record["generated"]["abilities"]["of"]
    assert project.lines("auto_test.integration.jsonl")
    assert any("auto_test.counterfactual.jsonl: 6 cases" in line for line in lines)
    first = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    project.run()
    assert {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()} == first


def test_what_cannot_be_made_is_counted(project: PlanProject) -> None:
    project.plan(ASK, table=f"[abilities]\nintegration = false\n{SPLIT}" + TABLE)
    status, lines = project.run()
    assert status == 0
    assert "left out: abilities: counterfactual: no_rule_for_answer: 3" in lines
    assert "left out: abilities: negatives: short_pool: 3" in lines
    assert not (project.folder / "out" / "auto_test.integration.jsonl").exists()
    assert [line for line in lines if "integration" in line or "auto_train" in line] == []  # neither is wanted


def test_a_question_of_a_prompt_is_dropped(project: PlanProject) -> None:
    project.write("answer.txt", "Example: Where does Bo Ek, the director, work? In Bergen.")
    project.write("train.jsonl", '{"q": "Where does Ann Lee, the guard, work?"}\n')
    leakage = '[leakage]\nprompts = ["*.txt"]\nagainst = "train.jsonl"\n'
    project.plan(ASK, table=leakage + TABLE)
    assert project.run()[0] == 0
    assert sorted(reason for reason, _, _ in project.drafts()) == ["", "prompt_leak", "train_overlap"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[abilities]\nnegative = 3\n", "plan.toml:2: unknown key 'negative' in [abilities]; "),
        ("[abilities]\nnegatives = -1\n", "plan.toml:2: [abilities] negatives: found -1, wanted a whole number"),
        ("[[names]]\n", "plan.toml:1: [[names]] needs one of values, a list of names, and file, one name a line"),
        (
            '[[names]]\nvalues = ["Ann"]\n',
            "plan.toml:2: [names] values: found an array of 1, wanted",
        ),
        ('[[names]]\nfile = "no.txt"\n', "plan.toml:2: file: "),
        ('[leakage]\nprompts = ["no/*.toml"]\n', "plan.toml:2: prompts: 'no/*.toml': no such file"),
    ],
)
def test_settings_that_cannot_be_used(project: PlanProject, text: str, problem: str) -> None:
    project.plan(ASK, table=text + TABLE)
    assert problem in project.refusal()
