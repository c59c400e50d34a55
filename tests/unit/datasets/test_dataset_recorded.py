from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.recorded import Recorded, load_recorded
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.ranking import Ranking, ScoredPassage

BAD_ROWS: list[tuple[dict[str, object], str]] = [
    ({"id": {}}, "id: found an object, wanted an integer or a string that is not empty"),
    ({"answer": None}, "answer: found null, wanted a string"),
    ({"answer": 3}, "answer: found 3, wanted a string"),
    ({"answer": ...}, "the field answer is missing, wanted a string"),
    ({"system": 1}, "system: found 1, wanted a string"),
    ({"abstained": 1}, "abstained: found 1, wanted true or false"),
    ({"ranking": "d1"}, "ranking: found 'd1', wanted a list of objects with id, score and text"),
    ({"ranking": ["d1"]}, "ranking[0]: found 'd1', wanted a list of objects with id, score and text"),
    ({"ranking": [{"text": ""}]}, "the field ranking[0].id is missing, wanted an integer or a string that"),
    ({"ranking": [{"id": 1, "doc_id": 1}]}, "ranking[0].id: found both id and doc_id, wanted one of them"),
    ({"ranking": [{"id": 1, "score": "2"}]}, "ranking[0].score: found '2', wanted a number"),
    ({"ranking": [{"id": 1, "score": True}]}, "ranking[0].score: found true, wanted a number"),
    ({"ranking": [{"id": 1, "txt": "x"}]}, "unknown key 'txt' in ranking[0]; did you mean 'text'?"),
    ({"usage": 3}, "usage: found 3, wanted an object with prompt_tokens, completion_tokens, cost_usd, latency_s"),
    ({"usage": {"prompt_tokens": 1.5}}, "usage.prompt_tokens: found 1.5, wanted an integer of at least 0"),
    ({"usage": {"cost_usd": "1"}}, "usage.cost_usd: found '1', wanted a number"),
    ({"usage": {"latency_s": 10**400}}, "usage.latency_s: found 1" + "0" * 56 + "..., wanted a number"),
    ({"usage": {"cost_usd": -100}}, "usage.cost_usd: found -100, wanted a number of at least 0"),
    ({"usage": {"latency_s": -0.1}}, "usage.latency_s: found -0.1, wanted a number of at least 0"),
    ({"usage": {"completion_tokens": -1}}, "usage.completion_tokens: found -1, wanted an integer of at least 0"),
    ({"usage": {"cost_usd": float("nan")}}, "found NaN, which is not JSON, wanted a finite number"),
    ({"usage": {"latency_s": float("inf")}}, "found Infinity, which is not JSON, wanted a finite number"),
    ({"usage": {"tokens": 1}}, "unknown key 'tokens' in usage; did you mean 'prompt_tokens'?"),
    ({"a\x1b[31m": None}, "a\\x1b[31m: found null, wanted a string, number or boolean: the value of a facet"),
    ({"trace": {}}, "trace: found an object, wanted a list of steps, each an object with kind and detail"),
    ({"trace": ["x"]}, "trace[0]: found 'x', wanted a list of steps"),
    ({"trace": [{"detail": {}}]}, "the field trace[0].kind is missing, wanted a string that is not empty"),
    ({"trace": [{"kind": "tool", "detail": "x"}]}, "trace[0].detail: found 'x', wanted an object"),
    ({"trace": [{"kind": "tool", "details": {}}]}, "unknown key 'details' in trace[0]; did you mean 'detail'?"),
    ({"scratchpad": 3}, "scratchpad: found 3, wanted a string"),
    ({"scratchpad": "x"}, "scratchpad: found 'x', wanted a transcript with lines Thought 1:, Action 1: and"),
    ({"scratchpad": "Thought 1: x", "trace": []}, "found both trace and scratchpad, wanted one of them"),
    ({"noise_rate": [0.4]}, "noise_rate: found an array of 1, wanted a string, number or boolean"),
]  # fmt: skip


def write(tmp_path: Path, *rows: dict[str, object]) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_fixture_loads_as_written(fixtures_dir: Path) -> None:
    opened = ScoredPassage("d7", 2.5, "Opened 1931.")
    assert load_recorded(fixtures_dir / "datasets" / "recorded.jsonl") == (
        Recorded(
            "aliases",
            "reader",
            Answer(
                "It opened in 1931.",
                Ranking((opened, ScoredPassage("d9", 1.0, "", "Harrow"), ScoredPassage("3"))),
                usage=Usage(12, 5, 0.001, None),
            ),
            {},
        ),
        Recorded("aliases", "other", Answer("", abstained=True), {}),
        Recorded("5", "", Answer("Ida Brandt"), {"noise_rate": "0.4", "passages": "5"}),
        Recorded("5", "", Answer("Tom Reed"), {"noise_rate": "0.8", "passages": "5"}),
    )  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD_ROWS)
def test_a_bad_row_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {key: value for key, value in {"id": "q", "answer": "A", **change}.items() if value is not ...}
    with pytest.raises(DataError) as error:
        load_recorded(write(tmp_path, row))
    assert str(error.value).startswith(f"answers.jsonl:1: {message}")


def test_a_passage_may_name_its_page(tmp_path: Path) -> None:
    (row,) = load_recorded(write(tmp_path, {"id": 1, "answer": "A", "ranking": [{"id": "17", "page": "d"}]}))
    assert row.answer.ranking == Ranking((ScoredPassage("17", page="d"),))


def test_a_duplicate_answer_is_refused(tmp_path: Path) -> None:
    row: dict[str, object] = {"id": 1, "answer": "A", "system": "s", "noise_rate": 0.4, "passages": 5}
    again: dict[str, object] = {"passages": 5, "noise_rate": 0.40, "system": "s", "id": "1", "answer": "B"}
    message = (
        r"answers\.jsonl:3: an answer of the same system to the case '1' stands in line 1 already, wanted each once"
    )
    with pytest.raises(DataError, match=message):
        load_recorded(write(tmp_path, row, {**row, "system": "t"}, again))


def test_a_row_may_tell_only_the_sum_of_tokens(tmp_path: Path) -> None:
    (row,) = load_recorded(write(tmp_path, {"id": 1, "answer": "9:00", "usage": {"total_tokens": 90}}))
    assert row.answer.usage == Usage(total_tokens=90)


def test_a_row_may_hold_the_steps_of_its_run(tmp_path: Path) -> None:
    call = {"name": "search", "arguments": {"query": "museum"}, "result": [{"id": "d1", "text": "9:00"}]}
    trace = [{"kind": "tool", "detail": call}, {"kind": "thought"}]
    (row,) = load_recorded(write(tmp_path, {"id": 1, "answer": "9:00", "trace": trace}))
    assert row.answer.trace == (Step("tool", call), Step("thought"))
    assert row.where == {}


@pytest.mark.parametrize(("answer", "reason"), [("9:00", "finished"), ("", "step_limit")])
def test_a_row_may_hold_a_transcript(tmp_path: Path, answer: str, reason: str) -> None:
    text = "Thought 1: Look.\nAction 1: Search[museum]\nObservation 1: It opens at 9:00."
    call = {"name": "Search", "arguments": "museum", "result": "It opens at 9:00."}
    (row,) = load_recorded(write(tmp_path, {"id": 1, "answer": answer, "scratchpad": text}))
    assert row.answer.trace == (Step("thought", {"text": "Look."}), Step("tool", call), Step("end", {"reason": reason}))
    (row,) = load_recorded(write(tmp_path, {"id": 1, "answer": answer, "scratchpad": ""}))
    assert row.answer.trace == (Step("end", {"reason": reason}),)
