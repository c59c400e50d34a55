"""Review in a spreadsheet: `rageval review --sheet` and `--from`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.projects.review_project import ReviewProject, grade, of_task

from pytest_rageval.generation.review.decision import TICKS

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def write_rows(path: Path, records: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


def sheet(project: ReviewProject, *arguments: str) -> list[Row]:
    status, lines = project.run("review", "cases", "--sheet", "sheet.csv", "--reviewer", "Ann", *arguments)
    assert status == 0, lines
    return read_rows(project.folder / "sheet.csv")


def test_a_filled_sheet_becomes_decisions(generated: ReviewProject) -> None:
    rows = sheet(generated, "--cell", "task=extractive_qa")
    assert [row["task"] for row in rows] == ["extractive_qa"] * 4
    assert (generated.folder / "sheet.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    drafts = of_task(generated.session(), "extractive_qa")
    for row, text in zip(rows, ("5", "3", "1.0", ""), strict=True):
        row["grade"] = text
    rows[0][TICKS["task"]] = "X"
    rows[1]["mended question"] = drafts[1].question.replace("Where", "In what city")
    rows[1]["mended answers"] = f"{drafts[1].gold[0][0]} | {drafts[1].gold[0][0]} town"
    write_rows(generated.folder / "sheet.csv", rows)
    arguments = ("review", "cases", "--from", "sheet.csv", "--reviewer", "Bo")
    assert generated.run(*arguments)[1] == [
        "sheet.csv: 3 new decisions, 0 known, 1 without a grade",
        "Bo: 3 of 8 cases of the sample decided",
        "accepted by people: 33.3 % [6.1, 79.2] of 3 (1 to mend, 1 dropped)",
    ]
    assert generated.run(*arguments)[1][0] == "sheet.csv: 0 new decisions, 3 known, 1 without a grade"
    by_draft = generated.session().decisions.standing
    assert [by_draft[draft.id]["Ann"].grade for draft in drafts[:3]] == [5, 3, 1]
    assert by_draft[drafts[0].id]["Ann"].ticks == ("task",)
    edit = by_draft[drafts[1].id]["Ann"].edit
    assert edit is not None
    assert (edit.question, edit.gold, edit.evidence) == (
        rows[1]["mended question"],
        ((drafts[1].gold[0][0], f"{drafts[1].gold[0][0]} town"),),
        drafts[1].evidence,
    )


def test_texts_that_a_spreadsheet_would_run_as_formulas_are_quoted(generated: ReviewProject) -> None:
    path = generated.folder / "staff.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    cities = [line.split(",")[2] for line in lines[1:]]
    text = "\n".join(lines)
    for city in cities:
        text = text.replace(city, f"={city}")
    path.write_text(f"{text}\n", encoding="utf-8")
    generated.generate()
    rows = sheet(generated, "--cell", "task=extractive_qa")
    assert {row["answers"][:2] for row in rows} == {"'="}
    write_rows(generated.folder / "sheet.csv", [{**row, "grade": "4"} for row in rows])
    assert generated.run("review", "cases", "--from", "sheet.csv")[1][0].startswith("sheet.csv: 4 new decisions")


def test_a_row_whose_case_has_changed_is_reported_and_not_stored(generated: ReviewProject) -> None:
    (row, *_) = sheet(generated, "--cell", "task=extractive_qa")
    row["grade"] = "5"
    write_rows(generated.folder / "sheet.csv", [{**row, "seen": "0" * 64}])
    lines = generated.run("review", "cases", "--from", "sheet.csv")[1]
    assert lines[:2] == [
        "sheet.csv: 0 new decisions, 0 known, 0 without a grade",
        f"changed since the sheet was written, not stored: {row['id']}; write the sheet again",
    ]
    assert not generated.decisions.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"id": "staff-extractive_qa-000000000000"},
            "sheet.csv:4: id: 'staff-extractive_qa-000000000000' is not a case",
        ),
        ({"grade": "6"}, "sheet.csv:4: grade: found '6', wanted 1, 2, 3, 4 or 5"),
        ({"grade": "9" * 5000}, "sheet.csv:4: grade: found '99999"),
        ({"grade": "good"}, "sheet.csv:4: grade: found 'good', wanted 1, 2, 3, 4 or 5"),
        ({"grade": "", "on topic": "x"}, "sheet.csv:4: on topic is filled in, but grade is empty"),
        ({"on topic": "maybe"}, "sheet.csv:4: on topic: found 'maybe', wanted x or nothing"),
        ({"mended answers": "Atlantis"}, "sheet.csv:4: a case with a correction has grade 3, found 4"),
        (
            {"grade": "3", "mended answers": "Atlantis"},
            "sheet.csv:4: the correction fails a check: answer_unsupported: 'Atlantis' is not in the evidence",
        ),
        ({"reviewer": "a\u202eb"}, r"wanted a name of 1 to 100 visible characters"),
    ],
)
def test_an_invalid_row_is_refused_with_its_line_and_nothing_is_stored(
    generated: ReviewProject, change: Row, problem: str
) -> None:
    first, second, *_ = ({**row, "grade": "4"} for row in sheet(generated, "--cell", "task=extractive_qa"))
    write_rows(generated.folder / "sheet.csv", [first, {**second, **change}])
    status, (line,) = generated.run("review", "cases", "--from", "sheet.csv", "--reviewer", "Ann")
    assert status == 2
    assert problem in line
    assert not generated.decisions.exists()


def test_existing_and_foreign_files_are_refused(generated: ReviewProject) -> None:
    sheet(generated)
    assert "sheet.csv already exists and may contain people's work" in generated.refusal(
        "cases", "--sheet", "sheet.csv"
    )
    assert "wanted a name that ends in .csv" in generated.refusal("cases", "--sheet", "sheet.xlsx")
    assert "cannot be written" in generated.refusal("cases", "--sheet", "missing/sheet.csv")
    (generated.folder / "other.csv").write_text("question,label\nQ,1\n", encoding="utf-8")
    assert "other.csv:1: the column id is missing" in generated.refusal("cases", "--from", "other.csv")
    assert "no such file" in generated.refusal("cases", "--from", "none.csv")


def test_the_agreement_of_two_people_is_printed(generated: ReviewProject) -> None:
    ann, bo = generated.session("Ann", second=1.0), generated.session("Bo", second=1.0)
    for at, draft in enumerate(ann.folder.sample):
        grade(ann, draft, (5, 4, 1, 2)[at % 4])
        grade(bo, draft, (5, 4, 1, 1)[at % 4])
    status, lines = generated.run("review", "cases", "--sheet", "rest.csv", "--reviewer", "Ann", "--second", "1")
    assert status == 0
    assert any(
        line.startswith("agreement of reviewers, 8 cases with two grades: quadratic kappa 0.9") for line in lines
    )
    assert lines[-1] == "next: rageval generate PLAN.toml --out cases --finish"
