"""Templates over a table: every task, and the keys that select rows."""

from __future__ import annotations

import json

import pytest
from support.projects.plan_project import PlanProject

from pytest_rageval.cli import main

COLUMNS = ("id", "name", "city", "since", "position", "interests", "publications", "unit")
PEOPLE = [
    dict(zip(COLUMNS, values, strict=True))
    for values in (
        ("p1", "Ann Lee", "Oslo", 2011, "Professor", ["maps", "ice"], ["w1", "w2"], "North"),
        ("p2", "Bo Ek", "Bergen", 2004, "Lecturer", ["tides"], ["w3"], "North"),
        ("p3", "Cy Dahl", "Oslo", 2004, "Professor", ["ice"], [], "North"),
        ("p4", "Dag Moe", "Molde", 2019, "Engineer", [], ["w2", "w3"], "South"),
        ("p5", "Eli Rud", "Hamar", 1999, "Lecturer", ["bees"], ["w4", "w5"], "South"),
    )
]
ICE, TIDES = "Ice in fjords", "Tide tables"
WORKS = [
    {"pub_id": "w1", "title": "On old maps", "num_citation": 12},
    {"pub_id": "w2", "title": ICE, "num_citation": 30},
    {"pub_id": "w3", "title": TIDES, "num_citation": 7},
    {"pub_id": "w4", "title": "Hives in winter", "num_citation": 5},
    {"pub_id": "w5", "title": "Bees at night", "num_citation": 5},
]
TABLES = """\
[[table]]
name = "people"
path = "people.jsonl"
passage = "{name} has worked in {city} since {since} as {position}."
topic = "{unit}"
[[table]]
name = "publications"
path = "works.jsonl"
key = "pub_id"
passage = "The publication {title} was cited {num_citation} times."
"""


@pytest.fixture
def people(project: PlanProject) -> PlanProject:
    project.write("people.jsonl", "".join(json.dumps(row) + "\n" for row in PEOPLE))
    project.write("works.jsonl", "".join(json.dumps(row) + "\n" for row in WORKS))
    return project


def test_a_contrast_has_slots_for_the_answer_and_both_values(people: PlanProject) -> None:
    people.plan(
        'table = "people"\npick = "min(since)"\nanswer = "{name}"\n'
        'ask = "Who has worked longer, {name} or {other.name}, and since when does each work?"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    assert people.drafts() == [
        (
            "",
            "Who has worked longer, Ann Lee or Bo Ek, and since when does each work?",
            [["Bo Ek"], ["2011"], ["2004"]],
        ),
        (
            "",
            "Who has worked longer, Dag Moe or Eli Rud, and since when does each work?",
            [["Eli Rud"], ["2019"], ["1999"]],
        ),
    ]  # Bo Ek and Cy Dahl began in the same year
    tasks = {(each["task"], each["topic"], len(each["sources"])) for each in people.lines("drafts.jsonl")}
    assert tasks == {("contrast_qa", "North", 2), ("contrast_qa", "South", 2)}


def test_integration_has_a_group_for_each_slot(people: PlanProject) -> None:
    people.plan(
        'table = "people"\ntask = "integration"\nanswer = "{city}"\n'
        'ask = "In which cities do {name} and {other.name} work?"',
        table=TABLES,
        head="[split]\nauto_test = 1.0\n",
    )
    assert people.run()[0] == 0
    first = people.lines("auto_test.jsonl")[0]
    assert first["task"] == "information_integration"
    questions = {each["question"]: each["slots"] for each in people.lines("auto_test.jsonl")}
    assert questions == {
        "In which cities do Ann Lee and Bo Ek work?": [["Oslo"], ["Bergen"]],
        "In which cities do Dag Moe and Eli Rud work?": [["Molde"], ["Hamar"]],
    }
    assert [(each["role"], each["group"]) for each in first["passages"]] == [("positive", 0), ("positive", 1)]
    assert main(["lint", "jsonl:out/auto_test.jsonl", "--corpus", "out/corpus.jsonl", "--strict"]) == 0


def test_all_fields_of_a_row_are_the_slots_of_a_long_answer(people: PlanProject) -> None:
    people.plan(
        'table = "people"\ntask = "long_form_qa"\nask = "What is known about the work of {name}?"\n'
        'answer = ["{city}", "{since}", ["{position}", "a {position}"]]',
        'table = "publications"\ntask = "long_form_qa"\nask = "What is known about {title}?"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    gold = {question: slots for _, question, slots in people.drafts()}
    assert gold["What is known about the work of Bo Ek?"] == [["Bergen"], ["2004"], ["Lecturer", "a Lecturer"]]
    assert gold["What is known about Tide tables?"] == [["7"]]  # the columns of the passage that nobody asks for


def test_a_conversation_has_turns_with_history(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nwhere = "city != \'Oslo\'"\nask = "Where does {name} work?"\n'
        'follow_up = ["And since when?", "And as what?"]\nanswer = ["{city}", "{since}", "{position}"]',
        table=TABLES,
        head="[split]\nauto_test = 1.0\n",
    )
    assert people.run()[0] == 0
    turns = people.lines("auto_test.jsonl")
    assert len(turns) == 9
    assert {each["task"] for each in turns} == {"conversational_qa"}
    bo = sorted((each for each in turns if "p2" in each["provenance"][0][0]), key=lambda each: str(each["round"]))
    assert [(each["round"], each["question"], each["answers"]) for each in bo] == [
        ("1", "Where does Bo Ek work?", ["Bergen"]),
        ("2", "And since when?", ["2004"]),
        ("3", "And as what?", ["Lecturer"]),
    ]
    assert bo[2]["history"] == [
        {"question": "Where does Bo Ek work?", "answer": "Bergen"},
        {"question": "And since when?", "answer": "2004"},
    ]
    assert len({each["dialogue"] for each in bo}) == 1


def test_a_second_conversation_with_the_same_first_question_is_dropped(people: PlanProject) -> None:
    ask = 'table = "people"\nwhere = "city != \'Oslo\'"\nask = "Where does {name} work?"\n'
    people.plan(
        ask + 'follow_up = "And since when?"\nanswer = ["{city}", "{since}"]',
        ask + 'follow_up = "And as what?"\nanswer = ["{city}", "{position}"]',
        table=TABLES,
    )
    assert "12 drafts: 6 kept, 6 dropped (3 dialogue_dropped, 3 duplicate)" in people.run()[1]


def test_a_follow_up_that_names_the_row_drops_the_whole_conversation(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "Where does {name} work?"\nfollow_up = "Since when does {name} work there?"\n'
        'answer = ["{city}", "{since}"]',
        table=TABLES,
    )
    status, lines = people.run()
    assert status == 0
    assert "10 drafts: 0 kept, 10 dropped (5 dialogue_dropped, 5 follow_up_complete)" in lines


def test_a_list_column_gives_slots_and_a_missing_value_gives_no_draft(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "What are the research interests of {name}?"\nanswer = "{interests}"\n'
        'level = "knowledge_seeking"\nroute = "searchPerson > getPersonInterest"',
        table=TABLES.replace('passage = "{name} has worked in {city} since {since} as {position}."\n', ""),
    )
    status, lines = people.run()
    assert status == 0
    assert "left out: plan.toml:10: without a value of ask or answer: 1" in lines
    ann = next(each for each in people.lines("drafts.jsonl") if "Ann" in each["question"])
    assert ann["gold"] == [["maps"], ["ice"]]
    assert (ann["level"], ann["facets"]) == ("knowledge_seeking", {"route": "searchPerson > getPersonInterest"})


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("{publications|max(num_citation).title}", {"Ann": [ICE], "Bo": [TIDES], "Dag": [ICE]}),
        ("{publications|max(num_citation).num_citation}", {"Ann": ["30"], "Bo": ["7"], "Dag": ["30"], "Eli": ["5"]}),
        ("{publications|min(num_citation).title}", {"Ann": ["On old maps"], "Bo": [TIDES], "Dag": [TIDES]}),
        ("{publications|sum(num_citation)}", {"Ann": ["42"], "Bo": ["7"], "Dag": ["37"], "Eli": ["10"]}),
        ("{publications|count}", {"Ann": ["2"], "Bo": ["1"], "Cy": ["0"], "Dag": ["2"], "Eli": ["2"]}),
    ],
)  # fmt: skip
def test_a_column_of_keys_leads_to_the_rows_of_another_table(
    people: PlanProject, answer: str, gold: dict[str, list[str]]
) -> None:
    """Eli's two publications are cited equally often, so the most cited one is ambiguous."""
    people.plan(
        'table = "people"\ntask = "multi_hop_qa"\nask = "What about the publications of {name}?"\n'
        f'answer = "{answer}"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    answers = {question.split()[5]: slots[0] for reason, question, slots in people.drafts() if not reason}
    assert answers == gold
    assert {reason for reason, question, _ in people.drafts() if "Eli" not in question} == {""}
    verdicts = [each["verdicts"] for each in people.lines("drafts.jsonl") if each["reason"] == "ambiguous"]
    assert verdicts == ([] if "Eli" in gold else [{"ambiguous": "Hives in winter or Bees at night"}])


def test_a_field_of_joined_rows_gives_one_slot_for_each_row(people: PlanProject) -> None:
    people.plan(
        'table = "people"\ntask = "multi_hop_qa"\nask = "What has {name} published?"\nanswer = "{publications.title}"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    ann = next(each for each in people.lines("drafts.jsonl") if "Ann" in each["question"])
    assert ann["gold"] == [["On old maps"], ["Ice in fjords"]]
    assert [each["id"] for each in ann["sources"]] == ["people:p1", "publications:w1", "publications:w2"]


def test_all_makes_each_answer_a_slot(people: PlanProject) -> None:
    people.plan('table = "people"\nall = true\nask = "Who works in {city}?"\nanswer = "{name}"', table=TABLES)
    assert people.run()[0] == 0
    drafts = people.drafts()
    assert ("", "Who works in Oslo?", [["Ann Lee"], ["Cy Dahl"]]) in drafts
    assert ("duplicate", "Who works in Oslo?", [["Ann Lee"], ["Cy Dahl"]]) in drafts
    assert len(drafts) == 5


def test_equal_answers_of_several_rows_are_not_ambiguous(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "Where do people with the post of {position} in the unit {unit} work?"\n'
        'answer = "{city}"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    oslo = [each for each in people.drafts() if "Professor" in each[1]]
    assert sorted(each[0] for each in oslo) == ["", "duplicate"]


def test_unique_leaves_out_rows_that_share_the_columns(people: PlanProject) -> None:
    people.plan('table = "people"\nunique = "city"\nask = "Who works in {city}?"\nanswer = "{name}"', table=TABLES)
    assert people.run()[0] == 0
    assert sorted(each[0] for each in people.drafts()) == ["", "", "", "not_unique", "not_unique"]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("since >= 2011", "Ann Dag"),
        ("since < 2011 and not city == 'Oslo'", "Bo Eli"),
        ("city in ['Oslo', 'Molde'] or position == 'lecturer'", "Ann Bo Cy Dag Eli"),
        ("2000 < since <= 2011", "Ann Bo Cy"),
        ("'ice' in interests", "Ann Cy"),
        ("city not in ('Oslo', 'Bergen') and since != 1999", "Dag"),
        ("not (city == 'Oslo' or city == 'Bergen')", "Dag Eli"),
    ],
)
def test_where_compares_columns(people: PlanProject, where: str, names: str) -> None:
    people.plan(
        f'table = "people"\nwhere = "{where}"\nask = "Which post does {{name}} have?"\nanswer = "{{position}}"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    assert " ".join(question.split()[3] for _, question, _ in people.drafts()) == names


def test_n_keeps_the_first_rows_and_reports_missing_cases(people: PlanProject) -> None:
    template = 'table = "people"\nask = "Which post does {name} have?"\nanswer = "{position}"\n'
    people.plan(template + "n = 2", table=TABLES)
    assert people.run()[0] == 0
    questions = sorted(each[1] for each in people.drafts() if not each[0])
    assert questions == ["Which post does Ann Lee have?", "Which post does Bo Ek have?"]
    people.plan(template + "n = 7", table=TABLES)
    status, lines = people.run("--out", "more")
    assert status == 1
    assert lines[-1] == "short: plan.toml:11: 5 of 7 wanted cases (there are no more drafts)"


def test_balance_counts_by_value_and_reports_values_with_too_few_cases(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "Where does {name} work?"\nanswer = "{city}"\n'
        'balance = { field = "position", Professor = 1, Lecturer = 3, Other = 1 }',
        table=TABLES,
    )
    status, lines = people.run()
    assert status == 1
    assert lines[-1].startswith("short: plan.toml:11 position=Lecturer: 2 of 3 wanted cases (")
    names = {each[1].split()[2] for each in people.drafts() if not each[0]}
    assert names == {"Ann", "Bo", "Dag", "Eli"}


def test_a_cell_holds_per_cell_cases_and_short_cells_are_reported(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "Where does {name} work?"\nanswer = "{city}"',
        table=TABLES,
        head='per_cell = 3\ntasks = ["extractive_qa", "contrast_qa"]\n',
    )
    status, lines = people.run()
    assert status == 1
    assert [line for line in lines if line.startswith("short:")] == [
        "short: topic=North, task=contrast_qa: 0 of 3 wanted cases (there are no more drafts)",
        "short: topic=South, task=contrast_qa: 0 of 3 wanted cases (there are no more drafts)",
        "short: topic=South, task=extractive_qa: 2 of 3 wanted cases (there are no more drafts)",
    ]
    report = (people.folder / "out" / "report.md").read_text(encoding="utf-8")
    assert "| North | extractive_qa | 3 | 3 | 3 |" in report


def test_seed_and_key_decide_the_wording_of_a_row(people: PlanProject) -> None:
    template = (
        'table = "people"\nask = ["Where does {name} work?", "What is the place of work of {name}?"]\nanswer = "{city}"'
    )
    questions = []
    for seed in range(8):
        people.plan(template, table=TABLES, head=f"seed = {seed}\n")
        people.run("--out", "out", "--force")
        questions.append(tuple(each[1] for each in people.drafts()))
    assert len(set(questions)) > 1
    assert {len(each) for each in questions} == {5}
    assert len({question for each in questions for question in each}) == 10


def test_a_new_row_changes_no_other_case(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = ["Where does {name} work?", "What is the city of {name}?"]\nanswer = "{city}"',
        'table = "people"\npick = "max(since)"\nask = "Who came later, {name} or {other.name}?"\nanswer = "{name}"',
        table=TABLES,
    )
    people.run()
    before = {each["id"]: each for each in people.lines("drafts.jsonl")}
    row = {"id": "p6", "name": "Fay Aas", "city": "Voss", "since": 2021, "position": "Clerk", "unit": "North"}
    people.write("people.jsonl", "".join(json.dumps(each) + "\n" for each in [*PEOPLE, row]))
    people.run()
    after = {each["id"]: each for each in people.lines("drafts.jsonl")}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2  # the case of the new row, and its contrast with Cy Dahl


def test_wordings_that_give_the_same_question_are_duplicates(people: PlanProject) -> None:
    row = {"id": "p6", "name": "Ann Lee", "city": "Oslo", "since": 2020, "position": "Clerk", "unit": "North"}
    people.write("people.jsonl", "".join(json.dumps({**row, "id": f"p{at}"}) + "\n" for at in range(12)))
    people.plan(
        'table = "people"\nask = ["Where does {name} work?", "What is the city of {name}?"]\nanswer = "{city}"',
        table=TABLES,
    )
    assert people.run()[0] == 0
    assert len({each[1] for each in people.drafts()}) == 2
    assert sorted(each[0] for each in people.drafts()) == ["", *["duplicate"] * 11]


def test_an_answer_of_a_turn_may_be_a_list(people: PlanProject) -> None:
    people.plan(
        'table = "people"\nask = "What does {name} study?"\nfollow_up = "And where?"\n'
        'answer = ["{interests}", "{city}"]',
        table=TABLES,
    )
    status, lines = people.run()
    assert status == 0
    assert "left out: plan.toml:11: without a value of ask or answer: 1" in lines
    turns = [each for each in people.lines("drafts.jsonl") if each["sources"][0]["id"] == "people:p1"]
    first, second = sorted(turns, key=lambda each: str(each["facets"]["round"]))
    assert (first["gold"], second["gold"]) == ([["maps"], ["ice"]], [["Oslo"]])
    assert second["history"] == [{"question": "What does Ann Lee study?", "answer": "maps, ice"}]


PROFILING = {
    "Professor": 20, "Other": 16, "Researcher": 14, "Associate Professor": 14, "Assistant Professor": 10,
    "Engineer": 10, "Lecturer": 6, "Associate Researcher": 3, "Ph.D": 3, "Senior Engineer": 2,
    "Assistant Researcher": 2,
}  # fmt: skip
"""R-Eval's distribution of positions in its task 2-4."""


def test_balance_gives_the_published_distribution_of_positions(people: PlanProject) -> None:
    labels = list(PROFILING)
    rows = [
        {"id": f"p{at}", "name": f"person {at}", "position": labels[at % len(labels)], "unit": "All"}
        for at in range(300)
    ]
    people.write("people.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    counts = "".join(f'"{label}" = {count}\n' for label, count in PROFILING.items())
    people.plan(
        'table = "people"\nask = "Which post does {name} have?"\nanswer = "{position}"\n'
        'level = "knowledge_understanding"\n'
        f'[template.balance]\nfield = "position"\n{counts}',
        table='[[table]]\nname = "people"\npath = "people.jsonl"\ntopic = "{unit}"\n',
        head="[split]\nauto_test = 1.0\n",
    )
    assert people.run()[0] == 0
    position_counts: dict[str, int] = {}
    for record in people.lines("auto_test.jsonl"):
        position_counts[record["answers"][0]] = position_counts.get(record["answers"][0], 0) + 1
    assert position_counts == PROFILING
    assert sum(position_counts.values()) == 100
