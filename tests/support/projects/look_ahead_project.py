"""What the tests of look-ahead share: a system that notes what it is asked, and how many answers are in flight."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest_rageval.llm.client.clients  # pytester forgets what a run imports; two copies do not know each other
import pytest_rageval.testing  # noqa: F401
from support.projects.rag_project import Project, Row, case

WATCHED = """
    import asyncio
    import os
    import threading
    import time
    import pytest
    from pytest_rageval import Answer, Usage

    NOW = []

    def note(word, query):
        with open("seen.txt", "a") as stream:
            stream.write(f"{word}|{len(NOW)}|{os.getpid()}|{threading.current_thread().name}|{query.question}\\n")

    def reply(query):
        kind, _, rest = query.question.partition(" ")
        if kind == "raise":
            raise ValueError(rest)
        return 7 if kind == "wrong" else rest

    def seconds(query):
        return 60 if query.question.startswith("hang") else 0.02

    async def watched(query):
        NOW.append(query)
        note("asked", query)
        try:
            await asyncio.sleep(seconds(query))
            answer = reply(query)
            note("ended", query)
            return answer
        except asyncio.CancelledError:
            note("cancelled", query)
            raise
        finally:
            NOW.remove(query)

    def plain(query):
        NOW.append(query)
        note("asked", query)
        try:
            time.sleep(seconds(query))
            return reply(query)
        finally:
            NOW.remove(query)

    @pytest.fixture(scope="session")
    def rag_system():
        return watched
"""
"""A conftest whose system takes 20 ms and notes itself; it says, raises, returns a wrong type or hangs as told."""

PLAIN = WATCHED.replace("return watched", "return plain")
"""The same with a sync system."""


@dataclass(frozen=True)
class Seen:
    """One line of what the system noted."""

    word: str
    now: int
    pid: str
    thread: str
    question: str


def seen(project: Project, word: str = "asked") -> list[Seen]:
    """Return what was noted, in order."""
    path = project.path / "seen.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    fields = [line.split("|", 4) for line in lines]
    notes = [Seen(said, int(now), pid, thread, question) for said, now, pid, thread, question in fields]
    return [note for note in notes if note.word == word]


def questions(project: Project, word: str = "asked") -> Counter[str]:
    """Return how many times each question was noted."""
    return Counter(note.question for note in seen(project, word))


def peak(project: Project) -> int:
    """Return how many answers were in flight at most, in the process where they were most."""
    return max(note.now for note in seen(project))


def forget(project: Project) -> None:
    """Forget what was noted."""
    (project.path / "seen.txt").unlink(missing_ok=True)


def paris(count: int, first: int = 1) -> list[Row]:
    """Return cases of one question each, which are answered rightly."""
    return [case(f"q{number}", f"say Paris {number}") for number in range(first, first + count)]
