"""Convert real dumps of one agent under four instrumentations; its script fixes the figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.otel import import_rows
from pytest_rageval.datasets.recorded import load_recorded, read_recorded
from pytest_rageval.trace.otel.convert import convert
from pytest_rageval.trace.otel.spans import spans_in
from pytest_rageval.trace.steps import end_reason, model_calls, tool_calls

DUMPS = [
    ("spans_pydantic_ai.json", 4, 123, 18, 0),
    ("spans_langgraph_openinference.json", 16, 30, 11, 1),
    ("spans_langgraph_traceloop.json", 18, 30, 11, 1),
    ("spans_openai_agents.json", 7, 20, 10, 0),
]


@pytest.mark.parametrize(("name", "number", "sent", "received", "retrievals"), DUMPS)
def test_a_dump_gives_its_steps_tokens_and_ranking(
    rageval_data: Path, tmp_path: Path, name: str, number: int, sent: int, received: int, retrievals: int
) -> None:
    dump = json.loads((rageval_data / "systems" / "traces" / name).read_text(encoding="utf-8"))
    spans = spans_in(dump)
    assert len(spans) == number
    converted = convert(spans)
    trace = converted.steps
    assert len(model_calls(trace)) == 2
    (tool,) = tool_calls(trace)
    assert (tool.detail["name"], tool.detail["arguments"]) == ("search", {"query": "museum opening"})
    retrieve_steps = [step for step in trace if step.kind == "retrieve"]
    assert len(retrieve_steps) == retrievals
    assert all(trace[step.detail["parent"]] is tool for step in retrieve_steps)
    assert converted.ranking is not None
    assert converted.ranking.doc_ids == ("hours#1",)
    assert "9:00" in converted.ranking[0].text
    assert "9:00" in json.dumps(tool.detail["result"])
    assert end_reason(trace) == "finished"
    usage = converted.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (sent, received)

    row = {"id": "q1", "answer": "It opens at 9:00.", "spans": dump}
    (tmp_path / "answers.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (recorded,) = load_recorded(tmp_path / "answers.jsonl")
    answer = recorded.answer
    assert (answer.trace, answer.ranking, answer.usage) == (trace, converted.ranking, usage)


@pytest.mark.parametrize("name", [name for name, *_ in DUMPS[:3]])
def test_a_dump_becomes_a_case_with_its_passages(rageval_data: Path, name: str) -> None:
    imported = ImportResult()
    import_rows(ImportRequest((rageval_data / "systems" / "traces" / name,)), imported)
    (case,), (answer,) = imported.cases, imported.answers
    assert imported.skipped == []
    assert (case["question"], case["answers"]) == ("When does the museum open?", ["It opens at 9:00."])
    assert case["passages"] == [{"id": "hours#1", "text": "The museum opens at 9:00."}]
    assert answer["answer"] == "It opens at 9:00."
    recorded = read_recorded(Fields("here:1", answer)).answer
    assert [step.kind for step in recorded.trace if step.kind != "retrieve"] == ["completion", "tool", "completion"]


def test_a_dump_without_contents_is_skipped_with_a_reason(rageval_data: Path) -> None:
    imported = ImportResult()
    import_rows(ImportRequest((rageval_data / "systems" / "traces" / "spans_openai_agents.json",)), imported)
    assert imported.cases == []
    ((_, why),) = imported.skipped
    assert "no question was recorded" in why
