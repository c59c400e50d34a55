"""Invalid plans: one message with file and line, exit status 2, nothing written."""

from __future__ import annotations

import pytest
from support.projects.plan_project import PlanProject

ASK = 'table = "staff"\nask = "Where does {name} work?"\nanswer = "{city}"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 1\n", "plan.toml:1: unknown key 'seeds'; did you mean 'seed'?"),
        ("per_cell = 0\n", "plan.toml:1: per_cell: found 0, wanted a whole number of 1 or more"),
        ('seed = "x"\n', "plan.toml:1: seed: found 'x', wanted a whole number of 0 or more"),
        ('language = "de"\n', "plan.toml:1: language: unknown value 'de'; known: auto, en, zh"),
        ('tasks = ["extractive"]\n', "plan.toml:1: tasks: unknown task 'extractive'; did you mean 'extractive_qa'?"),
        ("table = 3\n", "plan.toml:1: table: found 3, wanted tables with the header [[table]]"),
        ("[[split]]\nauto_test = 1\n", "plan.toml:1: split: found an array of 1, wanted one table with the header"),
        ("[split]\nauto_test = 0.8\nauto_train = 0.4\n", "plan.toml:3: the shares of [split] sum to 1.2; 1 is"),
        ("[split]\nauto_test = 1.5\n", "plan.toml:2: [split] auto_test: found 1.5, wanted a number in 0..1"),
        ("[[table]]\nname = 'a'\n", "plan.toml:1: [table] path is missing, wanted a string that is not empty"),
        ("[[table]]\n\npath = 'none.csv'\n", "plan.toml:3: path: no file 'none.csv'; a path is relative to the plan"),
        ("[[table]]\npath = 'sqlite:x.db'\n", "plan.toml:2: path: write sqlite:FILE:SELECT ..., with a file"),
        (
            "[[table]]\npath = 'staff.csv'\nkey = 'nam'\n",
            "plan.toml:3: key: 'nam' is not a column of 'staff'; did you mean 'name'?",
        ),
        (
            "[[table]]\npath = 'staff.csv'\npassage = '{nmae} works.'\n",
            "plan.toml:3: passage: {nmae} is not a column of 'staff'; did you mean 'name'?",
        ),
        (
            "[[table]]\npath = 'thin.csv'\npassage = '{name} {city}'\n",
            "plan.toml:3: passage: {city}: this column of 'thin' is empty; leave it out",
        ),
        (
            "[[table]]\npath = 'thin.csv'\n[[template]]\ntable = 'thin'\nask = '{name}?'\nanswer = '{city}'",
            "plan.toml:6: answer: {city}: this column of 'thin' is empty; fill it",
        ),
        ("[[table]]\npath = 'staff.csv'\n" * 2, "plan.toml:3: two tables are named 'staff'; rename one"),
        ("a = \n", "plan.toml:1: this is not valid TOML: Invalid value (at line 1, column 5)"),
        ("seed = 1\n", "plan.toml: there is nothing to generate from; add a [[table]] with a [[template]]"),
    ],
)  # fmt: skip
def test_an_invalid_plan_is_refused_with_its_line(project: PlanProject, text: str, message: str) -> None:
    project.write("plan.toml", text)
    project.write("thin.csv", "name,city\nAnn,\nBo, \n")
    refusal = project.refusal()
    assert refusal.startswith(f"rageval: {message}"), refusal
    assert not list((project.folder / "out").glob("*"))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (ASK.replace("staff", "stuff"), "plan.toml:7: table: no [[table]] is named 'stuff'; did you mean 'staff'?"),
        (ASK.replace("{name}", "{nmae}"), "plan.toml:8: ask: {nmae} is not a column of 'staff'; did you mean 'name'?"),
        (ASK.replace("{city}", "{town}"), "plan.toml:9: answer: {town} is not a column of 'staff'; known: boss, city"),
        (ASK.replace("{city}", ""), "plan.toml:9: [template] answer: found '', wanted a text such as {city}"),
        (ASK.replace("{name}", "she"), "plan.toml:8: ask: 'Where does she work?' has no placeholder of its row"),
        (ASK.replace("{name}", "{other.name}"), "plan.toml:8: ask: 'Where does {other.name} work?' has no placeholder"),
        (ASK.replace("{name}", "{name} or {other.name}"), "plan.toml:8: ask: the task extractive_qa has one row"),
        (ASK.replace("{city}", "city"), "plan.toml:9: answer: 'city' is a column of 'staff'; write {city}"),
        (ASK + 'taks = "x"', "plan.toml:10: unknown key 'taks' in [template]; did you mean 'task'?"),
        (ASK + 'task = "extractive"', "plan.toml:10: task: unknown value 'extractive'; did you mean 'extractive_qa'?"),
        (ASK + 'level = "high"', "plan.toml:10: level: unknown value 'high'; known: knowledge_application"),
        (ASK + 'where = "since >"', "plan.toml:10: where: 'since >' cannot be read; write comparisons such as"),
        (ASK + 'where = "len(city) > 3"', "plan.toml:10: where: 'len(city) > 3' cannot be read (found a side of a"),
        (ASK + "where = \"__import__('os').system('touch x')\"", "plan.toml:10: where: \"__import__('os')"),
        (ASK + f'where = "{"not " * 600}since > 3"', "plan.toml:10: where: 'not not"),
        (ASK + 'where = "sinse > 3"', "plan.toml:10: where: 'sinse' is not a column of 'staff'; did you mean 'since'?"),
        (ASK + 'where = "since > 3000"', "plan.toml:8: no row of 'staff' fits the template (3 rows: 3 excluded"),
        (ASK + "where = \"city > 'Oslo'\"", "staff.csv:2: where = \"city > 'Oslo'\": 'Oslo' and 'Oslo' have no order"),
        (ASK + 'via = "staff.boss"', 'plan.toml:10: via: \'staff.boss\' is not a join; write "staff.boss -> staff'),
        (ASK + 'via = "staff.bos -> staff.name"', "plan.toml:10: via: 'bos' is not a column of 'staff'; did you mean"),
        (ASK + 'via = "staff.boss -> people.name"', "plan.toml:10: via: no [[table]] is named 'people'; known: staff"),
        (ASK + 'via = "x.boss -> staff.name"', "plan.toml:10: via: 'x.boss -> staff.name' starts at 'x', wanted"),
        (ASK + 'unique = "job"', "plan.toml:10: unique: no wording of ask has {job}; remove it from unique"),
        (ASK + "n = 0", "plan.toml:10: [template] n: found 0, wanted a whole number of 1 or more"),
        (ASK + 'balance = { field = "job" }', "plan.toml:10: [template] balance: found an object, wanted a table"),
        (ASK + 'balance = { field = "jb", x = 1 }', "plan.toml:10: balance: 'jb' is not a column of 'staff'; did you"),
        (ASK + 'n = 2\nbalance = { field = "job", x = 1 }', "plan.toml:10: n is 2, but balance wants 1 cases; leave"),
        (ASK + 'task = "contrast_qa"', "plan.toml:10: pick is missing; the task contrast_qa needs it"),
        (ASK + 'pick = "least(since)"', "plan.toml:10: [template] pick: found 'least(since)', wanted min(COLUMN) or"),
        (ASK + 'follow_up = "Since when?"', "plan.toml:9: answer has 1 texts for 2 turns; write one for each, in a"),
        (ASK.replace("{city}", "{city|best}"), "plan.toml:9: answer: {city|best} cannot be read; write {column}"),
        (ASK.replace("{city}", "{city|max(x)}"), "staff.csv:2: {city|max(x)}: found 'Oslo', wanted an object"),
    ],
)  # fmt: skip
def test_an_invalid_template_is_refused_with_its_line(project: PlanProject, template: str, message: str) -> None:
    project.plan(template)
    refusal = project.refusal()
    assert refusal.startswith(f"rageval: {message}"), refusal
    assert not list((project.folder / "out").glob("*"))


def test_a_plan_that_is_not_toml_is_refused(project: PlanProject, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_rageval.cli import main

    assert main(["generate", "staff.csv", "--out", "out"]) == 2
    assert capsys.readouterr().err.startswith("rageval: staff.csv: the path of a plan ends in .toml; write rageval")
    assert main(["generate", "none.toml", "--out", "out"]) == 2
    assert capsys.readouterr().err.startswith("rageval: none.toml: cannot be read: No such file or directory")


def test_out_is_required_unless_nothing_is_written(project: PlanProject) -> None:
    project.plan(ASK)
    assert project.refusal("--force").startswith("rageval: --out is missing; write rageval generate PLAN.toml --out")
    status, lines = project.run("--dry-run")
    assert (status, lines[-1]) == (0, "calls: 0, tokens: 0, cost: 0 USD")


def test_the_files_of_another_plan_are_replaced_only_by_force(project: PlanProject) -> None:
    project.plan(ASK)
    project.run()
    decisions = project.folder / "out" / "decisions.jsonl"
    decisions.write_text("{}\n", encoding="utf-8")
    before = (project.folder / "out" / "drafts.jsonl").read_bytes()
    project.plan(ASK.replace("Where does", "In which city does"))
    assert "out holds drafts.jsonl, which another plan or an earlier text of this plan made" in project.refusal()
    assert (project.folder / "out" / "drafts.jsonl").read_bytes() == before
    assert project.run("--out", "out", "--force")[0] == 0
    assert "In which city" in (project.folder / "out" / "drafts.jsonl").read_text(encoding="utf-8")
    assert decisions.read_text(encoding="utf-8") == "{}\n"


def test_hostile_texts_are_shown_escaped_in_the_report(project: PlanProject) -> None:
    project.write("staff.csv", "name,city\n<b>x</b>|\u202ey\x1b[31m,Oslo\n<b>x</b>|\u202ey\x1b[31m,Bergen\n")
    project.plan(ASK, table='[[table]]\nname = "staff"\npath = "staff.csv"\ntopic = "{name}"\n')
    assert project.run()[0] == 0
    report = (project.folder / "out" / "report.md").read_text(encoding="utf-8")
    assert "\\<b\\>x\\</b\\>\\|\\\\u202ey\\\\x1b" in report
    assert "\u202e" not in report
    assert "\x1b" not in report


def test_hostile_texts_are_printed_escaped(project: PlanProject) -> None:
    project.write("staff.csv", "name,city\nAnn,O\x1b[31mslo\u202e\n")
    table = '[[table]]\nname = "staff"\npath = "staff.csv"\ntopic = "{city}"\n'
    project.plan(ASK, head="per_cell = 2\n", table=table)
    status, lines = project.run()
    assert status == 1
    assert lines[-1].startswith("short: topic=O\\x1b[31mslo\\u202e, task=extractive_qa: 1 of 2 wanted cases")


def test_a_plan_without_a_template_warns_that_it_makes_no_case(project: PlanProject) -> None:
    project.plan()
    assert "warning: plan.toml: without [[template]] and [[corpus]], no case is made" in project.run()[1]


def test_templates_on_one_line_have_separate_target_numbers(project: PlanProject) -> None:
    where, since = (
        f'{{ table = "staff", ask = "{ask} {{name}}, the {{job}}, work?", answer = "{{{column}}}", n = {n} }}'
        for ask, column, n in (("Where does", "city", 1), ("Since when does", "since", 2))
    )
    project.write("plan.toml", f'template = [{where}, {since}]\ntable = [{{ path = "staff.csv" }}]\n')
    assert project.run()[0] == 0
    origins = [
        each["generated"]["by"] for each in (*project.lines("auto_test.jsonl"), *project.lines("auto_train.jsonl"))
    ]
    assert sorted(origins) == ["plan.toml:1", "plan.toml:1#2", "plan.toml:1#2"]
