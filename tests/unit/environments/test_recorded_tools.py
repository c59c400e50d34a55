"""Calls of tools in the cassettes: recorded, replayed without a call, told apart by what came before."""

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
FOUND = ToolResult("(1 / 1) Rome", (ScoredPassage("p1", 0.5, "Rome is old.", "Rome", "rome"),), found=True)
CALLED: list[object] = []


@pytest.fixture(autouse=True)
def _none_called() -> None:
    CALLED.clear()


def ask(word: str) -> Any:
    """Return what the word stands for, or raise it."""
    CALLED.append(word)
    known: dict[str, Any] = {
        "found": FOUND,
        "documents": [{"text": "first", "id": "a"}],
        "number": 3,
        "times": f"call {len(CALLED)}",
        "fault": ValueError("no such page"),
        "invalid": InvalidArgumentsError("Write a title."),
        "down": ConnectionRefusedError("port 1"),
    }
    if isinstance(known[word], Exception):
        raise known[word]
    return known[word]


class Counter:
    """A tool with state: the environment is a class."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, number: int) -> int:
        CALLED.append(number)
        self.value += number
        return self.value


def observed(
    cassettes: Cassettes | None,
    *calls: tuple[str, Any],
    value: object = ask,
    repeat: int = 1,
    meter: Meter | None = None,
) -> list[Observation]:
    """Return what the calls of one case show."""

    async def case() -> list[Observation]:
        SCOPE.set(Scope(meter or Meter(), repeat, cassettes))
        environment = environment_of("desk", value, "here", record=True)
        with environment.open() as tools:
            return [await tools.run(name, arguments) for name, arguments in calls]

    return asyncio.run(case())


def replayed(folder: Path, *calls: tuple[str, Any], **options: Any) -> list[Observation]:
    """Return what the calls show if nothing may be called, and check that nothing was."""
    CALLED.clear()
    observations = observed(Cassettes(folder, "none"), *calls, **options)
    assert CALLED == []
    return observations


def shown(observations: list[Observation]) -> list[tuple[Any, ...]]:
    return [(each.text, each.result, each.passages, each.error, each.invalid, each.found) for each in observations]


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "tool-desk.jsonl").read_text().splitlines()]


def test_results_documents_faults_and_invalid_calls_are_replayed_as_they_were(tmp_path: Path) -> None:
    calls = [("ask", {"word": word}) for word in ("found", "documents", "number", "fault", "invalid")]
    meter, again = Meter(), Meter()
    live = observed(Cassettes(tmp_path, "all"), *calls, meter=meter)
    assert len(CALLED) == 5
    assert shown(live)[2:] == shown(observed(None, *calls))[2:]
    assert shown(replayed(tmp_path, *calls, meter=again)) == shown(live)
    assert live[0].passages[0].score == 0.5
    assert live[1].passages[0].doc_id == "a"
    assert (set(meter.keys), meter.replayed, again.replayed) == (set(again.keys), False, True)
    assert {record["key"] for record in records(tmp_path)} == set(meter.keys)


def test_a_record_names_the_environment_the_tool_and_its_arguments(tmp_path: Path) -> None:
    observed(Cassettes(tmp_path, "all"), ("ask", '{"word": "number"}'))
    (record,) = records(tmp_path)
    assert {name: record[name] for name in ("kind", "model", "messages", "response")} == {
        "kind": "tool", "model": "desk", "messages": {"tool": "ask", "arguments": {"word": "number"}},
        "response": {"result": 3},
    }  # fmt: skip


def test_what_no_tool_sees_is_not_recorded(tmp_path: Path) -> None:
    observed(Cassettes(tmp_path, "all"), ("jump", {}), ("ask", {}))
    assert not (tmp_path / "tool-desk.jsonl").exists()
    assert shown(replayed(tmp_path, ("jump", {}), ("ask", {})))[0][4]


def test_functions_without_state_are_distinguished_by_arguments_alone(tmp_path: Path) -> None:
    number, fault = ("ask", {"word": "number"}), ("ask", {"word": "fault"})
    observed(Cassettes(tmp_path, "all"), number, fault)
    assert shown(replayed(tmp_path, fault, number)) == shown(observed(None, fault, number))


def test_with_state_the_calls_before_count(tmp_path: Path) -> None:
    two, three = ("add", {"number": "2"}), ("add", {"number": 3})
    live = observed(Cassettes(tmp_path, "all"), two, three, two, value=Counter)
    assert [each.result for each in live] == [2, 5, 7]
    assert shown(replayed(tmp_path, two, three, two, value=Counter)) == shown(live)
    assert records(tmp_path)[0]["messages"].keys() <= {"tool", "arguments", "after"}
    assert sorted(len(record["messages"].get("after", [])) for record in records(tmp_path)) == [0, 1, 2]
    with pytest.raises(ModelError, match="no reply of environment 'desk' to this request is recorded"):
        observed(Cassettes(tmp_path, "none"), three, value=Counter)


def test_each_repeat_has_its_own_calls(tmp_path: Path) -> None:
    times = ("ask", {"word": "times"})
    cassettes = Cassettes(tmp_path, "all")
    assert [observed(cassettes, times, repeat=run)[0].text for run in (1, 2, 1)] == ["call 1", "call 2", "call 1"]
    assert [replayed(tmp_path, times, repeat=run)[0].text for run in (1, 2)] == ["call 1", "call 2"]


def test_cases_that_make_the_same_call_at_once_observe_the_same(tmp_path: Path) -> None:
    async def slow(word: str) -> str:
        CALLED.append(word)
        number = len(CALLED)
        await asyncio.sleep(0.05)
        return f"call {number}"

    async def case(environment: Environment) -> str:
        with environment.open() as tools:
            return (await tools.run("slow", {"word": "a"})).text

    async def both() -> list[str]:
        SCOPE.set(Scope(Meter(), 1, Cassettes(tmp_path, "all")))
        environment = environment_of("desk", slow, "here", record=True)
        return list(await asyncio.gather(case(environment), case(environment)))

    first, second = asyncio.run(both())
    assert first == second == replayed(tmp_path, ("slow", {"word": "a"}), value=slow)[0].text


def test_a_miss_is_an_error_in_vcrs_words_and_shows_the_difference(tmp_path: Path) -> None:
    observed(Cassettes(tmp_path, "all"), ("ask", {"word": "number"}))
    with pytest.raises(ModelError) as info:
        replayed(tmp_path, ("ask", {"word": "found"}))
    assert info.value.kind == "not_recorded"
    assert "no reply of environment 'desk' to this request is recorded (1 are in " in str(info.value)
    assert "ask and record it with --rag-record-mode new_episodes" in str(info.value)
    assert "-  number" in str(info.value)
    assert "+  found" in str(info.value)


def test_an_outage_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ToolUnavailableError):
        observed(Cassettes(tmp_path, "all"), ("ask", {"word": "down"}))
    assert not (tmp_path / "tool-desk.jsonl").exists()


def test_a_secret_is_masked_in_the_file_and_in_what_the_agent_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_API_KEY", "sk-6f1d2c9b8a7e")

    def tell(word: str) -> str:
        return f"{word}: sk-6f1d2c9b8a7e"

    call = ("tell", {"word": "the key is"})
    (live,) = observed(Cassettes(tmp_path, "all"), call, value=tell)
    assert "sk-6f1d2c9b8a7e" not in live.text + (tmp_path / "tool-desk.jsonl").read_text()
    assert shown(replayed(tmp_path, call, value=tell)) == shown([live])


@pytest.mark.parametrize("response", [{}, {"result": 1, "passages": [3]}, {"result": 1, "passages": 3}])
def test_a_recording_that_lacks_its_result_is_one_sentence(tmp_path: Path, response: dict[str, Any]) -> None:
    call = ("ask", {"word": "number"})
    observed(Cassettes(tmp_path, "all"), call)
    (record,) = records(tmp_path)
    (tmp_path / "tool-desk.jsonl").write_text(json.dumps({**record, "response": response}) + "\n")
    with pytest.raises(
        ModelError, match=r"^the recording \w{32} of environment 'desk' has no .*; delete it and record"
    ):
        replayed(tmp_path, call)


def test_the_list_of_a_servers_tools_is_recorded_once(tmp_path: Path) -> None:
    tools = [{"name": "find", "description": "", "parameters": {}}]

    def listed(mode: str, ask: Callable[[], list[Any]], repeat: int = 1) -> list[Any]:
        token = SCOPE.set(Scope(Meter(), repeat, Cassettes(tmp_path, mode)))
        try:
            return recorded_tools("crm", ask)
        finally:
            SCOPE.reset(token)

    assert listed("all", lambda: tools) == tools
    assert listed("none", pytest.fail, repeat=2) == tools
    (tmp_path / "tool-crm.jsonl").unlink()
    with pytest.raises(ModelError, match="no reply of environment 'crm'"):
        listed("none", pytest.fail)


def test_a_users_tool_in_a_list_is_recorded(tmp_path: Path) -> None:
    tool = Tool("find", "", {"properties": {"title": {"type": "string"}}}, lambda title: title.upper())
    call = ("find", {"title": "rome"})
    assert observed(Cassettes(tmp_path, "all"), call, value=[tool])[0].text == "ROME"
    assert replayed(tmp_path, call, value=[tool])[0].text == "ROME"
