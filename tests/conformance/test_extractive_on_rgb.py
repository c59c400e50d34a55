from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from pytest_rageval.datasets.rgb import load
from pytest_rageval.metrics.answers.containment import ACCURACY
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.phrases import ERROR_SENTENCE
from pytest_rageval.model.sample import Sample
from pytest_rageval.systems.extractive import extractive
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

FILES = ("en_base", "zh_refine")


def cases(data: Path, file: str, noise_rate: float) -> list[Case]:
    raw = {"dataset": f"rgb:{file}.json", "ability": "noise_robustness", "noise_rate": noise_rate}
    return [case for _, case in expand(parse_settings(raw, "test"), load(data / "rgb" / f"{file}.json"), 0)]


@cache
def answered_cases(data: Path, file: str, noise_rate: float) -> list[tuple[Case, Answer]]:
    """Return each case with the reader's answer."""
    return [(case, extractive(case.query)) for case in cases(data, file, noise_rate)]


def accuracy(answered: Sequence[tuple[Case, Answer]]) -> float:
    return sum(ACCURACY.compute(Sample(case, answer)).value or 0 for case, answer in answered) / len(answered)


@pytest.mark.parametrize("file", FILES)
def test_the_reader_beats_the_first_passage_among_noise(rageval_data: Path, file: str) -> None:
    sample = answered_cases(rageval_data, file, 0.8)
    reader = accuracy(sample)
    floor = accuracy([(case, Answer(case.supplied[0].text)) for case, _ in sample if case.supplied])
    assert reader > floor + 0.2


@pytest.mark.parametrize("file", FILES)
def test_the_reader_rarely_reports_false_contradictions(rageval_data: Path, file: str) -> None:
    answers = [answer.text for _, answer in answered_cases(rageval_data, file, 0.0)]
    flagged = sum(answer.startswith(tuple(ERROR_SENTENCE.values())) for answer in answers)
    assert flagged <= len(answers) / 100


@pytest.mark.parametrize("file", FILES)
def test_the_reader_rejects_more_often_without_evidence(rageval_data: Path, file: str) -> None:
    rates = []
    for rate in (0.0, 1.0):
        sample = answered_cases(rageval_data, file, rate)
        rates.append(sum(answer.abstained is True for _, answer in sample) / len(sample))
    assert rates[0] < 0.1
    assert rates[1] > 2 * rates[0]


def test_a_case_of_short_passages_takes_milliseconds(rageval_data: Path) -> None:
    queries = [case.query for case in cases(rageval_data, "zh_refine", 0.4)]
    extractive(queries[0])
    start = time.process_time()
    for query in queries:
        extractive(query)
    assert (time.process_time() - start) / len(queries) < 0.03
