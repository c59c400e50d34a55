"""A project for the page of `rageval play`: a corpus, cases, systems that wait, block and fail, and a stored run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from support.processes.forked_workers import shared_server
from support.servers.page_process import PLAY, PageProcess

__all__ = ["FILES", "PlayPage", "events_of", "play_project", "run_tests", "slow_project"]

ROOT = Path(__file__).parents[3]

FILES = {
    "pyproject.toml": """
        [tool.pytest.ini_options]
        testpaths = ["tests"]
        pythonpath = ["."]
        rag_corpus = ["docs/*.md"]
        rag_chunking = "sections"
        rag_top_k = 3
        rag_systems = [
            "steps: desk:steps", "blocking: desk:blocking", "failing: desk:failing", "large: desk:large",
            "deaf: desk:deaf", "turns: desk:turns", "loud: desk:loud", "secret: desk:secret",
        ]
    """,
    "docs/visit.md": """
        # Museum
        The museum opens at 9:00 every day.

        # Castle
        The castle opens at 10:30 and closes at 18:00.

        # Harbour
        Boats leave the harbour every hour.
    """,
    "docs/forms.md": """
        # Forms
        The feedback form is at https://x.org/?token=abcdef for all.
    """,
    "desk.py": """
        import asyncio, json, time
        from pathlib import Path
        from pytest_rageval import Answer, Ranking, ScoredPassage, tracing

        SEEN = Path(__file__).with_name("seen.jsonl")

        @tracing.tool
        async def look(what):
            return f"looked for {what}"

        async def steps(query):
            with SEEN.open("a") as file:
                file.write(repr(query) + "\\n")
            await look("one")
            if "wait" in query.question:
                await asyncio.sleep(60)
            await look("two")
            return "It opens at 9:00."

        def blocking(query):
            time.sleep(9)
            return "late"

        def failing(query):
            raise KeyError("no such desk")

        def large(query):
            passages = [ScoredPassage(f"p{at}", 1.0, f"text {at}") for at in range(1000)]
            return Answer("word " * 1_000_000, ranking=Ranking(tuple(passages)))

        def deaf(query):
            return Answer("always the same", ranking=Ranking((ScoredPassage("own", 1.0, "its own text"),)))

        def turns(query):
            return f"turn {len(query.history) + 1}: {query.question}"

        def loud(query):
            return Answer(HOSTILE, ranking=Ranking((ScoredPassage("p", 1.0, HOSTILE, HOSTILE),)))

        def secret(query):
            if "fail" in query.question:
                raise KeyError('see "https://x.org/?token=abcdef" now')
            return 'see "https://x.org/?token=abcdef" now'

        HOSTILE = "<script>document.title='taken'</script> {question} a\\u202eb c\\x00d " + "x" * 200_000
    """,
    "tests/conftest.py": """
        import pytest

        @pytest.fixture(scope="session")
        def greeting():
            return "hello"
    """,
    "tests/town.rag.toml": """
        [[testbed]]
        name = "town"
        dataset = "jsonl:cases.jsonl"
        metrics = ["accuracy", "token_f1"]
        gates = ["accuracy >= 0.1"]
    """,
}

CASES: list[dict[str, Any]] = [
    {
        "id": "museum",
        "question": "When does the museum open?",
        "answers": ["9:00"],
        "topic": "Hours",
        "evidence": [{"page": "docs/visit.md", "quote": "opens at 9:00"}],
    },
    {"id": "boats", "question": "How often do boats leave?", "answers": ["every two hours"], "topic": "Boats"},
    {
        "id": "castle",
        "question": "When does the castle open?",
        "answers": ["10:30"],
        "topic": "Hours",
        "passages": [
            {"id": "wrong", "text": "The castle opens at 11:00.", "role": "counterfactual"},
            {"id": "right", "text": "The castle opens at 10:30.", "role": "positive"},
            {"id": "noise", "text": "The castle is old.", "role": "negative"},
        ],
    },
]


def play_project(folder: Path, **more: str) -> Path:
    """Write the project into a folder, with further or other files, and return the folder."""
    for name, text in {**FILES, **more}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        path.write_text("\n".join(line[indent:] for line in lines).rstrip() + "\n", encoding="utf-8")
    cases = "".join(json.dumps(case) + "\n" for case in CASES)
    (folder / "tests" / "cases.jsonl").write_text(cases, encoding="utf-8")
    return folder


SLOW = """
    import asyncio
    from pathlib import Path

    LOG = Path(__file__).with_name("log.txt")

    def note(what):
        with LOG.open("a") as file:
            file.write(what + "\\n")

    async def slow(query):
        note("asked")
        try:
            await asyncio.sleep(60 if len(LOG.read_text().split()) > 3 else 0)
        except asyncio.CancelledError:
            note("cancelled")
            raise
        return "12 euros" if query.passages else "6 euros"
"""


def slow_project(folder: Path) -> Path:
    """Write a project with one case, which misses with its passages; its system answers three requests, then waits."""
    ini = FILES["pyproject.toml"].replace("rag_top_k", 'rag_system = "slow:slow"\n        rag_top_k')
    project = play_project(folder, **{"pyproject.toml": ini, "slow.py": SLOW})
    passages = [{"id": f"p{at}", "text": f"Ask https://x.org/?token=abcdef{at}."} for at in range(3)]
    case = {"id": "ticket", "question": "How much?", "answers": ["6 euros"], "passages": passages}
    (project / "tests/cases.jsonl").write_text(json.dumps(case) + "\n")
    return project


def run_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a project, in a process of its own; on Linux it is forked from one that has imported it."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    if sys.platform == "linux":
        process = shared_server().piped(["-q", *arguments], settings, program="pytest", folder=str(folder))
        out, err = process.communicate(300)
        return subprocess.CompletedProcess(arguments, process.wait(), out, err)
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


class PlayPage(PageProcess):
    """A running `rageval play`."""

    def __init__(self, project: Path, *arguments: str, anew: bool = False) -> None:
        super().__init__(project, *arguments, program=PLAY, anew=anew)

    def wait(self) -> dict[str, Any]:
        """Return the state once the project is read."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            state: dict[str, Any] = self.client.get("/api/state").json()
            if state["ready"] or state["problem"]:
                return state
            time.sleep(0.05)
        raise AssertionError("the project was not read in time")

    def ask(self, **body: object) -> list[tuple[str, dict[str, Any]]]:
        """Ask, and return the events."""
        with self.client.stream("POST", "/api/ask", json=body, timeout=60) as response:
            assert response.status_code == 200, response.read()
            return list(events_of(response))


def events_of(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the data of each event of a stream, whose ids count from 1."""
    at = 0
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        at += 1
        assert int(fields["id"]) == at
        yield fields["event"], json.loads(fields["data"])
        fields = {}
