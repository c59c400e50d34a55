"""Recordings of tool calls: write, replay, and keys without the random ids of a provider."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.servers.openai_replies import calls_of_tools
from support.servers.openai_server import OpenAIServer

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.named_model import NamedModel
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.testing import ScriptedLLM

STORED = Path(__file__).parents[3] / "fixtures" / "stored" / "cassettes"
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
QUESTION: Message = {"role": "user", "content": "Where is Orsay?"}


def client(backend: Any, folder: Path, mode: str = "new_episodes", **params: object) -> Client:
    cassettes = Cassettes(folder, mode)
    return Client(
        backend,
        name="openai/m",
        params={"temperature": 0, **params},
        limiter=Limiter(4),
        retry=RetryPolicy(1),
        cassettes=cassettes,
    )


def run_agent(model: Client) -> list[Completion]:
    """Offer a tool and run its calls until a reply has no tool call."""

    async def run() -> list[Completion]:
        messages, replies = [QUESTION], list[Completion]()
        while not replies or replies[-1].tool_calls:
            reply = await model.complete(messages, tools=TOOLS)
            replies.append(reply)
            messages.append(reply.message)
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": f"found {call.arguments}"}
                for call in reply.tool_calls
            ]
        await model.close()
        return replies

    return asyncio.run(run())


def serve_an_agent(openai_server: OpenAIServer) -> None:
    """Let the server call tools in two replies, then answer."""

    def reply(body: dict[str, Any]) -> Any:
        results = sum(message["role"] == "tool" for message in body["messages"])
        if results >= 3:
            return "In Paris."
        calls = [("search", '{"title": "Orsay"}'), ("search", '{"title": "Paris"}')][: 2 - results]
        return calls_of_tools(body, *(calls or [("search", "{}")]))

    openai_server.reply = reply


def test_an_agents_calls_are_recorded_and_replay_without_the_network(
    openai_server: OpenAIServer, tmp_path: Path
) -> None:
    serve_an_agent(openai_server)
    connection = {"api_base": openai_server.base_url, "api_key": "sk-test"}
    first = run_agent(client(NamedModel("openai/m"), tmp_path, **connection))
    assert [len(reply.tool_calls) for reply in first] == [2, 1, 0]
    replies = run_agent(client(ScriptedLLM([]), tmp_path, "none", **connection))
    assert [(reply.text, reply.tool_calls, reply.replayed) for reply in replies] == [
        (reply.text, reply.tool_calls, True) for reply in first
    ]
    assert len(openai_server.requests) == 3


def test_a_recording_replays_although_tool_call_ids_are_random(openai_server: OpenAIServer, tmp_path: Path) -> None:
    serve_an_agent(openai_server)
    connection = {"api_base": openai_server.base_url, "api_key": "sk-test"}
    run_agent(client(NamedModel("openai/m"), tmp_path, **connection))
    (file,) = tmp_path.iterdir()
    lines = file.read_text(encoding="utf-8").splitlines()
    assert not any(re.search("call_[0-9a-f]{16}", json.dumps(json.loads(line)["messages"])) for line in lines)
    later_lines = [line for line in lines if json.loads(line)["messages"] != [QUESTION]]
    file.write_text("".join(f"{line}\n" for line in later_lines), encoding="utf-8")  # drop the first request
    openai_server.requests.clear()
    replies = run_agent(client(NamedModel("openai/m"), tmp_path, **connection))
    assert [reply.replayed for reply in replies] == [False, True, True]
    assert len(openai_server.requests) == 1


def test_a_provider_gets_its_own_ids_back(openai_server: OpenAIServer, tmp_path: Path) -> None:
    serve_an_agent(openai_server)
    replies = run_agent(client(NamedModel("openai/m"), tmp_path, api_base=openai_server.base_url, api_key="sk-test"))
    sent = openai_server.requests[1].body["messages"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == [call.id for call in replies[0].tool_calls]
    assert [message["tool_call_id"] for message in sent[2:]] == [call.id for call in replies[0].tool_calls]


def key(messages: Sequence[Any], kind: str = "model") -> str:
    return Request(kind, "m", {}, messages, 1).key


def test_ids_are_numbered_in_the_order_in_which_they_appear() -> None:
    reply = Completion("", tool_calls=(ToolCall("x", "a"), ToolCall("y", "b"))).message
    results = [{"role": "tool", "tool_call_id": each, "content": each.upper()} for each in ("y", "x")]
    request = Request("model", "m", {}, [QUESTION, reply, *results], 1)
    assert [call["id"] for call in request.messages[1]["tool_calls"]] == ["c1", "c2"]
    assert [(each["tool_call_id"], each["content"]) for each in request.messages[2:]] == [("c2", "Y"), ("c1", "X")]
    assert reply["tool_calls"][0]["id"] == "x"


def test_tool_results_in_another_order_make_another_request() -> None:
    reply = Completion("", tool_calls=(ToolCall("x", "a"), ToolCall("y", "b"))).message
    one, other = ({"role": "tool", "tool_call_id": each, "content": "same"} for each in "xy")
    assert key([reply, one, other]) != key([reply, other, one])


def test_ids_are_renumbered_only_in_conversations() -> None:
    argument = {"tool_call_id": "x"}
    assert Request("system", "f", {}, [argument], 1).messages == [argument]
    assert Request("embedding", "m", {}, ["a text"], 1).messages == ["a text"]
    odd = [{"tool_calls": None, "tool_call_id": 3}, {"tool_calls": ["x"]}, "text"]
    assert Request("model", "m", {}, odd, 1).messages == odd


def test_a_cassette_older_than_tool_calls_replays_with_the_same_keys(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STORED, tmp_path / "cassettes"))
    model = client(ScriptedLLM([]), folder, "none", api_base="http://127.0.0.1:9/v1", api_key="sk-other")
    later = [
        {"role": "system", "content": "Answer briefly."},
        QUESTION,
        {"role": "assistant", "content": "In Paris."},
        {"role": "user", "content": "And the Louvre?"},
    ]

    async def run() -> list[Completion]:
        return [
            await model.complete([QUESTION]),
            await model.complete(later, stop=["\n"]),
            await model.complete([QUESTION], tools=TOOLS),
        ]

    replies = asyncio.run(run())
    assert [(reply.text, reply.finish_reason, reply.tool_calls) for reply in replies] == [
        ("In Paris.", "stop", ()),
        ("In Paris.", "stop", ()),
        ("", "tool_calls", ()),
    ]
    model._cassettes.close()  # type: ignore[union-attr]
    assert (folder / "model-openai--m.jsonl").read_bytes() == (STORED / "model-openai--m.jsonl").read_bytes()


def test_malformed_tool_calls_in_a_recording_give_one_sentence(tmp_path: Path) -> None:
    backend = ScriptedLLM([ToolCall("x", "search", "{}")])
    asyncio.run(client(backend, tmp_path).complete([QUESTION], tools=TOOLS))
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text(encoding="utf-8").replace('"arguments": "{}"', '"arguments": 3'), encoding="utf-8")
    with pytest.raises(ModelError, match="has no 'tool_calls'; delete it and record it again"):
        asyncio.run(client(ScriptedLLM([]), tmp_path, "none").complete([QUESTION], tools=TOOLS))


def test_secrets_in_arguments_are_masked_live_and_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-verysecret-0123456789")
    call = ToolCall("x", "search", '{"title": "sk-verysecret-0123456789"}')
    live = asyncio.run(client(ScriptedLLM([call]), tmp_path).complete([QUESTION], tools=TOOLS))
    replayed = asyncio.run(client(ScriptedLLM([]), tmp_path, "none").complete([QUESTION], tools=TOOLS))
    assert live.tool_calls == replayed.tool_calls
    assert "verysecret" not in live.tool_calls[0].arguments
    (file,) = tmp_path.iterdir()
    assert "verysecret" not in file.read_text(encoding="utf-8")
