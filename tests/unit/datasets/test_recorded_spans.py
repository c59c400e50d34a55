"""Recorded answers that contain the spans of their run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets.recorded import Recorded, load_recorded
from pytest_rageval.errors import DataError

SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "chat",
    "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001500000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "7"}},
        {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "2"}},
    ],
}  # fmt: skip


def load(folder: Path, **row: Any) -> Recorded:
    path = folder / "answers.jsonl"
    path.write_text(json.dumps({"id": "q1", "answer": "a", **row}), encoding="utf-8")
    (recorded,) = load_recorded(path)
    return recorded


def test_spans_give_the_trace_the_tokens_and_the_time(tmp_path: Path) -> None:
    answer = load(tmp_path, spans=[SPAN]).answer
    assert [step.kind for step in answer.trace] == ["completion"]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.latency_s) == (7, 2, 1.5)
    assert answer.ranking is None


def test_spans_do_not_overwrite_the_usage_and_ranking_of_the_row(tmp_path: Path) -> None:
    answer = load(tmp_path, spans=[SPAN], usage={"prompt_tokens": 1}, ranking=[{"id": "d"}]).answer
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 1
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("d",)


@pytest.mark.parametrize("spans", ["text", 3, [{"name": "no span"}], {"resourceSpans": [{"x": 1}]}])
def test_invalid_spans_are_refused_with_their_line(tmp_path: Path, spans: Any) -> None:
    with pytest.raises(DataError, match=r"answers\.jsonl:1: spans: found .*, wanted spans in OTLP/JSON"):
        load(tmp_path, spans=spans)


def test_an_empty_list_of_spans_is_an_empty_trace(tmp_path: Path) -> None:
    assert load(tmp_path, spans=[]).answer.trace == ()
