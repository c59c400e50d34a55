"""What `rageval play` costs: start, reading a project, a search of 100,000 cases, an answer.

python tests/benchmarks/play.py [--cases 100000] [--documents 5788]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.projects.play_project import PlayPage, play_project

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def print_time(what: str, start: float, page: PlayPage, cpu: float) -> None:
    print(f"{what:44} {time.perf_counter() - start:7.2f} s  {cpu_of(page.process.pid) - cpu:7.2f} s CPU")


def main() -> None:
    """Print each time, wall and CPU."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--documents", type=int, default=5_788)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        project = play_project(Path(name))
        start = time.perf_counter()
        with PlayPage(project, anew=True) as page:
            page.client.get("/")
            print_time("the server answers", start, page, 0.0)
            page.wait()
            print_time("the project is read, 3 cases", start, page, 0.0)
        guide = "\n\n".join(
            f"# Hall {at}\nHall {at} opens at {at % 24}:{at % 60:02}." for at in range(arguments.documents)
        )
        (project / "docs" / "visit.md").write_text(guide)
        rows = (
            json.dumps({"id": f"q{at}", "question": f"When does hall {at} open?", "answers": [str(at % 24)]})
            for at in range(arguments.cases)
        )
        (project / "many.jsonl").write_text("\n".join(rows) + "\n")
        with PlayPage(project, "--dataset", "jsonl:many.jsonl", anew=True) as page:
            start = time.perf_counter()
            while not page.client.get("/api/state").json()["ready"]:
                time.sleep(0.2)
            print_time(f"{arguments.cases:,} cases are read", start, page, 0.0)
            for what, call in (
                ("a search of the cases", lambda: page.client.get("/cases", params={"words": "hall 77 open"})),
                ("the page", lambda: page.client.get("/")),
                ("the first answer, with the index", lambda: page.ask(question="When does Hall 77 open?")),
                ("the next answer", lambda: page.ask(question="When does Hall 99 open?")),
            ):
                start, cpu = time.perf_counter(), cpu_of(page.process.pid)
                call()
                print_time(what, start, page, cpu)


if __name__ == "__main__":
    main()
