"""Labels of people in JSON Lines and in sheets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.datasets.labels import Label, read_labels
from pytest_rageval.datasets.sheets import read_sheet, sheet_text
from pytest_rageval.errors import DataError
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.values import NUMBERS, Worth

VALUES = {"Correct Answer": 1.0, "Incorrect Answer": 0.0, "Refusal": 0.0}
NUMBER_EXPECTED = (
    "wanted a number in 0..1; declare the values of words (--value good=1), or a scale (--scale 0..2, --scale -2..2)"
)
SCALE_EXPECTED = "wanted a whole number in 0..2, the declared scale"


def write(folder: Path, text: str, name: str = "labels.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def values(folder: Path, *labels: object, scale: tuple[int, int] | None = None) -> list[float | None]:
    rows = [json.dumps({"id": at, "label": label}) for at, label in enumerate(labels)]
    return [label.value for label in read_labels(write(folder, "\n".join(rows)), Worth(scale=scale))]


def error_of(path: Path, worth: Worth = NUMBERS) -> str:
    with pytest.raises(DataError) as error:
        read_labels(path, worth)
    return str(error.value)


def test_every_known_key_is_read_and_others_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"id": 7, "label": "refusal ", "system": "s", "answer": "No.", "metric": "m", "rater": 3, "comment": [1]}
    path = write(tmp_path, json.dumps(row) + "\n\n" + json.dumps({"id": "b", "label": "Correct Answer", "rater": None}))
    assert read_labels(path, Worth(VALUES)) == (
        Label("7", 0.0, "refusal", "s", "No.", "m", "3", "labels.jsonl:1"),
        Label("b", 1.0, "Correct Answer", where="labels.jsonl:3"),
    )


def test_numbers_and_booleans_are_values(tmp_path: Path) -> None:
    assert values(tmp_path, 0, 1.0, 0.25, True, False, "1", "0.5", "TRUE") == [0, 1, 0.25, 1, 0, 1, 0.5, 1]
    assert values(tmp_path, 0, 1, "2", 2.0, scale=(0, 2)) == [0, 0.5, 1, 1]
    assert values(tmp_path, 1, 3, 5, scale=(1, 5)) == [0, 0.5, 1]


def test_a_blank_label_has_no_value(tmp_path: Path) -> None:
    assert values(tmp_path, None, "", " ", 1) == [None, None, None, 1]


def test_a_label_may_have_no_value(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": 1, "label": "unsure"}\n{"id": 2, "label": "yes"}')
    assert [label.value for label in read_labels(path, Worth({"Yes": 1, "Unsure": None}))] == [None, 1]


@pytest.mark.parametrize(
    ("row", "worth", "message"),
    [
        ({"label": 1.5}, NUMBERS, f"label: found 1.5, {NUMBER_EXPECTED}"),
        ({"label": -1}, NUMBERS, f"label: found -1, {NUMBER_EXPECTED}"),
        ({"label": "good"}, NUMBERS, f"label: found 'good', {NUMBER_EXPECTED}"),
        ({"label": "1e999"}, NUMBERS, f"label: found '1e999', {NUMBER_EXPECTED}"),
        ({"label": "nan"}, NUMBERS, f"label: found 'nan', {NUMBER_EXPECTED}"),
        ({"label": 3}, Worth(scale=(0, 2)), f"label: found 3, {SCALE_EXPECTED}"),
        ({"label": 0.5}, Worth(scale=(0, 2)), f"label: found 0.5, {SCALE_EXPECTED}"),
        ({"label": "x"}, Worth(scale=(0, 2)), f"label: found 'x', {SCALE_EXPECTED}"),
        ({"label": True}, Worth(scale=(0, 2)), f"label: found true, {SCALE_EXPECTED}"),
        ({"label": 10**400}, NUMBERS, "label: found 1000"),
        ({"label": "Wrong"}, Worth(VALUES), "label: found 'Wrong', wanted one of 'correct answer', 'incorrect"),
        (
            {"label": [1]},
            NUMBERS,
            "label: found an array of 1, wanted a label: a number, a string, true or ",
        ),
        ({"lable": 1}, NUMBERS, "the field label is missing, wanted a label: "),
        ({"id": "", "label": 1}, NUMBERS, "id: found '', wanted an integer or a string that is not empty"),
        ({"label": 1, "system": 3}, NUMBERS, "system: found 3, wanted a string"),
    ],
)
def test_an_invalid_label_is_refused_with_its_place(
    row: dict[str, object], worth: Worth, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert error_of(write(tmp_path, json.dumps({"id": "a", **row})), worth).startswith(f"labels.jsonl:1: {message}")


def test_two_labels_of_one_rater_for_one_answer_are_refused(tmp_path: Path) -> None:
    row = '{"id": "a", "label": 1, "rater": "%s"}\n'
    assert len(read_labels(write(tmp_path, row % "x" + row % "y"))) == 2
    assert "a label of the same rater for the same answer to the case 'a' is already in line 1" in error_of(
        write(tmp_path, row % "x" + row % "x")
    )


def test_the_labels_of_a_judge_have_the_values_of_that_judge(tmp_path: Path) -> None:
    graded = FunctionJudge("graded", len, {"Full": 1, "Half": 0.5, "Aside": None})
    stars = PromptedJudge("stars", "How good is it?", scale=(1, 5))
    judge_labels = [
        ("graded", "half"),
        ("graded", "ASIDE"),
        ("graded", 0.25),
        ("graded", True),
        ("stars", 3),
        ("", 0.1),
    ]
    text = "\n".join(json.dumps({"id": at, "metric": m, "label": label}) for at, (m, label) in enumerate(judge_labels))
    labels = read_labels(write(tmp_path, text), judges={"graded": graded, "stars": stars})
    assert [label.value for label in labels] == [0.5, None, 0.25, 1, 0.5, 0.1]
    text = '{"id": 1, "metric": "stars", "label": 0.5}'
    with pytest.raises(DataError, match=r"found 0\.5, wanted a whole number in 1\.\.5, the scale of the judge"):
        read_labels(write(tmp_path, text), judges={"stars": stars})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_may_use_the_delimiters_of_other_countries(delimiter: str, tmp_path: Path) -> None:
    lines = ["id,label,answer", '1,TRUE,"a ""b""\r\nc"', "2,,", ",,", "3,0,'=1+1"]
    text = "\ufeff" + "\r\n".join(line.replace(",", delimiter) for line in lines)
    labels = read_labels(write(tmp_path, text, "sheet.CSV"))
    assert [(label.id, label.value, label.answer, label.where.rpartition(":")[2]) for label in labels] == [
        ("1", 1, 'a "b"\r\nc', "2"),
        ("2", None, None, "4"),
        ("3", 0, "=1+1", "6"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,label\n", ":1: the sheet holds no row below its head"),
        ("", ":1: the sheet holds no row below its head"),
        ("id,label\n1,2,3\n", ":2: found 3 cells, wanted 2, as in the first line"),
        ("id,id,label\n1,2,3\n", ":1: the column 'id' occurs twice"),
        ('id,label\n1,1\n2,"x', ":3: the row is not valid CSV (unexpected end of data); save the table as CSV"),
        ("id,score\n1,1\n", ":2: the field label is missing, wanted a label"),
    ],
)
def test_an_invalid_sheet_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    assert f"sheet.csv{message}" in error_of(write(tmp_path, text, "sheet.csv"))


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1))
def test_any_text_is_read_back_and_no_cell_starts_like_a_formula(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    csv_text = sheet_text(["id", "answer"], [[str(at), text] for at, text in enumerate(texts)])
    path = write(tmp_path_factory.getbasetemp(), csv_text, "any.csv")
    assert [record["answer"] for _, record in read_sheet(path)] == texts
    rows = list(csv.reader(io.StringIO(csv_text, newline="")))[1:]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for _, cell in rows)
