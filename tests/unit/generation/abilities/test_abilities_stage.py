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
    counterfactuals = project.lines("auto_test.counterfactual.jsonl")
    assert {each["answers"][0] for each in counterfactuals} == {"Oslo", "Bergen", "2011", "2004", "2019"}
    for record in counterfactuals:
        (false_passage,) = [each["text"] for each in record["passages"] if each["role"] == "counterfactual"]
        assert record["fake_answers"][0] in false_passage
        assert record["answers"][0] not in false_passage
        assert record["generated"]["draft"] == record["generated"]["abilities"]["of"]
    assert project.lines("auto_test.integration.jsonl")
    assert any("auto_test.counterfactual.jsonl: 6 cases" in line for line in lines)
    first = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    project.run()
    assert {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()} == first


def test_cases_that_cannot_be_generated_are_counted(project: PlanProject) -> None:
    project.plan(ASK, table=f"[abilities]\nintegration = false\n{SPLIT}" + TABLE)
    status, lines = project.run()
    assert status == 0
    assert "left out: abilities: counterfactual: no_rule_for_answer: 3" in lines
    assert "left out: abilities: negatives: short_pool: 3" in lines
    assert not (project.folder / "out" / "auto_test.integration.jsonl").exists()
    assert [line for line in lines if "integration" in line or "auto_train" in line] == []  # the plan turns both off


def test_sets_share_no_passages(project: PlanProject) -> None:
    rows = "".join(f"Person {n},clerk,Town {n},{1900 + n},\n" for n in range(12))
    project.write("staff.csv", f"name,job,city,since,boss\n{rows}")
    project.plan(ASK, SINCE, table="[abilities]\nnegatives = 8\n[split]\nauto_test = 0.5\nauto_train = 0.5\n" + TABLE)
    assert project.run()[0] == 0
    texts = [
        {
            passage["text"]
            for kind in ("", ".counterfactual", ".integration")
            for record in lines
            for passage in record["passages"]
            if passage["role"] != "counterfactual"
        }
        for name in ("auto_test", "auto_train")
        for lines in [
            [
                *project.lines(f"{name}.jsonl"),
                *project.lines(f"{name}.counterfactual.jsonl"),
                *project.lines(f"{name}.integration.jsonl"),
            ]
        ]
    ]
    assert all(len(each) == 6 for each in texts)
    assert texts[0].isdisjoint(texts[1])


CLOSED_BOOK_REPLIES = """\
[[reply]]
when = "Bo Ek"
text = "Since 2004, in Bergen."
[[reply]]
text = "I do not know."
"""


@pytest.mark.parametrize("drop", ["true", "false"])
def test_a_known_case_is_dropped_and_still_gives_a_counterfactual_case(project: PlanProject, drop: str) -> None:
    project.write("know.toml", CLOSED_BOOK_REPLIES)
    leakage = f'[leakage]\nclosed_book = "script:know.toml"\ndrop_known = {drop}\n'
    project.plan(SINCE, table=f"[abilities]\nnegatives = 1\n{leakage}{SPLIT}" + TABLE)
    assert project.run()[0] == 0
    assert len(project.lines("auto_test.jsonl")) == (2 if drop == "true" else 3)
    counterfactuals = {each["answers"][0]: each["knew"] for each in project.lines("auto_test.counterfactual.jsonl")}
    assert counterfactuals == {"2011": "false", "2004": "true", "2019": "false"}
    first = {path.name: path.read_bytes() for path in (project.folder / "out").glob("*.*")}
    assert project.run("--out", "out", "--finish")[0] == 0
    assert {path.name: path.read_bytes() for path in (project.folder / "out").glob("*.*")} == first


def test_a_plan_names_the_retriever_of_negatives(project: PlanProject) -> None:
    params = 'retriever_params = {retrievers = ["bm25"], rrf_k = 9}'
    project.plan(SINCE, table=f'[abilities]\nnegatives = 1\nretriever = "hybrid"\n{params}\n{SPLIT}' + TABLE)
    assert project.run()[0] == 0
    ranks = [
        place
        for record in project.lines("auto_test.jsonl")
        for place in record["generated"]["abilities"]["negatives"].values()
    ]
    assert ranks
    assert all(place["score"] == round(1 / (9 + place["rank"]), 4) for place in ranks)


def test_a_question_in_a_prompt_or_in_training_data_is_dropped(project: PlanProject) -> None:
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
        ('[abilities]\nretriever = "bm52"\n', "plan.toml:2: retriever: unknown value 'bm52'; did you mean 'bm25'?"),
        (
            "[abilities]\nnegatives = 1\n[abilities.retriever_params]\nk2 = 3\n",
            "plan.toml:1: retriever: retriever_params has the unknown setting 'k2'; known: b, k1",
        ),
        ("[[names]]\n", "plan.toml:1: [[names]] needs one of values, a list of names, and file, one name a line"),
        (
            '[[names]]\nvalues = ["Ann"]\n',
            "plan.toml:2: [names] values: found an array of 1, wanted",
        ),
        ('[[names]]\nfile = "no.txt"\n', "plan.toml:2: file: no.txt: no such file; correct the path [RAG"),
        ('[leakage]\nprompts = ["no/*.toml"]\n', "plan.toml:2: prompts: 'no/*.toml': no such file"),
    ],
)
def test_an_invalid_setting_is_one_sentence(project: PlanProject, text: str, problem: str) -> None:
    project.plan(ASK, table=text + TABLE)
    assert problem in project.refusal()
