"""Kills at random moments: the session that resumes ends with all cases scored, and asks little again."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random

from chaos_faults import model_ini
from chaos_project import LONGEST_S, Project, Trouble
from chaos_server import ChaosServer

__all__ = ["kills"]

CASES = 60
IN_FLIGHT = 16  # what --rag-concurrency is unless it is given
DELAY_S = 0.25
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy", "token_f1"]
gates = ["accuracy >= 0.5", "error_rate <= 0"]
"""
PASSAGES = [{"id": "d", "text": "It is in Paris.", "role": "positive"}]
ROWS = [{"id": f"c{n}", "question": f"case c{n}", "answers": ["Paris"], "passages": PASSAGES} for n in range(CASES)]
ASYNC_SYSTEM = f"""
import asyncio
import pytest

async def answer(query):
    with open("asked.txt", "a") as file:
        file.write(query.question + "\\n")
    await asyncio.sleep({DELAY_S})
    return "Paris" if int(query.question.rpartition("c")[2]) % 3 else "Rome"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""


def kills(trials: int, seed: int) -> list[Trouble]:
    """Kill runs of an async system and of a model in turn, with each signal."""
    of_async, of_model = Trouble("kills, async system"), Trouble("kills, model")
    random = Random(f"kills-{seed}")
    for number in range(trials):
        kind = SIGNALS[number // 2 % len(SIGNALS)]
        if number % 2:
            _model(kind, random, of_model)
        else:
            _async(kind, random, of_async)
    return [of_async, of_model]


def _async(kind: signal.Signals, random: Random, trouble: Trouble) -> None:
    with Project.made(ROWS, {"s.rag.toml": SUITE, "conftest.py": ASYNC_SYSTEM}) as project:
        asked = project.path / "asked.txt"
        _trial(
            project,
            kind,
            random,
            trouble,
            lambda: Counter(asked.read_text().split("\n")[:-1]) if asked.exists() else {},
        )


def _model(kind: signal.Signals, random: Random, trouble: Trouble) -> None:
    with ChaosServer() as server:
        server.delay_s = DELAY_S
        with Project.made(ROWS, {"s.rag.toml": SUITE, "pytest.ini": model_ini(server.base_url)}) as project:
            _trial(project, kind, random, trouble, lambda: server.asked)


def _trial(
    project: Project, kind: signal.Signals, random: Random, trouble: Trouble, asked: Callable[[], Mapping[str, int]]
) -> None:
    """Kill one run when it has asked a random number of cases, resume it to its end, and compare."""
    moment = random.randint(0, CASES - IN_FLIGHT)
    with project.started() as process:
        while sum(asked().values()) <= moment and process.poll() is None:
            time.sleep(0.005)
        time.sleep(random.uniform(0, DELAY_S))
        (os.killpg if kind == signal.SIGKILL else os.kill)(process.pid, kind)
        process.wait(LONGEST_S)
    first = (project.path / "output.txt").read_text(errors="replace")
    before = sum(asked().values())
    status, output = project.run("--rag-resume", "--rag-json", "results.json")
    outcomes = project.outcomes()
    lost = sum(outcomes.get(str(row["id"]), {"status": "not run"})["status"] != "scored" for row in ROWS)
    trouble.lost += lost
    again = max(0, sum(asked().values()) - CASES - IN_FLIGHT)
    trouble.asked_twice += again
    where = f"{kind.name} after {before} calls"
    problems = (
        [f"{where}: {lost} cases are not scored, exit status {status}: {output[-300:]}"] if lost or status else []
    )
    if not problems and _measured(project) != _undisturbed(trouble.name):
        problems.append(f"{where}: the results differ from those of an undisturbed run")
    trouble.tried(problems, first + output)
    print(f"{trouble.name}: {where}, {sum(asked().values())} calls in all for {CASES} cases, {lost} lost", flush=True)


def _measured(project: Project) -> tuple[object, ...]:
    scores = {name: each["scores"] for name, each in project.outcomes().items()}
    return scores, project.gates()


@lru_cache(maxsize=2)
def _undisturbed(name: str) -> tuple[object, ...]:
    """Return the scores and gates of a run that nothing cut short."""
    with ChaosServer() as server:
        files = {"s.rag.toml": SUITE}
        files |= {"pytest.ini": model_ini(server.base_url)} if "model" in name else {"conftest.py": ASYNC_SYSTEM}
        with Project.made(ROWS, files) as project:
            status, output = project.run("--rag-json", "results.json")
            if status:
                raise RuntimeError(f"the undisturbed run ended with {status}: {output}")
            return _measured(project)
