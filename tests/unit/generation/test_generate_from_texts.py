"""End-to-end generation from documents: `rageval generate` with a corpus, and `rageval generate topics`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.plan_project import PlanProject

from pytest_rageval.cli import main
from pytest_rageval.generation.topics.topics_file import read_topics

FERRIES = """\
# Ferries

## Heron Line

The Heron Line crosses from Salt Pier to Glass Island. A Heron Line ferry may carry 180 passengers.

## Fares

A day pass costs 9 crowns. A week pass costs 36 crowns.
"""
TRAMS = """\
# 电车

## 果园线

果园线1931年通车，一直开到梨山。车身漆成绿色。
"""
CORPUS = '[[corpus]]\npath = "docs/*.md"\nchunking = "sections"\n'


@pytest.fixture(name="texts")
def project_with_texts(project: PlanProject) -> PlanProject:
    (project.folder / "docs").mkdir()
    project.write("docs/ferries.md", FERRIES)
    project.write("docs/trams.md", TRAMS)
    project.write("plan.toml", CORPUS)
    return project


def test_documents_become_cases_without_a_model(texts: PlanProject) -> None:
    status, lines = texts.run()
    assert status == 0
    assert "7 drafts: 7 kept, 0 dropped" in lines
    assert [(question, gold[0][0]) for _, question, gold in texts.drafts()] == [
        ('Fill in the blank: "A Heron Line ferry may carry ___ passengers."', "180"),
        ("How much does a day pass cost?", "9 crowns"),
        ("How much does a week pass cost?", "36 crowns"),
        ('Two numbers are missing in "A day pass costs ___ crowns." and in "A week pass costs ___ crowns." '
         "What is the difference between them, in crowns?", "27 crowns"),
        ('What is said about "Heron Line" in "Ferries"?',
         "The Heron Line crosses from Salt Pier to Glass Island. A Heron Line ferry may carry 180 passengers."),
        ("《电车》中关于“果园线”说了什么？", "果园线1931年通车，一直开到梨山。车身漆成绿色。"),
        ("果园线是什么时候通车的？", "1931"),
    ]  # fmt: skip
    records = texts.lines("auto_test.jsonl") + (
        texts.lines("auto_train.jsonl") if (texts.folder / "out" / "auto_train.jsonl").exists() else []
    )
    assert {record["generator"] for record in records} == {"text-rule"}
    assert {record["topic"] for record in records} == {"Ferries", "电车"}
    chunks = {line["id"]: line for line in texts.lines("corpus.jsonl")}
    for record in records:
        for source in record["generated"]["sources"]:
            assert source["id"] in chunks
            assert chunks[source["id"]]["page"] in record["provenance"][0]


def test_the_same_documents_give_the_same_bytes_and_lint_finds_nothing(texts: PlanProject) -> None:
    texts.run("--out", "out")
    texts.run("--out", "again")
    for path in (texts.folder / "out").iterdir():
        assert path.read_bytes() == (texts.folder / "again" / path.name).read_bytes(), path.name
    assert main(["lint", "jsonl:out/auto_test.jsonl", "--corpus", "out/corpus.jsonl"]) == 0


def test_the_tasks_of_the_plan_select_the_rules(texts: PlanProject) -> None:
    texts.write("plan.toml", 'tasks = ["long_form_qa"]\n' + CORPUS)
    texts.run()
    assert {line["task"] for line in texts.lines("drafts.jsonl")} == {"long_form_qa"}


def test_topics_are_written_edited_and_used(texts: PlanProject, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "topics", "plan.toml", "--out", "topics.toml"]) == 0
    assert capsys.readouterr().out == "topics.toml: 2 topics of 2 documents (2 by first heading)\n"
    assert [topic.path for topic in read_topics(Path("topics.toml"))] == ["Ferries", "电车"]
    topics = '[[topic]]\nname = "Boats"\nkeywords = ["heron", "pier", "salt"]\n[[topic]]\nname = "Rails"\n'
    texts.write("topics.toml", topics + 'documents = ["docs/gone.md"]\n')
    texts.write("plan.toml", CORPUS + '[topics]\nfile = "topics.toml"\n')
    status, lines = texts.run()
    assert status == 0
    assert "warning: topics.toml: 1 document is not in the corpus: docs/gone.md" in lines
    assert "left out: chunks without a topic: 2" in lines
    assert {line["topic"] for line in texts.lines("drafts.jsonl")} == {"Boats"}
    report = (texts.folder / "out" / "report.md").read_text(encoding="utf-8")
    assert "## Chunks without a topic" in report
    assert "- docs/trams.md" in report


def test_a_dry_run_counts_chunks_of_each_topic(texts: PlanProject) -> None:
    status, lines = texts.run("--dry-run")
    assert status == 0
    assert lines[:3] == ["corpus: 2 documents, 3 passages", "topic Ferries: 2 chunks", "topic 电车: 1 chunk"]
    assert not (texts.folder / "out").exists()


def test_an_edited_file_of_topics_is_not_replaced(texts: PlanProject, capsys: pytest.CaptureFixture[str]) -> None:
    texts.write("topics.toml", "mine")
    assert main(["generate", "topics", "plan.toml", "--out", "topics.toml"]) == 2
    assert "exists, and may hold edits; name another file, or write --force" in capsys.readouterr().err
    assert (texts.folder / "topics.toml").read_text(encoding="utf-8") == "mine"
    assert main(["generate", "topics", "plan.toml", "--out", "topics.toml", "--force", "--depth", "1"]) == 0


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ('[topics]\nfile = "x.toml"\n', "plan.toml:5: file: no file 'x.toml'; write it with rageval generate topics"),
        ('[topics]\nfiel = "x.toml"\n', "plan.toml:5: unknown key 'fiel' in [topics]; did you mean 'file'?"),
        ("[topics]\nmin_documents = 0\n", "plan.toml:5: [topics] min_documents: found 0, wanted a whole number of 1"),
    ],
)
def test_invalid_topics_are_refused_with_the_line_of_the_plan(texts: PlanProject, plan: str, problem: str) -> None:
    texts.write("plan.toml", CORPUS + plan)
    assert problem in texts.refusal()


def test_topics_of_a_plan_without_documents_are_refused(
    project: PlanProject, capsys: pytest.CaptureFixture[str]
) -> None:
    project.plan()
    assert main(["generate", "topics", "plan.toml", "--out", "topics.toml"]) == 2
    assert "has no [[corpus]]; topics are made of its documents" in capsys.readouterr().err
    assert main(["generate", "topics", "plan.toml", "--out", "topics.toml", "--depth", "0"]) == 2


def test_table_keys_are_names_that_questions_may_ask_for(project: PlanProject) -> None:
    (project.folder / "docs").mkdir()
    project.write("docs/house.md", "# Houses\n\nSalt Pier was built by Bo Ek.\n")
    project.plan('ask = "Where does {name} work?"\ntable = "staff"\nanswer = "{city}"', head=CORPUS)
    project.run()
    rules = [line for line in project.lines("drafts.jsonl") if line["generator"] == "text-rule"]
    assert [(line["question"], line["gold"]) for line in rules] == [("Who built Salt Pier?", [["Bo Ek"]])]


def test_a_plan_may_ask_for_questions_of_two_parts(texts: PlanProject) -> None:
    texts.write("docs/piers.md", "# Piers\n\nSalt Pier was built in 1702.\n")
    texts.write("topics.toml", '[[topic]]\nname = "Town"\ndocuments = ["docs/ferries.md", "docs/piers.md"]\n')
    texts.write("plan.toml", f'tasks = ["information_integration"]\n{CORPUS}[topics]\nfile = "topics.toml"\n')
    texts.run()
    (draft,) = texts.lines("drafts.jsonl")
    assert (draft["task"], draft["reason"], len(draft["gold"])) == ("information_integration", "", 2)
    assert [source["group"] for source in draft["sources"]] == [0, 1]


def test_questions_may_ask_for_names_of_the_plan(texts: PlanProject) -> None:
    texts.write("docs/house.md", "# Houses\n\nHeron House is in Bergen.\n")
    texts.write("plan.toml", CORPUS + '[[names]]\nvalues = ["Oslo", "Bergen"]\n')
    texts.run()
    assert ("", "Where is Heron House?", [["Bergen"]]) in texts.drafts()


def test_files_of_the_output_folder_are_not_read_as_documents(texts: PlanProject) -> None:
    texts.write("plan.toml", CORPUS.replace("docs/*.md", "**/*.md"))
    assert texts.run()[0] == 0
    first = {path.name: path.read_bytes() for path in (texts.folder / "out").iterdir()}
    assert texts.run()[0] == 0
    assert {path.name: path.read_bytes() for path in (texts.folder / "out").iterdir()} == first
    assert {each["id"].partition("#")[0] for each in texts.lines("corpus.jsonl")} == {
        "docs/ferries.md",
        "docs/trams.md",
    }
