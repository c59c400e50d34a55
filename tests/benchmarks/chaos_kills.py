"""Kills at random moments: the resumed session scores all cases and repeats few requests."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from chaos_faults import model_ini
from chaos_project import LONGEST_S, Project, Trouble
from chaos_server import ChaosServer

__all__ = ["VARIANTS", "kills"]

CASES = 60
IN_FLIGHT = 16  # per process: the default of --rag-concurrency
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


@dataclass(frozen=True, slots=True)
class Variant:
    """A kind of run that is killed.

    Attributes:
        name: of the trouble.
        model: whether a model answers; else an async system.
        with_judge: whether a judge follows each answer.
        kills: how often a run is killed before it may end.
        workers: of xdist; 0 for none.
    """

    name: str
    model: bool = True
    with_judge: bool = False
    kills: int = 1
    workers: int = 0

    @property
    def calls(self) -> int:
        """How many calls an undisturbed run makes."""
        return CASES * (2 if self.with_judge else 1)

    @property
    def in_flight(self) -> int:
        """How many calls a kill may cut off."""
        return IN_FLIGHT * (self.workers or 1) * (2 if self.with_judge else 1)  # each model has separate slots

    @property
    def args(self) -> list[str]:
        """The arguments of each run."""
        return ["-n", str(self.workers)] if self.workers else []


VARIANTS = (
    Variant("kills, async system", model=False),
    Variant("kills, model"),
    Variant("kills, model and judge", with_judge=True),
    Variant("two kills, model", kills=2),
    Variant("kills, async system, two workers", model=False, workers=2),
)


class Killed:
    """A project that is killed and resumed, and the calls that it makes."""

    def __init__(self, project: Project, server: ChaosServer) -> None:
        self.project = project
        self._server = server

    @property
    def calls(self) -> int:
        """How many calls were made so far."""
        return sum(self._requests().values())

    def _requests(self) -> Mapping[str, int]:
        path = self.project.path / "asked.txt"
        return Counter(path.read_text().split("\n")[:-1]) if path.exists() else self._server.asked

    def kill(self, kind: signal.Signals, moment: int, random: Random, *args: str) -> str:
        """Kill a run a little after its ``moment``-th call, and return its output."""
        with self.project.start(*args) as process:
            while self.calls <= moment and process.poll() is None:
                time.sleep(0.005)
            time.sleep(random.uniform(0, DELAY_S))
            (os.killpg if kind == signal.SIGKILL else os.kill)(process.pid, kind)
            process.wait(LONGEST_S)
        return (self.project.path / "output.txt").read_text(errors="replace")


def kills(trials: int, seed: int) -> list[Trouble]:
    """Kill runs of each variant in turn, with each signal."""
    troubles = {variant: Trouble(variant.name) for variant in VARIANTS}
    random = Random(f"kills-{seed}")
    for number in range(trials):
        variant = VARIANTS[number % len(VARIANTS)]
        first = number // len(VARIANTS)
        signals = [SIGNALS[(first + at) % len(SIGNALS)] for at in range(variant.kills)]
        with ExitStack() as stack:
            _trial(_open_project(variant, stack), variant, signals, random, troubles[variant])
    return list(troubles.values())


def _open_project(variant: Variant, stack: ExitStack) -> Killed:
    """Return the project of a variant, and its server."""
    server = stack.enter_context(ChaosServer())
    server.delay_s = DELAY_S
    suite = SUITE.replace('"token_f1"', '"token_f1", "accuracy_judged"') if variant.with_judge else SUITE
    ini = model_ini(server.base_url)
    if variant.with_judge:
        judge = ini.replace("rag_model_params", "rag_judge_params").replace("rag_model = openai/m", "")
        ini += judge.replace("[pytest]", "rag_judge_model = openai/judge")
    files = {"s.rag.toml": suite, **({"pytest.ini": ini} if variant.model else {"conftest.py": ASYNC_SYSTEM})}
    return Killed(stack.enter_context(Project.temporary(ROWS, files)), server)


def _trial(killed: Killed, variant: Variant, signals: list[signal.Signals], random: Random, trouble: Trouble) -> None:
    """Kill a run after a random number of calls, resume it to its end, and compare the scores."""
    printed, where = "", []
    for at, kind in enumerate(signals, 1):
        moment = random.randint(killed.calls, variant.calls * at // len(signals) - variant.in_flight)
        printed += killed.kill(kind, moment, random, *variant.args, *(["--rag-resume"] if at > 1 else []))
        where.append(f"{kind.name} after {killed.calls} calls")
    status, output = killed.project.run(*variant.args, "--rag-resume", "--rag-json", "results.json")
    outcomes = killed.project.outcomes()
    lost = sum(outcomes.get(str(row["id"]), {"status": "not run"})["status"] != "scored" for row in ROWS)
    trouble.lost += lost
    again = max(0, killed.calls - variant.calls - variant.in_flight * len(signals))
    trouble.asked_twice += again
    problems = [f"{lost} cases are not scored, exit status {status}: {output[-300:]}"] if lost or status else []
    problems += [f"{again} calls more than the cases and what was in flight"] if again else []
    if not problems and _scores_and_gates(killed.project) != _reference_scores(variant):
        problems.append("the results differ from those of an undisturbed run")
    trouble.count_trial([f"{', '.join(where)}: {problem}" for problem in problems], printed + output)
    print(
        f"{trouble.name}: {', '.join(where)}, {killed.calls} calls in all for {variant.calls}, {lost} lost", flush=True
    )


def _scores_and_gates(project: Project) -> tuple[object, ...]:
    scores = {name: each["scores"] for name, each in project.outcomes().items()}
    return scores, project.gates()


@lru_cache(maxsize=len(VARIANTS))
def _reference_scores(variant: Variant) -> tuple[object, ...]:
    """Return the scores and gates of a run that is not interrupted."""
    with ExitStack() as stack:
        project = _open_project(variant, stack).project
        status, output = project.run(*variant.args, "--rag-json", "results.json")
        if status:
            raise RuntimeError(f"the undisturbed run ended with {status}: {output}")
        return _scores_and_gates(project)
