"""Malformed files through the commands that read them: no traceback, no hang, little memory.

A child process runs the commands one after the other and prints a line of JSON for each input. If it dies, the input
that it was on counts as lost, and another child goes on behind it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from chaos_formats import INPUTS, Files, Target, input_targets
from chaos_mutations import mutated
from chaos_stored import RECORDS, RESULTS, stored_targets, write

__all__ = ["SHARES", "Tried", "fuzz"]

SHARES = {INPUTS: 500, RESULTS: 300, RECORDS: 100}
"""How many inputs of each kind a whole run has."""

LONGEST_S, LARGEST_MB = 10.0, 500.0
BLOCKED_S = 60.0  # on the clock, for a command that waits instead of computing on a machine that is busy
ADDRESS_SPACE = 8 * 2**30  # a wall for what would take the machine down; the measure is what is resident
EACH_AS_PROCESS = 25  # the first command of one input of so many is a process of its own, as a user's is
FRAMES = re.compile(r"Traceback \(most recent call last\)|INTERNALERROR|pytest_rageval/\S+\.py:\d+: \w+", re.MULTILINE)
STATUSES = {"pytest": (0, 1, 2, 4, 5), "rageval": (0, 1, 2, 4)}


@dataclass(frozen=True)
class Tried:
    """What came of one input.

    Attributes:
        number: of the input; with the seed it makes the same input again.
        share, target, mutation: what it was.
        faults: a sentence for each command that did not survive it.
        seconds: of the slowest command, of the processor.
        peak_mb: resident memory of the process at its peak so far.
    """

    number: int
    share: str
    target: str
    mutation: str
    faults: list[str]
    seconds: float = 0.0
    peak_mb: float = 0.0


def fuzz(trials: int, seed: int) -> Iterator[Tried]:
    """Yield what came of each input, the shares in proportion to `SHARES`."""
    at = 0
    while at < trials:
        command = [sys.executable, __file__, str(trials), str(seed), str(at)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            ready = child.stdout.readline()
            for line in child.stdout:
                tried = Tried(**json.loads(line))
                at = tried.number + 1
                yield tried
            said = child.stderr.read()
        if child.returncode and not ready:
            sys.exit(said)
        if child.returncode and at < trials:
            last = said.strip().splitlines()[-12:] or [f"ended with {child.returncode}"]
            yield Tried(at, list(_shares(trials))[at], "?", "the process died", [" | ".join(last)], LONGEST_S)
            at += 1


def _main(trials: int, seed: int, first: int) -> None:
    """Run the inputs from ``first`` on."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGPROF, _too_long)
    signal.signal(signal.SIGALRM, _too_long)
    by_share: dict[str, list[Target]] = {share: [] for share in SHARES}
    for target in (*input_targets(), *stored_targets()):
        by_share[target.share].append(target)
    stream, home = sys.stdout, os.getcwd()
    print("ready", flush=True)
    for number, share in list(enumerate(_shares(trials)))[first:]:
        random = Random(f"{seed}-{number}")
        named = by_share[share]
        target = named[number % len(named)] if share != INPUTS else random.choice(named)
        mutation, data = mutated(target.files[target.broken], random)
        if target.broken == "pytest.ini":  # pytest reads it before any plugin, with a traceback for invalid UTF-8
            data = data.decode("utf-8", "ignore").encode()
        files = {**target.files, target.broken: data}
        if share == RESULTS and ".rageval/runs/r/results.json" in files:
            files[".rageval/runs/r/results.json"] = data
        faults, seconds = _tried(target, files, apart=number % EACH_AS_PROCESS == 0)
        os.chdir(home)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if peak > LARGEST_MB:
            faults.append(f"{peak:,.0f} MB resident")
        tried = Tried(number, share, target.name, mutation, faults, seconds, peak)
        stream.write(json.dumps(asdict(tried)) + "\n")
        stream.flush()
        if peak > LARGEST_MB:
            os._exit(0)  # the peak of a process never falls: another one goes on


def _shares(trials: int) -> Iterator[str]:
    """Yield the share of each input, spread evenly."""
    whole, given = sum(SHARES.values()), Counter[str]()
    for number in range(1, trials + 1):
        share = max(SHARES, key=lambda name: number * SHARES[name] / whole - given[name])
        given[share] += 1
        yield share


def _tried(target: Target, files: Files, *, apart: bool) -> tuple[list[str], float]:
    """Return the faults of the commands of one input, and the seconds of the slowest."""
    faults, slowest = [], 0.0
    with tempfile.TemporaryDirectory(prefix="rageval-chaos-") as name:
        write(Path(name), files)
        os.chdir(name)
        for command in target.commands:
            begun = time.process_time()
            fault = _as_process(command) if apart and command == target.commands[0] else _in_process(command)
            slowest = max(slowest, time.process_time() - begun)
            if fault:
                faults.append(f"{command.partition(' ')[0]} {' '.join(command.split()[-3:])}: {fault}")
    return faults, slowest


class _HangError(BaseException):
    """A command that takes longer than `LONGEST_S` of the processor, or `BLOCKED_S` on the clock."""


_late: list[str] = []


def _too_long(number: int, frame: FrameType | None) -> None:
    _late.append(f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "?")
    raise _HangError


def _in_process(command: str) -> str:
    """Run one command here, and return its fault, "" for none."""
    program, *arguments = shlex.split(command)
    said = io.StringIO()
    _late.clear()
    faulthandler.dump_traceback_later(2 * BLOCKED_S, exit=True)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    signal.setitimer(signal.ITIMER_REAL, BLOCKED_S)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = _called(program, arguments)
    except _HangError:
        return f"hangs at {_late[0]}"
    except BaseException as error:  # what a user would see as a traceback
        return f"{type(error).__name__}: {str(error)[:200]} at {_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
    if _late:
        return f"hangs at {_late[0]}"
    return _fault(program, status, said.getvalue())


def _called(program: str, arguments: list[str]) -> int:
    if program == "pytest":
        import pytest

        return int(pytest.main(arguments))
    from pytest_rageval.cli import main

    return main(arguments)


def _as_process(command: str) -> str:
    """Run one command as a user does, and return its fault, "" for none."""
    program, *arguments = shlex.split(command)
    start = {
        "pytest": ["-m", "pytest"],
        "rageval": ["-c", "import sys; from pytest_rageval.cli import main; sys.exit(main())"],
    }
    try:
        done = subprocess.run(
            [sys.executable, *start[program], *arguments], capture_output=True, timeout=2 * BLOCKED_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return _fault(program, done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))


def _fault(program: str, status: int, said: str) -> str:
    found = FRAMES.search(said)
    if found:
        return " ".join(said[max(0, found.start() - 200) : found.end() + 900].split())
    return "" if status in STATUSES[program] else f"exit status {status}: {said[-300:]}"


def _where(error: BaseException) -> str:
    trace: Any = error.__traceback__
    places = []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-4:]))


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
