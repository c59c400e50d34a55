"""Kill runs at random moments, resume them, and count what is asked twice and what the cost says.

    python tests/benchmarks/kills.py --trials 10

Each trial starts a project of 240 cases with 16 calls in flight, kills it once or several times, and resumes it to its
end. The server counts every call. It holds if all calls are no more than the cases and what was in flight at the kills.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.servers.openai_server import OpenAIServer

__all__ = ["KINDS", "Trial", "trial"]

KINDS = ("async", "model", "judged")
"""An async system of a user's, a model through ``rag_model``, and a model that a judge follows."""

AT_ONCE = 16
"""Calls in flight at a time, by default."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)

CONFTEST = """
import asyncio, json, os, urllib.request
import httpx
import pytest
from pytest_rageval import Answer, Usage

@pytest.fixture(scope="session")
def rag_system():
    client = None
    async def ask(query):
        nonlocal client
        client = client or httpx.AsyncClient(timeout=60)
        body = {"model": "m", "messages": [{"role": "user", "content": query.question}]}
        reply = (await client.post(os.environ["DESK"] + "/chat/completions", json=body)).json()
        return Answer(reply["choices"][0]["message"]["content"], usage=Usage(10, 5, 0.01))
    return ask
"""

TEST = """
import time
from pytest_rageval import rag_case

@rag_case("jsonl:cases.jsonl", metrics=%s)
def test_it(rag):
    time.sleep(0.004)
"""

PASSAGES = [{"id": "d1", "text": "It is Paris.", "role": "positive"}]

INI = """[pytest]
rag_model = openai/desk
rag_model_params =
    api_base = %(url)s
    api_key = none
    input_cost_per_token = 0.0001
    output_cost_per_token = 0.0001
rag_judge_model = openai/judge
rag_judge_params =
    api_base = %(url)s
    api_key = none
    input_cost_per_token = 0.0001
    output_cost_per_token = 0.0001
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one run that was killed and resumed.

    Attributes:
        kind: one of `KINDS`.
        signals: the names of the signals that killed it.
        cases: how many cases it has.
        wanted: how many calls a run takes that nobody kills.
        calls: how many the server saw in all.
        in_flight: how many of them may have had no reply at the kills.
        scored: how many cases the resumed run scored.
        line: what the resumed run says of the one before.
    """

    kind: str
    signals: tuple[str, ...]
    cases: int
    wanted: int
    calls: int
    in_flight: int
    scored: int
    line: str

    @property
    def holds(self) -> bool:
        """Whether every case was scored and nothing was asked again but what was in flight."""
        return self.scored == self.cases and self.calls <= self.wanted + self.in_flight


def trial(
    folder: Path,
    kind: str,
    signals: Sequence[signal.Signals],
    moment: Random,
    *,
    cases: int = 240,
    workers: int = 0,
) -> Trial:
    """Run a project in ``folder``, kill it with each of the signals in turn, and resume it to its end."""
    args = [f"-n{workers}"] if workers else []
    with OpenAIServer(reply=_reply, delay_s=0.06) as server:
        _write(folder, kind, server.base_url, cases)
        per_case = 2 if kind == "judged" else 1
        in_flight = 0
        for at, kill in enumerate(signals):
            process = _started(folder, server.base_url, [*args, *(["--rag-resume"] if at else [])])
            wanted = len(server.requests) + moment.randint(1, cases * per_case // (len(signals) + 1))
            in_flight += _killed(process, kill, server, wanted, moment) * (workers or 1)
        process = _started(folder, server.base_url, [*args, "--rag-resume", "--rag-json=results.json"])
        output = process.communicate(timeout=300)[0]
        lines = [line for line in output.splitlines() if "taken over from the run" in line]
        path = folder / "results.json"
        results = json.loads(path.read_text()) if path.exists() else {"outcomes": []}
        scored = sum(outcome["status"] == "scored" for outcome in results["outcomes"])
        errors = [outcome["error"] for outcome in results["outcomes"] if outcome["status"] != "scored"]
        names = tuple(kill.name for kill in signals)
        line = "; ".join([*lines, *errors[:3]]) or (output[-300:] if scored < cases else "")
        return Trial(kind, names, cases, cases * per_case, len(server.requests), in_flight, scored, line)


def _reply(body: dict[str, object]) -> str:
    return '{"reason": "it is right", "label": "right"}' if body["model"] == "judge" else "Paris"


def _write(folder: Path, kind: str, url: str, cases: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"q{at}", "question": f"Capital {at}?", "answers": ["Paris"], "passages": PASSAGES}
        for at in range(cases)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "test_it.py").write_text(TEST % (["accuracy", "accuracy_judged"] if kind == "judged" else ["accuracy"]))
    (folder / "conftest.py").write_text(CONFTEST if kind == "async" else "")
    (folder / "pytest.ini").write_text("[pytest]\n" if kind == "async" else INI % {"url": url})


def _started(folder: Path, url: str, args: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args],
        cwd=folder,
        env=os.environ | {"DESK": url, "COLUMNS": "240", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _killed(
    process: subprocess.Popen[str], kill: signal.Signals, server: OpenAIServer, wanted: int, moment: Random
) -> int:
    """Kill a run once the server has seen so many calls; return how many may have been in flight then."""
    until = time.monotonic() + 120
    while len(server.requests) < wanted and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(moment.uniform(0, 0.05))
    if process.poll() is not None:
        process.communicate()
        return 0
    if kill == signal.SIGINT:
        os.kill(process.pid, kill)
    else:
        os.killpg(process.pid, kill)
    process.communicate(timeout=60)
    return AT_ONCE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=10, help="kills of each signal, spread over the kinds")
    parser.add_argument("--kinds", default="async,model", help=f"of {', '.join(KINDS)} (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=int, default=1, help="how often each run is killed")
    parser.add_argument("--workers", type=int, default=0, help="of xdist")
    options = parser.parse_args()
    moment, kinds = Random(options.seed), options.kinds.split(",")
    worst = lost = 0
    for number in range(options.trials * len(SIGNALS)):
        kind = kinds[number // len(SIGNALS) % len(kinds)]
        signals = [SIGNALS[(number + at) % len(SIGNALS)] for at in range(options.again)]
        with tempfile.TemporaryDirectory() as folder:
            done = trial(Path(folder), kind, signals, moment, workers=options.workers)
        lost += not done.holds
        worst = max(worst, done.calls - done.wanted)
        verdict = "holds" if done.holds else "LOST"
        print(f"{number + 1:3} {kind:7} {','.join(done.signals):16} calls {done.calls} of {done.wanted}", end="")
        print(f", {done.in_flight} in flight, {done.scored} scored: {verdict}  {done.line}", flush=True)
    print(f"{number + 1} trials, {lost} lost, at most {worst} calls more than without a kill")


if __name__ == "__main__":
    main()
