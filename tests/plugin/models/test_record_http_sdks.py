"""The SDKs that users' systems ask models with, against a real server: recorded, replayed, charged to their cases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import run as run_process
from textwrap import dedent

import pytest
from support.servers.provider_server import ProviderServer

CASES = 16

MESSAGES = '[{"role": "user", "content": query.question}]'

SYSTEMS = {
    "openai": f"""
        import openai
        client = openai.OpenAI(base_url=BASE, api_key="sk-geheim")
        def answer(query):
            reply = client.chat.completions.create(model="gpt-4o-mini", messages={MESSAGES})
            return reply.choices[0].message.content
    """,
    "openai async": f"""
        import openai
        client = openai.AsyncOpenAI(base_url=BASE, api_key="sk-geheim")
        async def answer(query):
            reply = await client.chat.completions.create(model="gpt-4o-mini", messages={MESSAGES})
            return reply.choices[0].message.content
    """,
    "openai stream": f"""
        import openai
        client = openai.AsyncOpenAI(base_url=BASE, api_key="sk-geheim")
        async def answer(query):
            options = {{"include_usage": True}}
            stream = await client.chat.completions.create(
                model="gpt-4o-mini", messages={MESSAGES}, stream=True, stream_options=options)
            return "".join([part.choices[0].delta.content or "" async for part in stream if part.choices])
    """,
    "openai responses": """
        import openai
        client = openai.AsyncOpenAI(base_url=BASE, api_key="sk-geheim")
        async def answer(query):
            reply = await client.responses.create(model="gpt-4o-mini", input=query.question)
            return reply.output_text
    """,
    "openai responses stream": """
        import openai
        client = openai.OpenAI(base_url=BASE, api_key="sk-geheim")
        def answer(query):
            with client.responses.create(model="gpt-4o-mini", input=query.question, stream=True) as stream:
                return "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    """,
    "anthropic": f"""
        import anthropic
        client = anthropic.AsyncAnthropic(base_url=ROOT, api_key="sk-geheim")
        async def answer(query):
            reply = await client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages={MESSAGES})
            return reply.content[0].text
    """,
    "anthropic stream": f"""
        import anthropic
        client = anthropic.Anthropic(base_url=ROOT, api_key="sk-geheim")
        def answer(query):
            with client.messages.stream(model="claude-sonnet-4-5", max_tokens=9, messages={MESSAGES}) as stream:
                return "".join(stream.text_stream)
    """,
    "litellm": f"""
        import litellm
        async def answer(query):
            reply = await litellm.acompletion(
                "openai/gpt-4o-mini", messages={MESSAGES}, api_base=BASE, api_key="sk-geheim")
            return reply.choices[0].message.content
    """,
    "langchain_openai": """
        from langchain_openai import ChatOpenAI
        model = ChatOpenAI(model="gpt-4o-mini", base_url=BASE, api_key="sk-geheim")
        async def answer(query):
            return (await model.ainvoke(query.question)).content
    """,
}

CONFTEST = """
import pytest

BASE, ROOT = "{base}", "{root}"
{system}

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""

TEST = """
from pytest_rageval import rag_case

@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "cost_usd <= 1"])
def test_it(rag): ...
"""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(say=lambda body: f"{json.dumps(body).count('again')} of them, says Paris") as running:
        yield running


def session(folder: Path, *args: str) -> tuple[int, str]:
    """Run pytest in a process of its own, as the SDKs take seconds to import and keep clients of their own."""
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "--rag-json", "results.json", *args]
    env = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = run_process(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", SYSTEMS)
def test_sixteen_cases_at_once_are_recorded_charged_and_replayed(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    library = name.partition(" ")[0]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    system = dedent(SYSTEMS[name])
    (tmp_path / "conftest.py").write_text(CONFTEST.format(base=server.base_url, root=server.root, system=system))
    (tmp_path / "test_it.py").write_text(TEST)
    ini = "[pytest]\nrag_record_http = 127.0.0.1:*\nrag_concurrency = 16\n"
    (tmp_path / "pytest.ini").write_text(ini)
    rows = [
        {"id": f"q{number:02}", "question": f"Where is it{' again' * number}?", "answers": [f"{number} of them"]}
        for number in range(CASES)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    status, text = session(tmp_path, "--rag-record-mode", "once")
    assert status == 0, text
    assert len(server.requests) == CASES
    first = json.loads((tmp_path / "results.json").read_text())["outcomes"]
    cached = 4 if name.startswith("anthropic") else 0
    for outcome in first:
        calls = outcome["calls"]
        assert (calls["calls"], calls["prompt_tokens"]) == (1, 3 + int(outcome["case_id"][1:]) + cached)
        assert calls["completion_tokens"] == 5
        assert calls["cost_usd"] > 0
    (cassette,) = (tmp_path / "cassettes").iterdir()
    assert len(cassette.read_text().splitlines()) == CASES
    assert "geheim" not in cassette.read_text()

    status, text = session(tmp_path, "--rag-record-mode", "none")
    assert status == 0, text
    assert len(server.requests) == CASES
    again = json.loads((tmp_path / "results.json").read_text())["outcomes"]
    assert [each["answer"]["text"] for each in again] == [each["answer"]["text"] for each in first]
    assert {each["calls"]["replayed"] for each in again} == {1}
    assert [each["calls"]["cost_usd"] for each in again] == [each["calls"]["cost_usd"] for each in first]
