"""Calls of SDKs to a real server are recorded, replayed and charged to their cases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
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


def body(query, model="gpt-4o-mini", **more):
    return dict(model=model, messages=[dict(role="user", content=query.question)], **more)


def openai_sync(query):
    return client("openai", "OpenAI").chat.completions.create(**body(query)).choices[0].message.content


async def openai_async(query):
    reply = await client("openai", "AsyncOpenAI").chat.completions.create(**body(query))
    return reply.choices[0].message.content


async def openai_stream(query):
    options = dict(stream=True, stream_options=dict(include_usage=True))
    stream = await client("openai", "AsyncOpenAI").chat.completions.create(**body(query, **options))
    return "".join([part.choices[0].delta.content or "" async for part in stream if part.choices])


async def openai_responses(query):
    model = client("openai", "AsyncOpenAI")
    return (await model.responses.create(model="gpt-4o-mini", input=query.question)).output_text


def openai_responses_stream(query):
    with client("openai", "OpenAI").responses.create(model="gpt-4o-mini", input=query.question, stream=True) as stream:
        return "".join(event.delta for event in stream if event.type == "response.output_text.delta")


async def anthropic_async(query):
    model = client("anthropic", "AsyncAnthropic", ROOT)
    return (await model.messages.create(**body(query, "claude-sonnet-4-5", max_tokens=9))).content[0].text


def anthropic_stream(query):
    model = client("anthropic", "Anthropic", ROOT)
    with model.messages.stream(**body(query, "claude-sonnet-4-5", max_tokens=9)) as stream:
        return "".join(stream.text_stream)


async def litellm_async(query):
    reply = await import_module("litellm").acompletion(**body(query, "openai/gpt-4o-mini", api_base=BASE, api_key=KEY))
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


SESSIONS = """
import json, os, sys
from importlib import import_module

libraries, runs = map(json.loads, sys.argv[1:])
for library in libraries:
    import_module(library)
for number, arguments in enumerate(runs):
    child = os.fork()
    if not child:
        output = os.open(f"output{number}.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = import_module("pytest").main(["-p", "no:randomly", *arguments])
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(say=lambda body: f"{json.dumps(body).count('again')} of them, says Paris") as running:
        yield running


def sessions(folder: Path, libraries: Sequence[str], *runs: Sequence[str]) -> list[tuple[int, str]]:
    """Run pytest once for each of ``runs``, in processes forked from one that has imported the libraries.

    The SDKs take seconds to import and keep clients of their own.
    """
    process = run_process(
        [sys.executable, "-c", SESSIONS, json.dumps(libraries), json.dumps(runs)],
        cwd=folder, env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    outputs = (folder.joinpath(f"output{number}.txt").read_text(encoding="utf-8") for number in range(len(runs)))
    return list(zip(map(int, process.stdout.split()), outputs, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process that has imported the SDKs")
def test_sixteen_cases_at_once_are_recorded_charged_and_replayed(server: ProviderServer, tmp_path: Path) -> None:
    """All installed libraries run in one session, because imports take most of the time."""
    installed = [library for library in LIBRARIES if find_spec(library)]
    names = [name for library in installed for name in LIBRARIES[library]]
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

    recording = [*systems, "--rag-record-mode", "new_episodes", "--rag-json", "first.json"]
    for status, text in sessions(tmp_path, installed, recording, [*systems, "--rag-json", "again.json"]):
        assert status == 0, text
    distinct = {body for _, _, body in server.requests}
    assert len(server.requests) == len(
        distinct
    )  # systems with equal requests share a recording; the replay asks nothing
    first, again = (json.loads((tmp_path / name).read_text())["outcomes"] for name in ("first.json", "again.json"))
    assert len(first) == CASES * len(names)
    for outcome in first:
        calls, cached = outcome["calls"], 4 if "anthropic" in outcome["system"] else 0
        assert (calls["calls"], calls["prompt_tokens"]) == (1, 3 + int(outcome["case_id"][1:]) + cached)
        assert calls["completion_tokens"] == 5
        assert calls["cost_usd"] > 0
    (cassette,) = (tmp_path / "cassettes").iterdir()
    assert len(cassette.read_text().splitlines()) == len(distinct)
    assert "geheim" not in cassette.read_text()

    assert [each["answer"]["text"] for each in again] == [each["answer"]["text"] for each in first]
    assert {each["calls"]["replayed"] for each in again} == {1}
    assert [each["calls"]["cost_usd"] for each in again] == [each["calls"]["cost_usd"] for each in first]
