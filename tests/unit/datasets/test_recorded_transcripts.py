"""Recorded answers with a transcript or with only the total number of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.recorded import Recorded, load_recorded
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step, Usage

TEXT = "Thought 1: Look.\nAction 1: Search[museum]\nObservation 1: It opens at 9:00."
CALL = {"name": "Search", "arguments": "museum", "result": "It opens at 9:00."}


def load(folder: Path, **row: object) -> Recorded:
    path = folder / "answers.jsonl"
    path.write_text(json.dumps({"id": 1, "answer": "9:00", **row}), encoding="utf-8")
    return load_recorded(path)[0]


@pytest.mark.parametrize(("answer", "reason"), [("9:00", "finished"), ("", "step_limit")])
def test_a_transcript_becomes_the_trace(tmp_path: Path, answer: str, reason: str) -> None:
    row = load(tmp_path, answer=answer, scratchpad=TEXT)
    end = Step("end", {"reason": reason})
    assert row.answer.trace == (Step("thought", {"text": "Look."}), Step("tool", CALL), end)
    assert row.where == {}
    assert load(tmp_path, answer=answer, scratchpad="").answer.trace == (end,)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"scratchpad": 3}, "scratchpad: found 3, wanted a string"),
        (
            {"scratchpad": "It opens."},
            "scratchpad: found 'It opens.', wanted a transcript with lines Thought 1:, Action",
        ),
        ({"scratchpad": "Thought 1: x", "trace": []}, "found both trace and scratchpad, wanted one of them"),
        ({"usage": {"total_tokens": "9"}}, "usage.total_tokens: found '9', wanted an integer of at least 0"),
    ],
)
def test_a_bad_row_is_refused(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    with pytest.raises(DataError) as error:
        load(tmp_path, **row)
    assert str(error.value).startswith(f"{error.value.where}: {problem}")


def test_usage_may_be_only_the_total_number_of_tokens(tmp_path: Path) -> None:
    assert load(tmp_path, usage={"total_tokens": 90}).answer.usage == Usage(total_tokens=90)
