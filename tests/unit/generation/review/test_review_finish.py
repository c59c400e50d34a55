"""`rageval generate --finish`: how decisions change the sets, the report and the exit status."""

from __future__ import annotations

import json
from dataclasses import replace

from support.projects.review_project import ReviewProject, grade, of_task

from pytest_rageval.datasets.jsonl import load
from pytest_rageval.generation.review.decision import Edit
from pytest_rageval.generation.review.edits import edit_of

SETS = ("auto_test.jsonl", "auto_train.jsonl", "human_test.jsonl")


def finish(project: ReviewProject, status: int = 0) -> list[str]:
    exit_status, lines = project.run("generate", "plan.toml", "--out", "cases", "--finish")
    assert exit_status == status, lines
    return lines


def test_without_a_decision_nothing_changes(generated: ReviewProject) -> None:
    before = generated.files()
    lines = finish(generated)
    assert generated.files() == before
    assert not any("accepted" in line for line in lines)


def test_dropped_cases_leave_all_sets_and_no_other_case_moves(generated: ReviewProject) -> None:
    session = generated.session()
    before = {name: list(generated.records(name)) for name in SETS}
    single = of_task(session, "extractive_qa")
    for draft, number in zip(single, (1, 2, 4, 5), strict=True):
        grade(session, draft, number)
    for draft in of_task(session, "conversational_qa"):
        grade(session, draft, 5)
    lines = finish(generated)
    dropped_ids = {draft.id for draft in single[:2]}
    assert "18 drafts: 16 kept, 2 dropped (2 review_drop)" in lines
    for name in SETS:
        assert list(generated.records(name)) == [each for each in before[name] if each not in dropped_ids]
    record = generated.records("human_test.jsonl")[single[2].id]
    assert (record["generated"]["grade"], record["generated"]["reviewer"]) == (4, "Ann")
    assert "grade" not in next(iter(generated.records("auto_train.jsonl").values()))["generated"]
    assert "accepted by people: 75.0 % [40.9, 92.9] of 8 (0 to mend, 2 dropped)" in lines
    assert "  topic=staff, task=extractive_qa: 50.0 % [15.0, 85.0] of 4" in lines
    report = (generated.folder / "cases" / "report.md").read_text(encoding="utf-8")
    assert "Accepted (grade 4 or 5): 75.0 % [40.9, 92.9] of 8." in report
    assert "| staff | extractive\\_qa | 4 | 2 | 0 | 2 | 50.0 % \\[15.0, 85.0\\] of 4 |" in report.replace(
        "_qa", "\\_qa"
    )
    assert "| review_drop | template | 2 |" in report
    drafts = [each for each in generated.records("drafts.jsonl").values() if each["id"] in dropped_ids]
    assert {(each["state"], each["reason"]) for each in drafts} == {("dropped", "review_drop")}


def test_a_corrected_case_replaces_the_original(generated: ReviewProject) -> None:
    session = generated.session()
    draft = of_task(session, "extractive_qa")[1]
    before = {name: list(generated.records(name)) for name in SETS}
    question = draft.question.replace("Where does", "In which city does")
    grade(session, draft, 3, replace(edit_of(draft), question=question))
    finish(generated)
    test = generated.records("auto_test.jsonl")
    assert draft.id not in test
    (new,) = (name for name in test if name not in before["auto_test.jsonl"])
    assert test[new]["question"] == question
    assert test[new]["generated"]["grade"] == 3
    assert len(test) == len(before["auto_test.jsonl"])
    assert list(generated.records("auto_train.jsonl")) == before["auto_train.jsonl"]
    assert list(generated.records("human_test.jsonl")) == [new]  # people have graded no other case
    assert len(load(generated.folder / "cases" / "auto_test.jsonl")) == len(test)


def test_a_case_of_grade_3_without_a_correction_waits(generated: ReviewProject) -> None:
    session = generated.session()
    draft = of_task(session, "extractive_qa")[0]
    grade(session, draft, 3)
    lines = finish(generated)
    assert any(line.endswith("1 waiting for a correction") for line in lines)
    assert not any(draft.id in generated.records(name) for name in SETS)
    record = generated.records("drafts.jsonl")[draft.id]
    assert (record["state"], record["reason"]) == ("waiting", "review_waits")
    again = generated.session()
    assert again.own_decision(of_task(again, "extractive_qa")[0]) is not None


def test_conversations_are_kept_or_dropped_whole(generated: ReviewProject) -> None:
    session = generated.session()
    turns = of_task(session, "conversational_qa")
    first, second = turns[:2], turns[2:]
    assert [draft.facets["round"] for draft in turns] == ["1", "2", "1", "2"]
    grade(session, first[0], 5)
    grade(session, first[1], 1)
    grade(session, second[0], 3)
    finish(generated)
    drafts = generated.records("drafts.jsonl")
    assert [drafts[draft.id]["reason"] for draft in first] == ["review_dialogue", "review_drop"]
    assert [drafts[draft.id]["state"] for draft in second] == ["waiting", "waiting"]
    assert not {draft.id for draft in turns} & generated.records("auto_test.jsonl").keys()


def test_a_corrected_turn_changes_the_history_of_later_turns(generated: ReviewProject) -> None:
    session = generated.session()
    first, later = of_task(session, "conversational_qa")[:2]
    question = first.question.replace("earn a living", "earn money")
    grade(session, first, 3, Edit(question, ((*first.gold[0], f"{first.gold[0][0]} town"),), first.evidence))
    grade(session, later, 5)
    finish(generated)
    turns = [each for each in generated.records("human_test.jsonl").values() if each["task"] == "conversational_qa"]
    by_round = {each["round"]: each for each in turns}
    assert by_round["1"]["question"] == question
    assert by_round["2"]["history"] == [{"question": question, "answer": first.gold[0][0]}]
    assert by_round["2"]["generated"]["grade"] == 5


def test_finish_is_repeatable_and_an_undo_restores_the_files(generated: ReviewProject) -> None:
    clean = generated.files()
    session = generated.session()
    single = of_task(session, "extractive_qa")
    grade(session, single[0], 1)
    grade(
        session, single[1], 3, replace(edit_of(single[1]), question=single[1].question.replace("Where", "In what city"))
    )
    finish(generated)
    once = generated.files()
    finish(generated)
    assert generated.files() == once
    session = generated.session()
    assert [draft.id for draft in of_task(session, "extractive_qa")] == [
        draft.id for draft in single
    ]  # the same sample
    assert session.undo() == single[1].id
    assert session.undo() == single[0].id
    assert session.undo() == ""
    finish(generated)
    files = generated.files()
    del files["decisions.jsonl"]
    assert files == clean
    lines = generated.generate("--force")
    assert "warning: the decisions in decisions.jsonl are not applied; run again with --finish" in lines
    assert len(generated.decisions.read_bytes().splitlines()) == 4  # decisions are never removed


def test_a_draft_that_changed_after_its_decision_is_asked_again(generated: ReviewProject) -> None:
    session = generated.session()
    draft = of_task(session, "extractive_qa")[0]
    grade(session, draft, 1)
    data = (generated.folder / "staff.csv").read_text(encoding="utf-8")
    (generated.folder / "staff.csv").write_text(data.replace(draft.gold[0][0], "Alta"), encoding="utf-8")
    generated.generate()
    assert session.refresh() is True
    now = session.draft(draft.id)
    assert now.gold == (("Alta",),)
    assert session.needs_decision(now)
    assert session.changed_since(now)
    lines = finish(generated)
    assert "warning: 1 case has changed since people decided; rageval review asks again" in lines
    assert draft.id in generated.records("auto_test.jsonl")


def test_the_lowest_grade_of_two_people_decides(generated: ReviewProject) -> None:
    ann, bo = generated.session("Ann"), generated.session("Bo")
    draft = of_task(ann, "extractive_qa")[0]
    grade(ann, draft, 5)
    grade(bo, draft, 2)
    finish(generated)
    record = generated.records("drafts.jsonl")[draft.id]
    assert (record["reason"], record["verdicts"]["grade"], record["verdicts"]["reviewer"]) == ("review_drop", 2, "Bo")


def test_a_cell_with_too_few_cases_after_review_exits_with_1(generated: ReviewProject) -> None:
    plan = (generated.folder / "plan.toml").read_text(encoding="utf-8")
    (generated.folder / "plan.toml").write_text(f"per_cell = 6\n{plan}", encoding="utf-8")
    generated.generate("--force")
    session = generated.session()
    grade(session, of_task(session, "extractive_qa")[0], 1)
    lines = finish(generated, status=1)
    assert "short: topic=staff, task=extractive_qa: 5 of 6 wanted cases (1 review_drop)" in lines


def test_a_correction_by_hand_that_fails_a_check_is_dropped(generated: ReviewProject) -> None:
    session = generated.session()
    draft = of_task(session, "extractive_qa")[0]
    grade(session, draft, 3, replace(edit_of(draft), question=draft.question.replace("Where", "In what city")))
    line = json.loads(generated.decisions.read_text(encoding="utf-8"))
    line["edit"]["question"] = f"Does {draft.gold[0][0]} employ the staff?"
    generated.decisions.write_text(json.dumps(line) + "\n", encoding="utf-8")
    finish(generated)
    drafts = [each for each in generated.records("drafts.jsonl").values() if "before_review" in each["verdicts"]]
    assert [each["reason"] for each in drafts] == ["answer_in_question"]
    assert len(of_task(generated.session(), "extractive_qa")) == 4
