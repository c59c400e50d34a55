"""The SDKs that users' systems ask models with, against a real server: recorded, replayed, charged to their cases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import run as run_process

import pytest
from support.servers.provider_server import ProviderServer

CASES = 16

SYSTEMS = """
from functools import cache
from importlib import import_module

BASE, ROOT, KEY = "{base}", "{root}", "sk-geheim"
OPENAI = dict(base_url=BASE, api_key=KEY)


@cache
def client(module, name, address=BASE):
    return getattr(import_module(module), name)(base_url=address, api_key=KEY)


def asked(query, model="gpt-4o-mini", **more):
    return dict(model=model, messages=[dict(role="user", content=query.question)], **more)


def openai_sync(query):
    return client("openai", "OpenAI").chat.completions.create(**asked(query)).choices[0].message.content


async def openai_async(query):
    reply = await client("openai", "AsyncOpenAI").chat.completions.create(**asked(query))
    return reply.choices[0].message.content


async def openai_stream(query):
    options = dict(stream=True, stream_options=dict(include_usage=True))
    stream = await client("openai", "AsyncOpenAI").chat.completions.create(**asked(query, **options))
    return "".join([part.choices[0].delta.content or "" async for part in stream if part.choices])


async def openai_responses(query):
    model = client("openai", "AsyncOpenAI")
    return (await model.responses.create(model="gpt-4o-mini", input=query.question)).output_text


def openai_responses_stream(query):
    with client("openai", "OpenAI").responses.create(model="gpt-4o-mini", input=query.question, stream=True) as stream:
        return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


async def anthropic_async(query):
    model = client("anthropic", "AsyncAnthropic", ROOT)
    return (await model.messages.create(**asked(query, "claude-sonnet-4-5", max_tokens=9))).content[0].text


def anthropic_stream(query):
    model = client("anthropic", "Anthropic", ROOT)
    with model.messages.stream(**asked(query, "claude-sonnet-4-5", max_tokens=9)) as stream:
        return "".join(stream.text_stream)


async def litellm_async(query):
    reply = await import_module("litellm").acompletion(**asked(query, "openai/gpt-4o-mini", api_base=BASE, api_key=KEY))
    return reply.choices[0].message.content


@cache
def chat_model():
    return import_module("langchain_openai").ChatOpenAI(model="gpt-4o-mini", base_url=BASE, api_key=KEY)


async def langchain_openai_async(query):
    return (await chat_model().ainvoke(query.question)).content
"""

LIBRARIES = {
    "openai": ("openai_sync", "openai_async", "openai_stream", "openai_responses", "openai_responses_stream"),
    "anthropic": ("anthropic_async", "anthropic_stream"),
    "litellm": ("litellm_async",),
    "langchain_openai": ("langchain_openai_async",),
}
"""Library -> the systems above that use it."""

TEST = """
from pytest_rageval import rag_case

@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy[system=*] >= 1", "cost_usd <= 1"])
def test_it(rag): ...
"""

INI = """
[pytest]
rag_record_http = 127.0.0.1:*
rag_concurrency = 16
rag_record_mode = none
pythonpath = .
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


def test_sixteen_cases_at_once_are_recorded_charged_and_replayed(server: ProviderServer, tmp_path: Path) -> None:
    """All installed libraries in one session: importing them takes most of its time, and litellm imports openai."""
    names = [name for library in LIBRARIES if find_spec(library) for name in LIBRARIES[library]]
    if not names:
        pytest.skip(f"none of {', '.join(LIBRARIES)} is installed")
    (tmp_path / "systems.py").write_text(SYSTEMS.format(base=server.base_url, root=server.root))
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text(INI)
    rows = [
        {"id": f"q{number:02}", "question": f"Where is it{' again' * number}?", "answers": [f"{number} of them"]}
        for number in range(CASES)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    systems = [argument for name in names for argument in ("--rag-system", f"systems:{name}")]

    status, text = session(tmp_path, *systems, "--rag-record-mode", "new_episodes")
    assert status == 0, text
    distinct = {body for _, _, body in server.requests}
    assert len(server.requests) == len(distinct)  # two systems that ask the same share a recording
    first = json.loads((tmp_path / "results.json").read_text())["outcomes"]
    assert len(first) == CASES * len(names)
    for outcome in first:
        calls, cached = outcome["calls"], 4 if "anthropic" in outcome["system"] else 0
        assert (calls["calls"], calls["prompt_tokens"]) == (1, 3 + int(outcome["case_id"][1:]) + cached)
        assert calls["completion_tokens"] == 5
        assert calls["cost_usd"] > 0
    (cassette,) = (tmp_path / "cassettes").iterdir()
    assert len(cassette.read_text().splitlines()) == len(distinct)
    assert "geheim" not in cassette.read_text()

    sent = len(server.requests)
    status, text = session(tmp_path, *systems)
    assert status == 0, text
    assert len(server.requests) == sent
    again = json.loads((tmp_path / "results.json").read_text())["outcomes"]
    assert [each["answer"]["text"] for each in again] == [each["answer"]["text"] for each in first]
    assert {each["calls"]["replayed"] for each in again} == {1}
    assert [each["calls"]["cost_usd"] for each in again] == [each["calls"]["cost_usd"] for each in first]
