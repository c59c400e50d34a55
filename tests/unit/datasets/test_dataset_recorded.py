"""Recorded answers in JSON Lines."""

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
    ({"trace": {"kind": "tool"}}, "trace: found an object, wanted a list of objects with kind and detail"),
    ({"trace": ["tool"]}, "trace[0]: found 'tool', wanted a list of objects with kind and detail"),
    ({"trace": [{"detail": {}}]}, "the field trace[0].kind is missing, wanted a string that is not empty"),
    ({"trace": [{"kind": "x", "detail": 3}]}, "trace[0].detail: found 3, wanted an object"),
    ({"trace": [{"kind": "x", "name": "y"}]}, "unknown key 'name' in trace[0]; known: detail, kind"),
    ({"trace": [{"kind": "tool"}]}, "the field trace[0].detail.name is missing, wanted a string"),
    ({"trace": [{"kind": "end", "detail": {"reason": "gave up"}}]}, "trace[0].detail.reason: found 'gave up', wanted"),
    ({"a\x1b[31m": None}, "a\\x1b[31m: found null, wanted a string, number or boolean: the value of a facet"),
    ({"noise_rate": [0.4]}, "noise_rate: found an array of 1, wanted a string, number or boolean"),
]  # fmt: skip


def write(tmp_path: Path, *rows: dict[str, object]) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_every_field_of_the_fixture_is_loaded(fixtures_dir: Path) -> None:
    passage = ScoredPassage("d7", 2.5, "Opened 1931.")
    assert load_recorded(fixtures_dir / "datasets" / "recorded.jsonl") == (
        Recorded(
            "aliases",
            "reader",
            Answer(
                "It opened in 1931.",
                Ranking((passage, ScoredPassage("d9", 1.0, "", "Harrow"), ScoredPassage("3"))),
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


def test_a_trace_holds_nested_steps(tmp_path: Path) -> None:
    detail = {"name": "search", "arguments": {"titles": ["A", {"x": None}]}, "passages": [{"id": "a", "text": "A."}]}
    (row,) = load_recorded(
        write(tmp_path, {"id": 1, "answer": "A", "trace": [{"kind": "tool", "detail": detail}, {"kind": "mine"}]})
    )
    assert row.answer.trace == (Step("tool", detail), Step("mine"))


def test_a_duplicate_answer_is_refused(tmp_path: Path) -> None:
    row: dict[str, object] = {"id": 1, "answer": "A", "system": "s", "noise_rate": 0.4, "passages": 5}
    duplicate: dict[str, object] = {"passages": 5, "noise_rate": 0.40, "system": "s", "id": "1", "answer": "B"}
    message = r"answers\.jsonl:3: an answer of the same system to the case '1' is already in line 1, wanted each once"
    with pytest.raises(DataError, match=message):
        load_recorded(write(tmp_path, row, {**row, "system": "t"}, duplicate))
