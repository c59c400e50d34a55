"""``rageval judge train`` and ``rageval judge eval``: files, output and errors."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_rageval.cli import main
from pytest_rageval.local_judges.judge_file import judge_text

pytest.importorskip("sklearn", reason="the extra judge is not installed")

ROOT = Path(__file__).resolve().parents[3]
SHEET = ROOT / "fixtures" / "datasets" / "sheet.csv"
TRAIN = ("judge", "train", "sheet.csv", "--metric", "accuracy_judged", "--out", "judges/accuracy")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(SHEET, tmp_path / "sheet.csv")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "judges/accuracy").glob("*"))}


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line


def test_training_twice_gives_the_same_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TRAIN) == 0
    out = capsys.readouterr().out
    assert out.startswith("50 labels (wrong 22, right 28) of 25 questions with 2 each, 2 systems\n")
    assert "rag_judges = accuracy_judged: local:judges/accuracy" in out
    first = files(folder)
    assert list(first) == ["card.md", "judge.json"]
    assert len(first["judge.json"]) < 20_000
    assert main([*TRAIN, "--force"]) == 0
    assert files(folder)["judge.json"] == first["judge.json"]
    assert json.loads(first["judge.json"])["checksum"] in first["card.md"].decode()


def test_an_existing_folder_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "judges/accuracy").mkdir(parents=True)
    (folder / "judges/accuracy/notes.txt").write_text("mine")
    assert "--out judges/accuracy already exists; name another folder" in error_of(capsys, *TRAIN, "--force")
    (folder / "judges/accuracy/notes.txt").unlink()
    assert main(TRAIN) == 0
    capsys.readouterr()
    assert "already exists; give --force to replace the judge" in error_of(capsys, *TRAIN)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--metric", "utilization"), "utilization is judged by the passages, which a local judge does not read"),
        (("--metric", "accuracy"), "--metric accuracy: a rule computes it, not a judge; name a judged metric"),
        (("--metric", "acuracy_judged"), "unknown metric 'acuracy_judged'; did you mean 'accuracy_judged'?"),
        (("--split", "5:1"), "--split '5:1': wanted three whole numbers"),
        (("--split", "5:1:4"), "24 labels of accuracy_judged can train it, wanted 40: label 16 more"),
        (("--value", "right=2"), "--value 'right=2': wanted LABEL=X with X in 0..1"),
        (("--value", "right=1"), "label: found 'wrong', wanted one of 'right', because values of labels were declared"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], problem: str
) -> None:
    assert problem in error_of(capsys, *TRAIN, *words)
    assert not (folder / "judges").exists()


def test_a_file_without_texts_needs_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sheet.csv").write_text("id,label\nq1,right\n")
    assert "no run under" in error_of(capsys, *TRAIN)


def test_a_judge_is_measured_on_other_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TRAIN) == 0
    with SHEET.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    answer = head.index("answer")
    other_rows = [[*row[:answer], f"Well: {row[answer]}", *row[answer + 1 :]] for row in rows[:20]]
    for name, sheet_rows in (("other.csv", other_rows), ("mixed.csv", [*other_rows, *rows[21:]])):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *sheet_rows])
    capsys.readouterr()
    assert main(["judge", "eval", "judges/accuracy", "other.csv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["metric"], report["labels"], report["of_training"]) == ("accuracy_judged", 20, 0)
    kappa = report["figures"]["agreement"]["kappa"]["value"]
    assert 0 < kappa <= 1
    assert main(["judge", "eval", "judges/accuracy", "other.csv", "--min-kappa", f"{kappa}"]) == 0
    output = capsys.readouterr().out
    assert "## By system" in output
    assert "trained" not in output
    for name, overlap in (("sheet.csv", "50 of 50 labels"), ("mixed.csv", "29 of 49 labels")):
        assert main(["judge", "eval", "judges/accuracy", name]) == 0
        assert f"{overlap} trained this judge: they measure it too well" in capsys.readouterr().out
    (folder / "flipped.csv").write_text(
        (folder / "other.csv")
        .read_text()
        .replace(",right,", ",_,")
        .replace(",wrong,", ",right,")
        .replace(",_,", ",wrong,")
    )
    assert main(["judge", "eval", "judges/accuracy", "flipped.csv", "--min-kappa", "0"]) == 1


def test_eval_warns_if_the_judge_does_not_list_its_training_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(TRAIN) == 0
    path = folder / "judges/accuracy/judge.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksum"], content["training"]["examples"]
    path.write_text(judge_text(content), encoding="utf-8")
    capsys.readouterr()
    assert main(["judge", "eval", "judges/accuracy", "sheet.csv"]) == 0
    assert "judge.json does not say which labels trained the judge" in capsys.readouterr().out


def test_a_folder_without_a_judge_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    output = error_of(capsys, "judge", "eval", "judges", "sheet.csv")
    assert "judges: the folder holds no judge.json; name a folder that rageval judge train wrote" in output
