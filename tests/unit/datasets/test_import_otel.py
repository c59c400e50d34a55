"""``rageval import otel``: production traces become cases and recorded answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.datasets import jsonl
from pytest_rageval.datasets.recorded import load_recorded

ID = "5b8efff798038103d269b633813fc60c"


def span(number: int, parent: int = 0, *, trace: str = ID, failed: bool = False, **attributes: Any) -> dict[str, Any]:
    """Return a span in a collector's format; ``__`` in the name of an attribute becomes a dot."""
    texts = {
        key.replace("__", "."): value if isinstance(value, str) else json.dumps(value)
        for key, value in attributes.items()
    }
    return {
        "traceId": trace, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}", "status": {"code": 2, "message": "boom"} if failed else {},
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000),
        "endTimeUnixNano": str(1_700_000_000_900_000_000 - number * 1_000_000),
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()],
    }  # fmt: skip


def agent(question: str, answer: str, *, trace: str = ID, failed: bool = False) -> list[dict[str, Any]]:
    """Return the spans of a web request that contains an agent with a search and a model call."""
    documents = [{"id": "d1", "text": "Open from 9:00.", "score": 0.5}]
    question_messages = [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    answer_messages = [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]
    chat = {"gen_ai__input__messages": question_messages, "gen_ai__output__messages": answer_messages}
    return [
        span(1, trace=trace, http__route="/ask", session="s-7"),
        span(2, 1, trace=trace, gen_ai__operation__name="invoke_agent"),
        span(3, 2, trace=trace, gen_ai__operation__name="retrieval", gen_ai__retrieval__query__text="hours",
             gen_ai__retrieval__documents=documents),
        span(4, 2, trace=trace, failed=failed, gen_ai__operation__name="chat", **chat),
    ]  # fmt: skip


def line(spans: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "app"}, "spans": spans}]}]}


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def test_each_trace_is_a_case_with_its_passages_and_an_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *rest = agent("When?", "At 9:00.")
    write(folder / "traces.jsonl", line([first]), line(rest), line([span(9, trace="ff" * 16, http__route="/health")]))
    assert main(["import", "otel", "traces.jsonl"]) == 0
    (case,), (answer,) = rows(folder / "cases.jsonl"), rows(folder / "cases.answers.jsonl")
    assert case == {
        "id": ID, "question": "When?", "answers": ["At 9:00."], "trace_id": ID, "span_id": f"{1:016x}",
        "passages": [{"id": "d1", "text": "Open from 9:00."}],
    }  # fmt: skip
    (recorded,) = load_recorded(folder / "cases.answers.jsonl")
    assert [step.kind for step in recorded.answer.trace] == ["retrieve", "completion"]
    assert recorded.answer.ranking is not None
    assert recorded.answer.ranking.doc_ids == ("d1",)
    assert answer["usage"]["latency_s"] == pytest.approx(0.898)
    output = capsys.readouterr().out
    assert "1 cases have the answer of their trace as gold answer; check these answers" in output
    assert "1 traces contain no call of a model, a tool or a search" in output


def test_a_failed_trace_has_no_gold_answer_yet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, failed, graded = (f"{number:032x}" for number in (1, 2, 3))
    verdict = {
        "traceId": graded, "spanId": "1", "eventName": "gen_ai.evaluation.result",
        "attributes": [{"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "fail"}}],
    }  # fmt: skip
    write(
        folder / "traces.jsonl",
        line(agent("Good?", "yes", trace=good)),
        line(agent("Failed?", "no", trace=failed, failed=True)),
        line(agent("Judged?", "no", trace=graded)),
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [verdict]}]}]},
    )
    assert main(["import", "otel", "traces.jsonl", "--failed"]) == 0
    assert "2 cases of failed or unanswered traces have no gold answer yet" in capsys.readouterr().out
    cases = jsonl.load(folder / "cases.jsonl")
    assert [(case.question, case.gold) for case in cases] == [("Failed?", ()), ("Judged?", ())]


def test_an_attribute_names_the_cases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = "ee" * 16
    rest = agent("Where?", "There.", trace=other)
    rest[0]["attributes"] = []
    write(folder / "traces.jsonl", line(agent("When?", "At 9:00.")), line(rest))
    assert main(["import", "otel", "traces.jsonl", "--id-attribute", "session"]) == 1
    assert [case["id"] for case in rows(folder / "cases.jsonl")] == ["s-7"]
    assert f"left: traces.jsonl:2: trace {other}: no span has the attribute 'session'" in capsys.readouterr().out


QUESTION = {"role": "user", "content": "And on Sunday?"}
EARLIER = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "9:00"},
]


@pytest.mark.parametrize(
    ("attributes", "question", "answer", "history"),
    [
        ({"openinference__span__kind": "LLM", "input__value": "When?", "output__value": "9:00"}, "When?", "9:00", 0),
        (
            {"openinference__span__kind": "LLM", "input__value": {"messages": [*EARLIER, QUESTION]}, "output__value":
                {"generations": [[{"text": "", "generation_info": None, "message":
                    {"lc": 1, "kwargs": {"type": "ai", "content": "closed"}}}]]}},
            "And on Sunday?", "closed", 1,
        ),
        (
            {"traceloop__span__kind": "workflow", "gen_ai__operation__name": "chat",
             "traceloop__entity__input": {"inputs": {"question": "When?"}, "tags": []},
             "traceloop__entity__output": {"outputs": {"messages": [["ai", "9:00"]]}}},
            "When?", "9:00", 0,
        ),
        (
            {"gen_ai__operation__name": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "When?",
             "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "9:00"},
            "When?", "9:00", 0,
        ),
    ],
)  # fmt: skip
def test_questions_and_answers_are_read_in_each_convention(
    folder: Path, attributes: dict[str, Any], question: str, answer: str, history: int
) -> None:
    write(folder / "traces.jsonl", line([span(1, **attributes)]))
    main(["import", "otel", "traces.jsonl"])
    (case,) = rows(folder / "cases.jsonl")
    assert (case["question"], case["answers"]) == (question, [answer])
    assert case.get("history", []) == [{"question": "When?", "answer": "9:00"}] * history


def test_a_pretty_printed_file_and_a_folder_are_read(folder: Path) -> None:
    (folder / "one").mkdir()
    (folder / "one" / "a.json").write_text(json.dumps(line(agent("When?", "9:00")), indent=2), encoding="utf-8")
    assert main(["import", "otel", "one"]) == 0
    assert len(rows(folder / "cases.jsonl")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{broken", "traces.jsonl:1: invalid JSON"),
        ("[]", "none of 0 rows could be imported"),
        ('{"resourceSpans": []}', "none of 0 rows could be imported"),
        ("", "the file holds no record"),
    ],
)
def test_a_file_without_traces_is_refused_in_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "traces.jsonl").write_text(text, encoding="utf-8")
    assert main(["import", "otel", "traces.jsonl"]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "cases.jsonl").exists()


@pytest.mark.parametrize("events", [True, 5, "text", {"name": "text"}])
def test_malformed_events_of_a_span_are_skipped(folder: Path, events: Any) -> None:
    write(folder / "traces.jsonl", line([span | {"events": events} for span in agent("When?", "At nine.")]))
    assert main(["import", "otel", "traces.jsonl"]) == 0
    assert [row["question"] for row in rows(folder / "cases.jsonl")] == ["When?"]


def test_options_of_otel_are_refused_for_other_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "ragas", "x.jsonl", "--failed"]) == 2
    assert "--failed is for otel, not for ragas" in capsys.readouterr().err
