"""Score the embedded reader on RGB's files, against "first passage" as the floor.

    python tests/benchmarks/reader_on_rgb.py [--data DIR]

Prints one table in GitHub's Markdown, each cell "extractive / first passage" in percent, and what an answer costs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tabulate import tabulate

from pytest_rageval.datasets.rgb import load
from pytest_rageval.metrics import BUILTIN
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Query
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.registry import Registry
from pytest_rageval.systems.extractive import extractive
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

NOISE_RATES = (0.0, 0.2, 0.4, 0.6, 0.8)
SEED = 0
METRICS: Registry[Metric] = Registry("metric", BUILTIN)


@dataclass(frozen=True, slots=True)
class Testbed:
    """One RGB ability over two files: what is scored, and the noise rates that make its columns."""

    ability: str
    files: tuple[str, ...]
    metrics: tuple[str, ...]
    noise_rates: tuple[float, ...]


TESTBEDS = (
    Testbed("noise_robustness", ("en_base", "zh_refine"), ("accuracy", "over_rejection_rate"), NOISE_RATES),
    Testbed("negative_rejection", ("en_base", "zh_refine"), ("rejection_rate",), (1.0,)),
    Testbed(
        "counterfactual_robustness",
        ("en_fact", "zh_fact"),
        ("error_detection_rate", "error_correction_rate", "fake_answer_rate", "accuracy", "rejection_rate"),
        (0.0,),
    ),
)


@dataclass(slots=True)
class Reader:
    """A reader under measurement, with the cost of its answers."""

    answer: Callable[[Query], Answer]
    seconds: list[float] = field(default_factory=list)
    characters: dict[str, list[int]] = field(default_factory=dict)

    def __call__(self, case: Case) -> Sample:
        start = time.perf_counter()
        answer = self.answer(case.query)
        self.seconds.append(time.perf_counter() - start)
        self.characters.setdefault(case.instance.language, []).append(len(answer.text))
        return Sample(case, answer)


def first_passage(query: Query) -> Answer:
    """Answer with the whole of the first passage."""
    return Answer(query.passages[0].text if query.passages else "")


def rows(data: Path, readers: Sequence[Reader]) -> list[list[str]]:
    """Return the rows of the table: file, ability, metric and one cell a noise rate."""
    table = []
    for testbed in TESTBEDS:
        for file in testbed.files:
            instances = load(data / f"{file}.json")
            cells: dict[str, dict[float, str]] = {metric: {} for metric in testbed.metrics}
            for rate in testbed.noise_rates:
                cases = cases_of(testbed.ability, file, rate, instances)
                answered = [[reader(case) for case in cases] for reader in readers]
                for metric in testbed.metrics:
                    cells[metric][rate] = " / ".join(percent(metric, samples) for samples in answered)
            for metric, row in cells.items():
                columns = [row.get(rate, "") for rate in (*NOISE_RATES, 1.0)]
                table.append([file, testbed.ability, metric, *columns])
    return table


def cases_of(ability: str, file: str, noise_rate: float, instances: Sequence[Instance]) -> list[Case]:
    raw: dict[str, object] = {"dataset": f"rgb:{file}.json", "ability": ability, "passages": 5}
    if ability == "noise_robustness":
        raw["noise_rate"] = noise_rate
    return [case for _, case in expand(parse_settings(raw, file), instances, SEED)]


def percent(metric: str, samples: Sequence[Sample]) -> str:
    scores = [METRICS.get(metric).compute(sample).value for sample in samples]
    values = [value for value in scores if value is not None]
    return f"{100 * sum(values) / len(values):.1f}" if values else "–"


def main() -> None:
    root = Path(__file__).resolve().parents[2]
    default = Path(os.environ.get("RAGEVAL_DATA") or root.parent / "shared" / "data") / "rgb"
    parser = argparse.ArgumentParser(description="Score the embedded reader on RGB's files.")
    parser.add_argument("--data", type=Path, default=default, help="folder of RGB's files (default: %(default)s)")
    folder: Path = parser.parse_args().data
    missing = sorted({f"{file}.json" for t in TESTBEDS for file in t.files if not (folder / f"{file}.json").is_file()})
    if missing:
        parser.error(f"{folder} lacks {', '.join(missing)}; name the folder with --data")
    readers = {"extractive": Reader(extractive), "first passage": Reader(first_passage)}
    headers = ["file", "ability", "metric", *(f"noise {rate:g}" for rate in (*NOISE_RATES, 1.0))]
    print(tabulate(rows(folder, list(readers.values())), headers, tablefmt="github", disable_numparse=True))
    print()
    for name, reader in readers.items():
        length = ", ".join(f"{sum(n) / len(n):.0f} ({language})" for language, n in sorted(reader.characters.items()))
        print(f"{name}: characters an answer {length}; {1000 * median(reader.seconds):.2f} ms a case (median)")


if __name__ == "__main__":
    main()
