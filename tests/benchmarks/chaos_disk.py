"""A full disk: no case is lost, and a message says which file could not be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice

from chaos_project import Project, Trouble

__all__ = ["disk"]

CASES = 40
LIMIT = 6_000  # bytes of a file; a run with these cases writes more
SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 1"]
"""
SYSTEM = f"""
import os
import pytest
from pytest_rageval import recorded

if "FULL" in os.environ:
    import resource
    import sys
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))

@recorded(name="desk")
def answer(query):
    with open(os.environ["ASKED"], "a") as file:
        file.write(query.question[-3:] + "\\n")
    return "Paris"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""


@dataclass(frozen=True)
class Full:
    """A file that cannot be written.

    Attributes:
        name: of what is written.
        args: of pytest.
        limited: whether the size of files is limited.
        statuses: the expected exit statuses: 1 if a requested file is missing.
        links: path -> what it points to.
    """

    name: str
    args: tuple[str, ...] = ()
    limited: bool = True
    statuses: tuple[int, ...] = (0,)
    links: Mapping[str, str] = field(default_factory=dict)


PLACES = (
    Full("run folder"),
    Full("run folder, -n 2", ("-n", "2")),
    Full("cassette", ("--rag-record-mode", "new_episodes")),
    Full("cassette, -n 2", ("--rag-record-mode", "new_episodes", "-n", "2")),
    Full("--rag-json", ("--rag-json", "r.json"), statuses=(1,)),
    Full("--rag-html", ("--rag-html", "r.html"), statuses=(1,)),
    Full("--rag-markdown", ("--rag-markdown", "r.md"), statuses=(0, 1)),
    Full("baseline", ("--rag-baseline", "b.json", "--rag-update-baseline"), statuses=(1,)),
    Full("--rag-json /dev/full", ("--rag-json", "/dev/full"), limited=False, statuses=(1,)),
    Full("--rag-html /dev/full", ("--rag-html", "/dev/full"), limited=False, statuses=(1,)),
    Full("--rag-markdown /dev/full", ("--rag-markdown", "/dev/full"), limited=False, statuses=(1,)),
    Full("junit to /dev/full", ("--junitxml", "j.xml"), limited=False, statuses=(0, 1), links={"j.xml": "/dev/full"}),
    Full("cassette in /dev/full", ("--rag-record-mode", "new_episodes"), limited=False, statuses=(0, 1, 4),
         links={"cassettes/system-desk.jsonl": "/dev/full"}),
    Full("baseline in /dev/full", ("--rag-baseline", "b.json", "--rag-update-baseline"), limited=False, statuses=(1, 4),
         links={"b.json": "/dev/full"}),
)  # fmt: skip


def disk(trials: int) -> Trouble:
    """Run pytest on a full disk, once for each file that it writes."""
    trouble = Trouble("full disk")
    for full in islice(cycle(PLACES), trials):
        _one(full, trouble)
    return trouble


def _one(full: Full, trouble: Trouble) -> None:
    passages = [{"id": "d", "text": "It is in Paris. " * 20, "role": "positive"}]
    rows = [
        {"id": f"c{n}", "question": f"Where is c{n:02}", "answers": ["Paris"], "passages": passages}
        for n in range(CASES)
    ]
    with Project.temporary(rows, {"s.rag.toml": SUITE, "conftest.py": SYSTEM}) as project:
        for path, target in full.links.items():
            (project.path / path).parent.mkdir(exist_ok=True)
            (project.path / path).symlink_to(target)
        log = project.path / "asked.txt"
        environment = {"ASKED": str(log), **({"FULL": "1"} if full.limited else {})}
        status, output = project.run(*full.args, **environment)
        questions = log.read_text().split("\n")[:-1] if log.exists() else []
    refused = status == 4 and not questions
    lost = 0 if refused or f"{CASES} scored" in output else CASES
    trouble.lost += lost
    trouble.asked_twice += len(questions) - len(set(questions))
    problems = [f"{full.name}: cases are lost: {output[-400:]}"] if lost else []
    problems += [f"{full.name}: exit status {status}: {output[-400:]}"] if status not in full.statuses else []
    if "warning: " not in output and "ERROR: " not in output and "cannot be written" not in output:
        problems.append(f"{full.name}: nothing says what could not be written: {output[-600:]}")
    trouble.count_trial(problems, output)
    print(f"{trouble.name}: {full.name}, exit status {status}, {lost} lost", flush=True)
