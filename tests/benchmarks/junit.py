"""What a JUnit file costs more for telling facets, scores and usage of each test.

    python tests/benchmarks/junit.py [--rounds N]

Wished: at most 0.3 s for 1,000 cases and 2 s for 11,400. Both sides write pytest's file, one without what is told of
cases. Seconds are the processor's, of whole processes, medians of alternating runs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from measuring import Cost, alternate, table
from scale import rag_project

WISHED = {1_000: 0.3, 11_400: 2.0}


def main() -> None:
    parser = argparse.ArgumentParser(description="What a JUnit file costs more for telling of each test.")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    args = parser.parse_args()
    rows = [["cases", "without s", "with s", "added s", "added MiB", ""]]
    with tempfile.TemporaryDirectory() as name:
        for n, wished in WISHED.items():
            folder = Path(name, str(n))
            told = [*rag_project(folder, n), "--junitxml=junit.xml"]
            bare = [*told, "-p", "no:rageval-junit"]
            measured = alternate(args.rounds, (bare, folder, False), (told, folder, False))
            without, with_ = map(Cost.median, measured)
            more = with_.minus(without)
            figures = [f"{cpu:.2f}" for cpu in (without.cpu, with_.cpu, more.cpu)]
            rows.append([f"{n:,}", *figures, f"{more.peak:.1f}", f"wished <= {wished:g}"])
    print(table(rows))


if __name__ == "__main__":
    main()
