"""The worked example of the specification: a table of three rows, two of them with the same name."""

from __future__ import annotations

from support.projects.plan_project import PlanProject

from pytest_rageval.cli import main

WHERE = 'table = "staff"\nask = "Where does {name} work?"\nanswer = "{city}"'
WITH_JOB = 'table = "staff"\nask = "Where does {name}, the {job}, work?"\nanswer = "{city}"'
BOSS = """\
table = "staff"
via = "staff.boss -> staff.name"
ask = "In which city does the boss of the {job} {name} work?"
answer = "{city}"
"""


def test_a_name_that_two_rows_share_is_ambiguous(project: PlanProject) -> None:
    project.plan(WHERE)
    status, lines = project.run()
    assert status == 0
    assert "3 drafts: 1 kept, 2 dropped (2 ambiguous)" in lines
    assert project.drafts() == [
        ("ambiguous", "Where does Ann Lee work?", [["Bergen"]]),
        ("ambiguous", "Where does Ann Lee work?", [["Oslo"]]),
        ("", "Where does Bo Ek work?", [["Bergen"]]),
    ]
    verdicts = {each["verdicts"].get("ambiguous") for each in project.lines("drafts.jsonl") if each["reason"]}
    assert verdicts == {"Oslo or Bergen"}


def test_one_draft_is_counted_in_the_singular(project: PlanProject) -> None:
    project.write("staff.csv", "name,job,city,since,boss\nBo Ek,director,Bergen,2004,\n")
    project.plan(WHERE)
    assert "1 draft: 1 kept, 0 dropped" in project.run()[1]


def test_an_unambiguous_question_is_kept_for_every_row(project: PlanProject) -> None:
    project.plan(WITH_JOB)
    assert project.run()[0] == 0
    assert project.drafts() == [
        ("", "Where does Ann Lee, the curator, work?", [["Oslo"]]),
        ("", "Where does Ann Lee, the guard, work?", [["Bergen"]]),
        ("", "Where does Bo Ek, the director, work?", [["Bergen"]]),
    ]


def test_a_join_asks_about_the_joined_row(project: PlanProject) -> None:
    project.plan(BOSS)
    status, lines = project.run()
    assert status == 0
    assert "left out: plan.toml:6: without a value of ask or answer: 1" in lines  # Bo Ek has no boss
    curator, guard = sorted(project.lines("drafts.jsonl"), key=lambda each: str(each["question"]))
    assert curator["question"] == "In which city does the boss of the curator Ann Lee work?"
    assert (curator["gold"], curator["task"], curator["state"]) == ([["Bergen"]], "multi_hop_qa", "kept")
    assert [source["id"] for source in curator["sources"]] == ["staff:Ann Lee", "staff:Bo Ek"]
    assert "Bo Ek" not in curator["question"]
    assert (guard["state"], guard["reason"]) == ("dropped", "one_hop")  # the guard works in Bergen, too


def test_a_record_names_its_origin_which_is_no_facet_when_loaded(project: PlanProject) -> None:
    from pytest_rageval.datasets.jsonl import load

    project.plan(WITH_JOB, head="[split]\nauto_test = 1.0\n")
    project.run()
    record = project.lines("auto_test.jsonl")[0]
    assert record["generated"].keys() == {"draft", "by", "sources"}
    assert record["generated"]["draft"] == record["id"]
    instances = load(project.folder / "out" / "auto_test.jsonl")
    facets = {
        "dataset": "auto_test",
        "task": "extractive_qa",
        "topic": "staff",
        "language": "en",
        "generator": "template",
    }
    assert [dict(each.facets) for each in instances] == [facets] * 3


def test_generated_sets_pass_lint(project: PlanProject) -> None:
    project.plan(WITH_JOB, BOSS)
    project.run()
    names = ("auto_test", "auto_train", "human_test")
    files = [f"jsonl:out/{name}.jsonl" for name in names if (project.folder / "out" / f"{name}.jsonl").exists()]
    assert len(files) >= 2
    assert main(["lint", *files, "--corpus", "out/corpus.jsonl", "--strict"]) == 0
    assert "Nothing found" in project.capsys.readouterr().out


def test_the_same_plan_gives_the_same_bytes_and_resumes_in_the_same_folder(project: PlanProject) -> None:
    project.plan(WITH_JOB, BOSS)
    project.run()
    first = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    assert project.run()[0] == 0
    project.run("--out", "again")
    for folder in ("out", "again"):
        assert {path.name: path.read_bytes() for path in (project.folder / folder).iterdir()} == first
    assert first.keys() == {
        "auto_test.jsonl", "auto_train.jsonl", "corpus.jsonl", "drafts.jsonl", "human_test.jsonl", "manifest.json",
        "report.md",
    }  # fmt: skip
