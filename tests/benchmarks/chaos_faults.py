"""A server that fails in 54 ways: each is an error with its kind; other cases are scored."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from types import MappingProxyType
from typing import Any

from chaos_project import Project, Trouble
from chaos_server import FAULTS, MAX_REPLY_BYTES, ChaosServer

__all__ = ["faults", "model_ini"]

TOGETHER = 6  # faults in one run of pytest, and twice as many cases without one
WITHIN_S = 60.0  # two attempts of two seconds, and the start of pytest and litellm on a busy machine
SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["error_rate <= 0"]
"""
INI = f"""
[pytest]
rag_model = openai/m
rag_model_params =
    api_base = BASE
    api_key = sk-chaos-0123456789
    attempts = 2
    timeout = 2
    deadline = 10
    max_reply_bytes = {MAX_REPLY_BYTES}
    input_cost_per_token = 0
    output_cost_per_token = 0
"""


def model_ini(base_url: str) -> str:
    """Return the ini of a project that asks the model at this address."""
    return INI.replace("BASE", base_url)


def faults(trials: int, *, verbose: bool = False) -> Trouble:
    """Run pytest for a few faults at a time; one case meets each fault, the other cases meet none."""
    trouble = Trouble("faulty server")
    names = list(islice(cycle(FAULTS), trials))
    for at in range(0, len(names), TOGETHER):
        _together(names[at : at + TOGETHER], trouble, verbose=verbose)
    return trouble


def _together(names: Sequence[str], trouble: Trouble, *, verbose: bool) -> None:
    rows = []
    for name in names:
        rows += [_case(f"case {name}-before"), _case(f"fault {name}"), _case(f"case {name}-after")]
    with ChaosServer() as server:
        files = {"s.rag.toml": SUITE, "pytest.ini": model_ini(server.base_url)}
        with Project.temporary(rows, files) as project:
            start = time.monotonic()
            status, output = project.run("--rag-json", "results.json")
            seconds = time.monotonic() - start
            outcomes = project.outcomes()
    if status != 1 or seconds > WITHIN_S:
        trouble.broken.append(f"{', '.join(names)}: exit status {status} after {seconds:.0f} s: {output[-500:]}")
    for name in names:
        others = {f"{name}-before", f"{name}-after"}
        lost = sum(outcomes.get(other, NOT_RUN)["status"] != "scored" for other in others)
        trouble.lost += lost
        trouble.asked_twice += sum(max(0, server.asked[other] - 1) for other in others)
        outcome = outcomes.get(name, NOT_RUN)
        if verbose:
            print(f"{name:20} {seconds:4.1f} s  {outcome['error_type']}: {outcome['error']}", flush=True)
        problems = [f"{name}: {lost} other cases are not scored"] if lost else []
        if outcome["status"] != "error" or not outcome["error_type"] or "\n" in outcome["error"]:
            problems.append(f"{name}: the case is {outcome['status']}, {outcome['error_type']}: {outcome['error']}")
        trouble.count_trial(problems, output if name == names[0] else "")


NOT_RUN: Mapping[str, Any] = MappingProxyType({"status": "not run", "error_type": None, "error": None})


def _case(question: str) -> dict[str, object]:
    name = question.partition(" ")[2]
    passages = [{"id": f"d-{name}", "text": f"{name} is in Paris.", "role": "positive"}]
    return {"id": name, "question": question, "answers": ["Paris"], "passages": passages}
