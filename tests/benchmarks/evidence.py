"""What evidence adds to reading cases and their corpus: 1,000 cases over the 5,788 documents of shared/data/crud.

    python tests/benchmarks/evidence.py [--rounds N] [--cases N]

Target: at most 5 ms a case. Each case has one quote, a sentence of a document. Times are medians of alternating rounds,
in this process: reading the cases with and without evidence, then the corpus with and without locating it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
import time
from collections import deque
from pathlib import Path
from statistics import median

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.registry import Registry

DATA = Path(os.environ.get("RAGEVAL_DATA") or Path(__file__).parents[3] / "shared" / "data") / "crud"
SENTENCE = re.compile("[^。！？]{20,}[。！？]")


def cases(file: Path, n: int, *, evidence: bool) -> None:
    """Write n cases; if ``evidence``, each has a sentence of a different document as evidence."""
    quotes = [
        (f"{path.name}:{line}", sentence[0])
        for path in sorted(DATA.glob("*.txt"))
        for line, text in lines_of(path)
        for sentence in list(SENTENCE.finditer(text))[1:2]
    ]
    with file.open("w", encoding="utf-8") as stream:
        for number, (page, quote) in enumerate(random.Random(1).sample(quotes, n)):
            record = {"id": f"q{number}", "question": f"What does {page} say?", "answers": ["42"]}
            stated = {"evidence": [{"page": page, "quote": quote}]} if evidence else {}
            stream.write(json.dumps(record | stated) + "\n")


def seconds(file: Path, *, evidence: bool) -> tuple[float, int]:
    """Return the seconds of reading cases and corpus, and the number of cases whose evidence is in the corpus."""
    formats: Registry[Reader] = Registry("corpus format", BUILTIN)
    start = time.perf_counter()
    instances = load(file)
    locator = EvidenceLocator(instances) if evidence else None
    files = places(("lines:*.txt",), DATA, formats)
    deque(passages(files, formats, parse_chunking("tokens 120 20"), locator), maxlen=0)
    took = time.perf_counter() - start
    return took, sum(map(locator.has_whole, instances)) if locator else 0


def main() -> None:
    parser = argparse.ArgumentParser(description="What evidence adds to reading cases and their corpus.")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--cases", type=int, default=1_000, help="default: %(default)s")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        took: dict[bool, list[float]] = {True: [], False: []}
        hits = 0
        for with_evidence in took:
            cases(Path(name) / f"{with_evidence}.jsonl", args.cases, evidence=with_evidence)
        for _ in range(args.rounds):
            for with_evidence, times in took.items():
                each, count = seconds(Path(name) / f"{with_evidence}.jsonl", evidence=with_evidence)
                times.append(each)
                hits += count
    without, with_it = median(took[False]), median(took[True])
    print(
        f"{hits // args.rounds} of {args.cases} cases found; {without:.2f} s without evidence, {with_it:.2f} s with it"
    )
    print(f"{1000 * (with_it - without) / args.cases:.2f} ms a case")


if __name__ == "__main__":
    main()
