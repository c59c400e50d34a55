"""Calls of tools in cassettes: recorded, replayed without a call, and distinguished by earlier calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.environments.environment import Environment
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.environments.outages import ToolUnavailableError
from pytest_rageval.environments.recorded_tools import recorded_tools
from pytest_rageval.environments.tool import InvalidArgumentsError, Observation, Tool, ToolResult
from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.ranking import ScoredPassage

Calls = list[tuple[str, Any]]
ROME_RESULT = ToolResult("(1 / 1) Rome", (ScoredPassage("p1", 0.5, "Rome is old.", "Rome", "rome"),), found=True)
CALL_LOG: list[object] = []


@pytest.fixture(autouse=True)
def _empty_call_log() -> None:
    CALL_LOG.clear()


def ask(word: str) -> Any:
    """Return the result for the word, or raise it if it is an exception."""
    CALL_LOG.append(word)
    results: dict[str, Any] = {
        "found": ROME_RESULT,
        "documents": [{"text": "first", "id": "a"}],
        "number": 3,
        "times": f"call {len(CALL_LOG)}",
        "fault": ValueError("no such page"),
        "invalid": InvalidArgumentsError("Write a title."),
        "down": ConnectionRefusedError("port 1"),
    }
    if isinstance(results[word], Exception):
        raise results[word]
    return results[word]


class Counter:
    """A tool with state: the environment is a class."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, number: int) -> int:
        CALL_LOG.append(number)
        self.value += number
        return self.value


def observe(
    cassettes: Cassettes | None,
    *calls: tuple[str, Any],
    value: object = ask,
    repeat: int = 1,
    meter: Meter | None = None,
) -> list[Observation]:
    """Return the observations of the calls of one case."""

    async def case() -> list[Observation]:
        SCOPE.set(Scope(meter or Meter(), repeat, cassettes))
        environment = environment_of("desk", value, "here", record=True)
        with environment.open() as tools:
            return [await tools.run(name, arguments) for name, arguments in calls]

    return asyncio.run(case())


def replay(folder: Path, *calls: tuple[str, Any], **options: Any) -> list[Observation]:
    """Return the observations of a replay, and check that it called no tool."""
    CALL_LOG.clear()
    observations = observe(Cassettes(folder, "none"), *calls, **options)
    assert CALL_LOG == []
    return observations


def fields_of(observations: list[Observation]) -> list[tuple[Any, ...]]:
    return [(each.text, each.result, each.passages, each.error, each.invalid, each.found) for each in observations]


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "tool-desk.jsonl").read_text().splitlines()]


def test_results_documents_errors_and_invalid_calls_are_replayed_unchanged(tmp_path: Path) -> None:
    calls = [("ask", {"word": word}) for word in ("found", "documents", "number", "fault", "invalid")]
    meter, replay_meter = Meter(), Meter()
    live = observe(Cassettes(tmp_path, "all"), *calls, meter=meter)
    assert len(CALL_LOG) == 5
    assert fields_of(live)[2:] == fields_of(observe(None, *calls))[2:]
    assert fields_of(replay(tmp_path, *calls, meter=replay_meter)) == fields_of(live)
    assert live[0].passages[0].score == 0.5
    assert live[1].passages[0].doc_id == "a"
    assert (set(meter.keys), meter.replayed, replay_meter.replayed) == (set(replay_meter.keys), False, True)
    assert {record["key"] for record in records(tmp_path)} == set(meter.keys)


def test_a_record_names_the_environment_the_tool_and_its_arguments(tmp_path: Path) -> None:
    observe(Cassettes(tmp_path, "all"), ("ask", '{"word": "number"}'))
    (record,) = records(tmp_path)
    assert {name: record[name] for name in ("kind", "model", "messages", "response")} == {
        "kind": "tool", "model": "desk", "messages": {"tool": "ask", "arguments": {"word": "number"}},
        "response": {"result": 3},
    }  # fmt: skip


def test_calls_that_reach_no_tool_are_not_recorded(tmp_path: Path) -> None:
    observe(Cassettes(tmp_path, "all"), ("jump", {}), ("ask", {}))
    assert not (tmp_path / "tool-desk.jsonl").exists()
    assert fields_of(replay(tmp_path, ("jump", {}), ("ask", {})))[0][4]


def test_calls_of_functions_are_distinguished_only_by_arguments(tmp_path: Path) -> None:
    number, failure = ("ask", {"word": "number"}), ("ask", {"word": "fault"})
    observe(Cassettes(tmp_path, "all"), number, failure)
    assert fields_of(replay(tmp_path, failure, number)) == fields_of(observe(None, failure, number))


def test_calls_of_tools_with_state_are_distinguished_by_earlier_calls(tmp_path: Path) -> None:
    two, three = ("add", {"number": "2"}), ("add", {"number": 3})
    live = observe(Cassettes(tmp_path, "all"), two, three, two, value=Counter)
    assert [each.result for each in live] == [2, 5, 7]
    assert fields_of(replay(tmp_path, two, three, two, value=Counter)) == fields_of(live)
    assert records(tmp_path)[0]["messages"].keys() <= {"tool", "arguments", "after"}
    assert sorted(len(record["messages"].get("after", [])) for record in records(tmp_path)) == [0, 1, 2]
    with pytest.raises(ModelError, match="no reply of environment 'desk' to this request is recorded"):
        observe(Cassettes(tmp_path, "none"), three, value=Counter)


def test_each_repeat_has_separate_calls(tmp_path: Path) -> None:
    times = ("ask", {"word": "times"})
    cassettes = Cassettes(tmp_path, "all")
    assert [observe(cassettes, times, repeat=run)[0].text for run in (1, 2, 1)] == ["call 1", "call 2", "call 1"]
    assert [replay(tmp_path, times, repeat=run)[0].text for run in (1, 2)] == ["call 1", "call 2"]


def test_concurrent_cases_with_the_same_call_get_the_same_observation(tmp_path: Path) -> None:
    async def slow(word: str) -> str:
        CALL_LOG.append(word)
        number = len(CALL_LOG)
        await asyncio.sleep(0.05)
        return f"call {number}"

    async def case(environment: Environment) -> str:
        with environment.open() as tools:
            return (await tools.run("slow", {"word": "a"})).text

    async def run_two_cases() -> list[str]:
        SCOPE.set(Scope(Meter(), 1, Cassettes(tmp_path, "all")))
        environment = environment_of("desk", slow, "here", record=True)
        return list(await asyncio.gather(case(environment), case(environment)))

    first, second = asyncio.run(run_two_cases())
    assert first == second == replay(tmp_path, ("slow", {"word": "a"}), value=slow)[0].text


def test_a_missing_recording_is_an_error_that_shows_the_difference(tmp_path: Path) -> None:
    observe(Cassettes(tmp_path, "all"), ("ask", {"word": "number"}))
    with pytest.raises(ModelError) as info:
        replay(tmp_path, ("ask", {"word": "found"}))
    assert info.value.kind == "not_recorded"
    assert "no reply of environment 'desk' to this request is recorded (1 are in " in str(info.value)
    assert "ask and record it with --rag-record-mode new_episodes" in str(info.value)
    assert "-  number" in str(info.value)
    assert "+  found" in str(info.value)


def test_an_outage_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ToolUnavailableError):
        observe(Cassettes(tmp_path, "all"), ("ask", {"word": "down"}))
    assert not (tmp_path / "tool-desk.jsonl").exists()


def test_a_secret_is_masked_in_the_file_and_in_the_observation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_API_KEY", "sk-6f1d2c9b8a7e")

    def tell(word: str) -> str:
        return f"{word}: sk-6f1d2c9b8a7e"

    call = ("tell", {"word": "the key is"})
    (live,) = observe(Cassettes(tmp_path, "all"), call, value=tell)
    assert "sk-6f1d2c9b8a7e" not in live.text + (tmp_path / "tool-desk.jsonl").read_text()
    assert fields_of(replay(tmp_path, call, value=tell)) == fields_of([live])


@pytest.mark.parametrize("response", [{}, {"result": 1, "passages": [3]}, {"result": 1, "passages": 3}])
def test_a_recording_that_lacks_its_result_is_one_sentence(tmp_path: Path, response: dict[str, Any]) -> None:
    call = ("ask", {"word": "number"})
    observe(Cassettes(tmp_path, "all"), call)
    (record,) = records(tmp_path)
    (tmp_path / "tool-desk.jsonl").write_text(json.dumps({**record, "response": response}) + "\n")
    with pytest.raises(
        ModelError, match=r"^the recording \w{32} of environment 'desk' has no .*; delete it and record"
    ):
        replay(tmp_path, call)


def test_the_list_of_tools_of_a_server_is_recorded_once(tmp_path: Path) -> None:
    tools = [{"name": "find", "description": "", "parameters": {}}]

    def list_tools(mode: str, ask: Callable[[], list[Any]], repeat: int = 1) -> list[Any]:
        token = SCOPE.set(Scope(Meter(), repeat, Cassettes(tmp_path, mode)))
        try:
            return recorded_tools("crm", ask)
        finally:
            SCOPE.reset(token)

    assert list_tools("all", lambda: tools) == tools
    assert list_tools("none", pytest.fail, repeat=2) == tools
    (tmp_path / "tool-crm.jsonl").unlink()
    with pytest.raises(ModelError, match="no reply of environment 'crm'"):
        list_tools("none", pytest.fail)


def test_a_custom_tool_in_a_list_is_recorded(tmp_path: Path) -> None:
    tool = Tool("find", "", {"properties": {"title": {"type": "string"}}}, lambda title: title.upper())
    call = ("find", {"title": "rome"})
    assert observe(Cassettes(tmp_path, "all"), call, value=[tool])[0].text == "ROME"
    assert replay(tmp_path, call, value=[tool])[0].text == "ROME"
