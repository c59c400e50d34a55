"""Projects for tests of look-ahead: the system logs its questions and the number of answers in flight."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest_rageval.llm.client.clients  # pytester removes what a run imports; two copies would not share state
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
"""A conftest whose system takes 20 ms and logs each call; the question makes it answer, raise, hang or return 7."""

PLAIN = WATCHED.replace("return watched", "return plain")
"""The same with a sync system."""


@dataclass(frozen=True)
class Note:
    """One line of the system's log."""

    word: str
    now: int
    pid: str
    thread: str
    question: str


def notes(project: Project, word: str = "asked") -> list[Note]:
    """Return the notes with this word, in order."""
    path = project.path / "seen.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    fields = [line.split("|", 4) for line in lines]
    every = [Note(kind, int(now), pid, thread, question) for kind, now, pid, thread, question in fields]
    return [note for note in every if note.word == word]


def questions(project: Project, word: str = "asked") -> Counter[str]:
    """Return how many times the system noted each question."""
    return Counter(note.question for note in notes(project, word))


def peak(project: Project) -> int:
    """Return the largest number of answers that any process had in flight."""
    return max(note.now for note in notes(project))


def forget(project: Project) -> None:
    """Delete the system's log."""
    (project.path / "seen.txt").unlink(missing_ok=True)


def paris(count: int, first: int = 1) -> list[Row]:
    """Return cases of one question each, which are answered rightly."""
    return [case(f"q{number}", f"say Paris {number}") for number in range(first, first + count)]
