"""What generating cases costs, in seconds of CPU of a process of its own, and how much memory it takes.

    python tests/benchmarks/generation.py [--cases N]

Wanted: 10,000 table cases in at most 20 s. The table is invented: people with a town, a post and a year. The process
runs `rageval generate` from start to end: rows, templates, checks, near duplicates, sets and files.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import table

LIMIT = 20.0
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "na", "pe", "ri", "so", "ta", "ve", "wi", "xo", "yu")
POSTS = ("curator", "guard", "director", "clerk", "cook", "pilot", "nurse", "baker")
UNITS = ("Museum", "Ferry", "Parks", "Library")

PLAN = """\
[[table]]
name = "people"
path = "people.csv"
passage = "{name} has worked as {post} in {town} since {since}."
topic = "{unit}"
[[template]]
table = "people"
ask = ["In which town does {name} work?", "Where does {name} have a post?"]
answer = "{town}"
"""


def people(folder: Path, n: int) -> None:
    """Write a table of n people with names of their own, and its plan."""
    draw = random.Random(n)
    towns = [name(draw, 3) for _ in range(60)]
    names: dict[str, None] = {}
    while len(names) < n:
        names[f"{name(draw, 2)} {name(draw, 4)}"] = None
    rows = (
        f"{each},{draw.choice(POSTS)},{draw.choice(towns)},{draw.randint(1960, 2020)},{draw.choice(UNITS)}\n"
        for each in names
    )
    (folder / "people.csv").write_text("name,post,town,since,unit\n" + "".join(rows), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")


def name(draw: random.Random, syllables: int) -> str:
    """Return an invented name."""
    return "".join(draw.choices(SYLLABLES, k=syllables)).title()


def measured(folder: Path) -> tuple[float, float, str]:
    """Return the seconds of CPU and the MB of a process that generates, and its line about the drafts."""
    code = "import sys; from pytest_rageval.cli import main; sys.exit(main())"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [sys.executable, "-c", code, "generate", "plan.toml", "--out", "out", "--force"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line = next(line for line in run.stdout.splitlines() if " drafts: " in line)
    return seconds, after.ru_maxrss / 1024, line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    n = parser.parse_args().cases
    rows = [["rows", "CPU, s", f"wanted, s, for {n:,}", "memory, MB", "drafts"]]
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for size in (n // 10, n):
            people(folder, size)
            seconds, memory, line = measured(folder)
            kept = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))["drafts"]["kept"]
            assert kept > 0.9 * size, line
            rows.append([f"{size:,}", f"{seconds:.1f}", f"{LIMIT:.0f}", f"{memory:.0f}", line])
    print(table(rows))


if __name__ == "__main__":
    main()
