"""How runs survive kills, crashes, a faulty server, a full disk, and malformed files.

    python tests/benchmarks/chaos.py [--only kills crashes faults disk fuzz] [--trials N] [--seed S]

A trial survives if no case is lost, nothing is asked again beyond what was in flight, and nobody sees a traceback. The
script prints a table and each trial that did not survive, and exits with 1 if there is one.

- kills: SIGINT, SIGTERM or SIGKILL at a random moment, once or twice, then ``--rag-resume``; an async system, a model,
  a model and a judge, two workers; scores as if undisturbed.
- crashes: ``-n 2`` with each ``--dist``; cases that end their process are errors, all others are scored.
- faults: 54 ways in which a model's server fails; each is an error with its kind, all other cases are scored.
- disk: files that cannot be written, by ``RLIMIT_FSIZE`` and ``/dev/full``; all cases are scored.
- fuzz: mutated datasets, corpora, answers, suites, imports, results, cassettes and baselines; no traceback, no command
  over 10 s, less than 500 MB.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

from chaos_crashes import crashes
from chaos_disk import PLACES, disk
from chaos_faults import faults
from chaos_fuzz import SHARES, fuzz
from chaos_kills import kills
from chaos_project import Trouble
from chaos_server import FAULTS
from measuring import table

HEAD = ["trouble", "trials", "survived", "lost", "asked twice", "tracebacks"]
TRIALS = {"kills": 30, "crashes": 10, "faults": len(FAULTS), "disk": len(PLACES), "fuzz": sum(SHARES.values())}


def fuzz_troubles(trials: int, seed: int) -> list[Trouble]:
    """Return the outcome of malformed files, by share; print the slowest command and the peak memory."""
    troubles: dict[str, Trouble] = {}
    slowest, largest = 0.0, 0.0
    for tried in fuzz(trials, seed):
        trouble = troubles.setdefault(tried.share, Trouble(tried.share))
        what = f"input {tried.number} of {trials}, seed {seed}: {tried.target}, {tried.mutation}"
        trouble.count_trial([f"{what}: {fault}" for fault in tried.faults])
        trouble.tracebacks += bool(tried.faults)
        slowest, largest = max(slowest, tried.seconds), max(largest, tried.peak_mb)
    print(f"fuzz: the slowest command took {slowest:.1f} s, the process {largest:.0f} MB at its peak", flush=True)
    return list(troubles.values())


def main() -> int:
    parser = argparse.ArgumentParser(description="What becomes of a run in trouble.")
    parser.add_argument("--only", nargs="+", choices=list(TRIALS), default=list(TRIALS), help="these troubles alone")
    parser.add_argument("--trials", type=int, help=f"of each trouble, instead of {TRIALS}")
    parser.add_argument("--seed", type=int, default=1, help="of random moments and mutations (default: %(default)s)")
    parser.add_argument("--verbose", action="store_true", help="print the error of each fault")
    args = parser.parse_args()
    runs: dict[str, Callable[[int], list[Trouble]]] = {
        "kills": partial(kills, seed=args.seed),
        "crashes": partial(crashes, seed=args.seed),
        "faults": lambda trials: [faults(trials, verbose=args.verbose)],
        "disk": lambda trials: [disk(trials)],
        "fuzz": partial(fuzz_troubles, seed=args.seed),
    }
    troubles = [each for name in args.only for each in runs[name](args.trials or TRIALS[name])]
    for trouble in troubles:
        for problem in trouble.broken:
            print(f"\n{trouble.name}: {problem}")
    print("", table([HEAD, *(trouble.row() for trouble in troubles)]), sep="\n")
    return int(any(trouble.broken for trouble in troubles))


if __name__ == "__main__":
    sys.exit(main())
