"""Training on the labels of the example gives its committed judge."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from support.projects.readme_blocks import ROOT

from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.judge_training.examples import Examples, read_examples
from pytest_rageval.judge_training.training import train
from pytest_rageval.judges.values import Worth
from pytest_rageval.local_judges.judge_file import content_of, read_content, read_judge
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE
from pytest_rageval.report.files.read_results import StoredRun

FOLDER = ROOT / "example_project" / "judge"


def fail_without_texts() -> StoredRun:
    raise AssertionError("the sheet has its texts")


def labelled(path: Path) -> Examples:
    return read_examples([path], ACCURACY_JUDGE, Worth(), fail_without_texts)


def test_half_of_the_200_answers_of_two_systems_are_wrong() -> None:
    rows = [row for _, row in read_sheet(FOLDER / "labels.csv")]
    assert Counter(row["label"] for row in rows) == {"right": 100, "wrong": 100}
    assert Counter(row["system"] for row in rows) == {"kiosk": 100, "guide": 100}


def test_training_again_gives_the_committed_judge() -> None:
    pytest.importorskip("sklearn", reason="the extra judge is not installed")
    committed = read_judge(read_content(FOLDER / "accuracy", "x"), "x")
    trained = train(labelled(FOLDER / "labels.csv"), ACCURACY_JUDGE, None, seed=0, shares=None)
    one, other = (json.loads(json.dumps(content_of(each, None))) for each in (trained.judge, committed))
    for each in (one, other):
        del each["versions"]  # the version of scikit-learn depends on the Python version
    thresholds = [each["head"].pop("thresholds") for each in (one, other)]
    assert one == other
    for ours, theirs in zip(*thresholds, strict=True):
        assert ours["weights"] == pytest.approx(theirs["weights"], abs=1e-6)
        assert ours["intercept"] == pytest.approx(theirs["intercept"], abs=1e-6)
