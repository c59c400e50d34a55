"""The command line of `rageval generate`: subcommands, dry run, help and `--finish`."""

from __future__ import annotations

import json

import pytest
from support.projects.plan_project import PlanProject

from pytest_rageval.cli import main
from pytest_rageval.commands.generation import with_subcommand
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.errors import DataError

ASK = 'table = "staff"\nask = "Where does {name}, the {job}, work?"\nanswer = "{city}"\n'


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["plan.toml", "--out", "o"], ["plan", "plan.toml", "--out", "o"]),
        (["--dry-run", "plan.toml"], ["plan", "--dry-run", "plan.toml"]),
        (["plan", "plan.toml"], ["plan", "plan.toml"]),
        (["abilities", "jsonl:a"], ["abilities", "jsonl:a"]),
        (["--help"], ["--help"]),
        ([], []),
    ],
)
def test_an_unknown_subcommand_is_read_as_a_plan(arguments: list[str], expected: list[str]) -> None:
    assert with_subcommand(arguments) == expected


def test_a_dry_run_counts_and_writes_nothing(project: PlanProject) -> None:
    project.plan(ASK + "n = 2\n", ASK.replace("Where", "In which city"), head="per_cell = 4\n")
    status, lines = project.run("--dry-run", "--out", "out")
    assert status == 0
    assert lines == [
        "table staff: 3 rows, 1 topics",
        "template plan.toml:7: extractive_qa from staff, 2 wanted",
        "template plan.toml:13: extractive_qa from staff, all rows",
        "wanted: 4 cases of each topic and task",
        "warning: plan.toml:2: 'staff' repeats a key in 1 row; repeated keys get #2 and so on",
        "calls: 0, tokens: 0, cost: 0 USD",
    ]
    assert not (project.folder / "out").exists()


def test_the_help_names_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as system_exit:
        main(["generate", "--help"])
    assert system_exit.value.code == 0
    assert "rageval generate PLAN.toml --out FOLDER" in " ".join(capsys.readouterr().out.split())


def test_finish_rewrites_the_drafts_of_a_folder(project: PlanProject) -> None:
    project.plan(ASK)
    assert project.refusal("--out", "out", "--finish").startswith(
        "rageval: --finish takes the drafts of an earlier call"
    )
    project.run()
    first = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    (project.folder / "out" / "auto_test.jsonl").unlink()
    assert project.run("--out", "out", "--finish")[0] == 0
    again = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    changes = {name for name in first if again[name] != first[name]}
    assert changes <= {"manifest.json", "report.md"}  # both describe the drafting


def test_finish_refuses_a_damaged_or_missing_drafts_file(project: PlanProject) -> None:
    project.plan(ASK)
    project.run()
    drafts, sets = (project.folder / "out" / name for name in ("drafts.jsonl", "auto_test.jsonl"))
    whole = drafts.read_bytes()
    drafts.write_bytes(whole[:100])
    assert project.refusal("--out", "out", "--finish").startswith("rageval: out/drafts.jsonl:1: ")
    drafts.unlink()
    refusal = project.refusal("--out", "out", "--finish")
    assert refusal.startswith("rageval: out/drafts.jsonl: is missing; run rageval generate without --finish first")
    assert sets.exists()
    drafts.write_bytes(whole[:100])
    assert project.run()[0] == 0
    assert drafts.read_bytes() == whole


def test_plans_and_templates_may_name_the_task_integration(project: PlanProject) -> None:
    ask = 'ask = "Where do {name}, the {job}, and {other.name}, the {other.job}, work?"\n'
    project.plan(f'table = "staff"\ntask = "integration"\n{ask}answer = "{{city}}"\n', head='tasks = ["integration"]\n')
    assert project.run()[0] == 0
    assert {each["task"] for each in project.lines("drafts.jsonl")} == {"information_integration"}


def test_the_field_generated_must_be_an_object(project: PlanProject) -> None:
    path = project.write("cases.jsonl", json.dumps({"id": 1, "question": "Q?", "answers": ["a"], "generated": "x"}))
    with pytest.raises(DataError, match=r"cases.jsonl:1: generated: found 'x', wanted an object, as `rageval"):
        load(path)
