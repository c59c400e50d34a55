"""Lint checks of leakage: questions in prompts and training data, answers in questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.samples.lint_samples import found_by, record

from pytest_rageval.errors import SettingError
from pytest_rageval.linting.linter import lint
from pytest_rageval.linting.subject import Leakage

LONG = (
    "In which of the four halls of the old town museum does the guide say that the two boats of the fishermen "
    "stood before the fire?"
)


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("question", "text", "has_finding"),
    [
        ("How many seats does the hall have?", "Q: how many SEATS does the hall have A: 70", True),
        ("How many seats does the hall have?", "How many seats does the old hall have?", False),
        ("How many seats does the hall have?", "Show many seats does the hall have?", False),
        (LONG, "of the old town museum does the guide say that the two boats of the", True),
        (LONG, "the old town museum does the guide say that the two boats", False),  # only 12 words in a row
        ("Who won?", "Who won? Nobody.", False),  # too short to be a part of a text
        ("Who won?", "who won", True),
        ("大桥是哪一年通车的，由谁建造？", "例如：大桥是哪一年通车的由谁建造？答：1988年。", True),
        ("大桥是哪一年通车的，由谁建造？", "大桥是哪一年建造的？", False),
    ],
)
def test_a_question_in_a_prompt_is_found(tmp_path: Path, question: str, text: str, has_finding: bool) -> None:
    leakage = Leakage(prompts=(file(tmp_path, "answer.txt", text),))
    findings = found_by("prompt_leak", record(question=question), leakage=leakage)
    assert bool(findings) is has_finding
    assert all(each.severity == "error" and "answer.txt" in each.problem for each in findings)


def test_a_question_in_training_data_is_found_in_any_string_of_a_line(tmp_path: Path) -> None:
    rows = [
        {"messages": [{"content": "Hello."}]},
        {"messages": [{"content": "哪一年？\nHow many seats does it have?"}]},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows) + "no json: who built the town hall\n"
    leakage = Leakage(against=(file(tmp_path, "train.jsonl", text),))
    seats = record("q1", "How many seats does it have?")
    builder = record("q2", "Who built the town hall?", line=2)
    findings = found_by("train_overlap", seats, builder, record("q3", "When does the town hall open?"), leakage=leakage)
    assert [(each.id, each.severity) for each in findings] == [("q1", "error"), ("q2", "error")]
    assert "train.jsonl:2" in findings[0].problem
    assert "train.jsonl:3" in findings[1].problem


def test_an_answer_in_its_question_is_a_warning() -> None:
    with_answer = record("q1", "Is the museum with 170 rooms in Paris?", gold=(("170",),))
    other = record("q2", "Is the museum with 170 rooms in Paris?", gold=(("70",),))
    yes = record("q3", "Say yes or no: is it open?", gold=(("yes",),))
    contrast = record("q4", "Is Ann or Bo older, and how old?", gold=(("Bo",), ("70",)), facets={"task": "contrast_qa"})
    findings = found_by("answer_in_question", with_answer, other, yes, contrast, leakage=Leakage())
    assert [(each.id, each.severity) for each in findings] == [("q1", "warning")]


def test_leakage_is_checked_only_on_request() -> None:
    with_answer = record("q1", "Is the museum with 170 rooms in Paris?", gold=(("170",),))
    assert not found_by("answer_in_question", with_answer)


def test_a_dataset_is_not_compared_with_itself(tmp_path: Path) -> None:
    row = {"id": "q1", "question": "How many seats does it have?", "answers": ["70"]}
    path = file(tmp_path, "cases.jsonl", json.dumps(row) + "\n")
    with pytest.raises(SettingError, match="is the dataset itself; leave it out of --prompts and --against"):
        lint(f"jsonl:{path}", leakage=Leakage(against=(path,)))
