"""What generating cases costs: CPU seconds and memory of a separate process.

    python tests/benchmarks/generation.py [--cases N] [--documents N]

Target: 10,000 table cases in at most 20 s; cases from 5,788 documents in at most 120 s and less than 1 GB. The table is
invented: people with a town, a post and a year. The documents are CRUD's 5,788 news if RAGEVAL_DATA (else
../shared/data) has them, and invented ones. The process runs `rageval generate` from start to end: rows or documents,
topics, drafts, checks, near duplicates, sets and files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import table

LIMIT, LIMIT_OF_DOCUMENTS, LIMIT_OF_MEMORY = 20.0, 120.0, 1000
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


CORPUS = """\
[[corpus]]
path = "lines:{path}"
"""


def people(folder: Path, n: int) -> None:
    """Write a table of n people with distinct names, and its plan."""
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


def documents(folder: Path, n: int) -> None:
    """Write n invented documents of about 700 characters, one a line, and their plan."""
    draw = random.Random(n)
    lines = (" ".join(sentence(draw) for _ in range(10)) + "\n" for _ in range(n))
    (folder / "pages.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "plan.toml").write_text(CORPUS.format(path="pages.txt"), encoding="utf-8")


def sentence(draw: random.Random) -> str:
    """Return a sentence about an invented house; every other one has a number."""
    house, town, words = name(draw, 3), name(draw, 3), " ".join(name(draw, 3).lower() for _ in range(8))
    wordings = (
        f"{house} House was built in {draw.randint(1700, 2000)} and {words} stands in {town}.",
        f"The {house} Line of {town} may carry {draw.randint(10, 900)} passengers {words} on weekdays.",
        f"It is near the {draw.choice(POSTS)} of {town}, and nobody {words} pays for it.",
        f"The {draw.choice(POSTS)} of {house} House lives in {town}, and sells {words} hats.",
    )
    return draw.choice(wordings)


def news() -> Path | None:
    """Return the folder of CRUD's news; None if it is missing."""
    data = Path(os.environ.get("RAGEVAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
    return data / "crud" if (data / "crud").is_dir() else None


def name(draw: random.Random, syllables: int) -> str:
    """Return an invented name."""
    return "".join(draw.choices(SYLLABLES, k=syllables)).title()


def measure(folder: Path) -> tuple[float, float, str]:
    """Run `rageval generate`; return its CPU seconds, its memory in MB, and its line about the drafts."""
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
    parser.add_argument("--documents", type=int, default=5_788)
    arguments = parser.parse_args()
    tables(arguments.cases)
    texts(arguments.documents)


def tables(n: int) -> None:
    """Print what cases from tables cost."""
    rows = [["rows", "CPU, s", f"wanted, s, for {n:,}", "memory, MB", "drafts"]]
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for size in (n // 10, n):
            people(folder, size)
            seconds, memory, line = measure(folder)
            n_drafts = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))["drafts"]["kept"]
            assert n_drafts > 0.9 * size, line
            rows.append([f"{size:,}", f"{seconds:.1f}", f"{LIMIT:.0f}", f"{memory:.0f}", line])
    print(table(rows))


def texts(n: int) -> None:
    """Print what cases from documents cost."""
    rows = [["documents", "CPU, s", "wanted, s", "memory, MB", "wanted, MB", "drafts"]]
    crud = news()
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for label in ("CRUD's news", f"{n:,} invented"):
            if label == "CRUD's news":
                if crud is None:
                    continue
                (folder / "plan.toml").write_text(CORPUS.format(path=crud / "*.txt"), encoding="utf-8")
            else:
                documents(folder, n)
            seconds, memory, line = measure(folder)
            limits = (f"{LIMIT_OF_DOCUMENTS:.0f}", f"{LIMIT_OF_MEMORY}")
            rows.append([label, f"{seconds:.1f}", limits[0], f"{memory:.0f}", limits[1], line])
    print()
    print(table(rows))


if __name__ == "__main__":
    main()
