"""What a Search and a Lookup of the environment `wiki` cost over many pages.

    python tests/benchmarks/wiki_search.py [--pages N] [--searches N]

The pages are synthetic: titles of two words and a number, paragraphs of about 60 words from a vocabulary of 50,000 by
Zipf's law. A third of the searches have an exact title, a third one in another spelling, and a third none (a misspelled
word), so similar titles are listed. Target: at most 5 ms a Search over 100,000 pages, after loading.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from resource import RUSAGE_SELF, getrusage
from statistics import median

from measuring import table

from pytest_rageval.environments.environment import Environment, OpenEnvironment
from pytest_rageval.environments.pages import Pages
from pytest_rageval.environments.wiki import tools_over
from pytest_rageval.model.case import Passage

VOCABULARY, WORDS = 50_000, 60


def random_pages(count: int) -> list[Passage]:
    """Return synthetic pages."""
    chance = Random(11)
    vocabulary = [f"Word{number:x}" for number in range(VOCABULARY)]
    weights = [*accumulate((rank + 2.7) ** -1.07 for rank in range(VOCABULARY))]
    passages = []
    for number in range(count):
        words = chance.choices(vocabulary, cum_weights=weights, k=WORDS)
        title = f"{' '.join(chance.choices(vocabulary, k=2))} {number}"
        passages.append(Passage(f"p{number}", " ".join(words).replace(" Word1 ", ". ") + ".", title))
    return passages


async def timed(tools: OpenEnvironment, tool: str, arguments: Sequence[dict[str, str]]) -> list[float]:
    """Return the seconds of each call."""
    seconds = []
    for each in arguments:
        start = time.perf_counter()
        await tools.run(tool, each)
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=300)
    options = parser.parse_args()
    passages = random_pages(options.pages)
    start = time.perf_counter()
    pages = Pages(passages)
    loading = time.perf_counter() - start
    make = tools_over(pages)
    chance = Random(5)
    titles = [passage.title for passage in chance.choices(passages, k=options.searches)]
    kinds = {
        "Search, exact title": ("Search", [{"title": title} for title in titles]),
        "Search, other spelling": ("Search", [{"title": title.upper().replace(" ", "_")} for title in titles]),
        "Search, not found": ("Search", [{"title": title.replace(" ", "x ", 1)} for title in titles]),
        "Lookup": ("Lookup", [{"keyword": "word3"}] * options.searches),
    }
    rows = []
    with Environment("wiki", lambda: make).open() as tools:
        for name, (tool, arguments) in kinds.items():
            seconds = sorted(asyncio.run(timed(tools, tool, arguments)))
            p95 = seconds[int(len(seconds) * 0.95)]
            rows.append([name, f"{median(seconds) * 1000:.2f}", f"{p95 * 1000:.2f}", f"{seconds[-1] * 1000:.2f}"])
    peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.pages:,} pages loaded in {loading:.1f} s, peak {peak:.0f} MiB")
    print(table([["", "median ms", "p95 ms", "most ms"], *rows]))


if __name__ == "__main__":
    main()
