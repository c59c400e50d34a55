"""Malformed files through the commands that read them: no traceback, no hang, little memory.

A child process runs the commands one after the other and prints a line of JSON for each input. If it dies, the input
that it was reading counts as lost, and another child continues with the next one.
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
from chaos_mutations import mutate
from chaos_stored import RECORDS, RESULTS, stored_targets, write

__all__ = ["SHARES", "Tried", "fuzz"]

SHARES = {INPUTS: 500, RESULTS: 300, RECORDS: 100}
"""Number of inputs of each kind in a whole run."""

LONGEST_S, LARGEST_MB = 10.0, 500.0
BLOCKED_S = 60.0  # wall seconds; a command that takes longer waits instead of computing, even on a busy machine
ADDRESS_SPACE = 8 * 2**30  # protects the machine; the measured value is resident memory
EACH_AS_PROCESS = 25  # of so many inputs, one runs its first command in a separate process, like a user
FRAMES = re.compile(r"Traceback \(most recent call last\)|INTERNALERROR|pytest_rageval/\S+\.py:\d+: \w+", re.MULTILINE)
STATUSES = {"pytest": (0, 1, 2, 4, 5), "rageval": (0, 1, 2, 4)}


@dataclass(frozen=True)
class Tried:
    """The outcome of one input.

    Attributes:
        number: of the input; with the seed it reproduces the input.
        share, target, mutation: describe the input.
        faults: a sentence for each command that did not survive it.
        seconds: CPU time of the slowest command.
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
    """Yield the outcome of each input; the shares are in proportion to `SHARES`."""
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
            error_output = child.stderr.read()
        if child.returncode and not ready:
            sys.exit(error_output)
        if child.returncode and at < trials:
            last = error_output.strip().splitlines()[-12:] or [f"ended with {child.returncode}"]
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
        targets = by_share[share]
        target = targets[number % len(targets)] if share != INPUTS else random.choice(targets)
        mutation, data = mutate(target.files[target.broken], random)
        if target.broken == "pytest.ini":  # pytest reads it before any plugin, with a traceback for invalid UTF-8
            data = data.decode("utf-8", "ignore").encode()
        files = {**target.files, target.broken: data}
        if share == RESULTS and ".rageval/runs/r/results.json" in files:
            files[".rageval/runs/r/results.json"] = data
        faults, seconds = _run_input(target, files, apart=number % EACH_AS_PROCESS == 0)
        os.chdir(home)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if peak > LARGEST_MB:
            faults.append(f"{peak:,.0f} MB resident")
        tried = Tried(number, share, target.name, mutation, faults, seconds, peak)
        stream.write(json.dumps(asdict(tried)) + "\n")
        stream.flush()
        if peak > LARGEST_MB:
            os._exit(0)  # the peak of a process never falls: a new process continues


def _shares(trials: int) -> Iterator[str]:
    """Yield the share of each input, spread evenly."""
    whole, counts = sum(SHARES.values()), Counter[str]()
    for number in range(1, trials + 1):
        share = max(SHARES, key=lambda name: number * SHARES[name] / whole - counts[name])
        counts[share] += 1
        yield share


def _run_input(target: Target, files: Files, *, apart: bool) -> tuple[list[str], float]:
    """Return the faults of the commands of one input, and the seconds of the slowest."""
    faults, slowest = [], 0.0
    with tempfile.TemporaryDirectory(prefix="rageval-chaos-") as name:
        write(Path(name), files)
        os.chdir(name)
        for command in target.commands:
            start = time.process_time()
            fault = _as_process(command) if apart and command == target.commands[0] else _in_process(command)
            slowest = max(slowest, time.process_time() - start)
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
    output = io.StringIO()
    _late.clear()
    faulthandler.dump_traceback_later(2 * BLOCKED_S, exit=True)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    signal.setitimer(signal.ITIMER_REAL, BLOCKED_S)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = _run_program(program, arguments)
    except _HangError:
        return f"hangs at {_late[0]}"
    except BaseException as error:  # a user would see a traceback
        return f"{type(error).__name__}: {str(error)[:200]} at {_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
    if _late:
        return f"hangs at {_late[0]}"
    return _fault(program, status, output.getvalue())


def _run_program(program: str, arguments: list[str]) -> int:
    if program == "pytest":
        import pytest

        return int(pytest.main(arguments))
    from pytest_rageval.cli import main

    return main(arguments)


def _as_process(command: str) -> str:
    """Run one command in a separate process, like a user, and return its fault, "" for none."""
    program, *arguments = shlex.split(command)
    start = {
        "pytest": ["-m", "pytest"],
        "rageval": ["-c", "import sys; from pytest_rageval.cli import main; sys.exit(main())"],
    }
    try:
        process = subprocess.run(
            [sys.executable, *start[program], *arguments], capture_output=True, timeout=2 * BLOCKED_S, check=False
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return _fault(program, process.returncode, (process.stdout + process.stderr).decode("utf-8", "replace"))


def _fault(program: str, status: int, output: str) -> str:
    match = FRAMES.search(output)
    if match:
        return " ".join(output[max(0, match.start() - 200) : match.end() + 900].split())
    return "" if status in STATUSES[program] else f"exit status {status}: {output[-300:]}"


def _where(error: BaseException) -> str:
    trace: Any = error.__traceback__
    places = []
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(reversed(places[-4:]))


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
