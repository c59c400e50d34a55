"""Removal of old runs by the keep limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rageval.report.files.pruning import FolderLock, KeepLimits, parse_keep_limits, prune
from pytest_rageval.report.files.run_folder import run_age

HOLD_LOCK = "import sys; from pathlib import Path; from pytest_rageval.report.files.pruning import FolderLock;"
HOLD_LOCK += "lock = FolderLock(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder of twelve runs, two per second."""
    runs = tmp_path / ".rageval" / "runs"
    for second in range(6):
        for name in (f"20260101T00000{second}", f"20260101T00000{second}-2"):
            (runs / name).mkdir(parents=True)
            (runs / name / "outcomes.jsonl").write_text("{}\n")
    return runs


def remaining(runs: Path) -> list[str]:
    return [path.name for path in sorted(runs.iterdir(), key=run_age)]


def test_the_newest_runs_stay(runs: Path) -> None:
    before = remaining(runs)
    assert prune(runs, KeepLimits(5)) == before[:-5]
    assert remaining(runs) == before[-5:] == ["20260101T000003-2", *before[-4:]]
    assert prune(runs, KeepLimits(5)) == []
    assert os.listdir(runs.parent) == ["runs"]


def test_numbered_runs_of_one_second_are_in_order(runs: Path) -> None:
    for number in range(3, 12):
        (runs / f"20260101T000005-{number}").mkdir()
    prune(runs, KeepLimits(3))
    assert remaining(runs) == ["20260101T000005-9", "20260101T000005-10", "20260101T000005-11"]


def test_spared_runs_and_other_folders_stay(runs: Path) -> None:
    (runs / "mine").mkdir()
    (runs / "20260101T000000.zip").write_text("packed")
    prune(runs, KeepLimits(1), spared=["20260101T000001"])
    assert sorted(os.listdir(runs)) == ["20260101T000000.zip", "20260101T000001", "20260101T000005-2", "mine"]


def test_an_active_run_stays_until_it_ends(runs: Path) -> None:
    lock = FolderLock(runs / "20260101T000000")
    prune(runs, KeepLimits(1))
    assert remaining(runs) == ["20260101T000000", "20260101T000005-2"]
    lock.end()
    assert os.listdir(runs / "20260101T000000") == ["outcomes.jsonl"]
    assert prune(runs, KeepLimits(1)) == ["20260101T000000"]


def test_an_active_run_of_another_process_stays_until_the_process_is_killed(runs: Path) -> None:
    oldest = runs / "20260101T000000"
    command = [sys.executable, "-c", HOLD_LOCK, str(oldest)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        prune(runs, KeepLimits(3))
        assert remaining(runs) == [oldest.name, "20260101T000004-2", "20260101T000005", "20260101T000005-2"]
        process.kill()
    assert prune(runs, KeepLimits(4)) == []  # a killed run counts like any other, and may be resumed
    assert prune(runs, KeepLimits(3)) == [oldest.name]


def test_leftovers_of_another_pruning_are_removed(runs: Path) -> None:
    (runs / "20260101T000000").rename(runs.parent / "removed-20260101T000000")
    assert prune(runs, KeepLimits(11)) == []
    assert os.listdir(runs.parent) == ["runs"]


def test_older_runs_are_removed_until_the_rest_is_small_enough(runs: Path) -> None:
    before = remaining(runs)
    for name in before:
        (runs / name / "results.json").write_text("x" * 997)  # 1,000 bytes per run
    assert prune(runs, KeepLimits(8, 5000)) == before[:-5]
    assert prune(runs, KeepLimits(None, 4999)) == before[-5:-4]
    assert prune(runs, KeepLimits(3, 10**9)) == before[-4:-3]
    assert prune(runs, KeepLimits(3, 1)) == before[-3:-1]
    assert remaining(runs) == before[-1:]


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("50", KeepLimits(50)),
        (" all ", KeepLimits(None)),
        ("50, 2 GB", KeepLimits(50, 2 * 10**9)),
        ("all,1.5gb", KeepLimits(None, 1_500_000_000)),
        ("3 , 10 KB", KeepLimits(3, 10_000)),
    ],
)
def test_the_setting_is_parsed(text: str, keep: KeepLimits) -> None:
    assert parse_keep_limits(text) == keep


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "2 GB", "50, 2", "50 2 GB", "50, GB", "50, -1 GB"])
def test_a_malformed_setting_is_rejected(text: str) -> None:
    assert parse_keep_limits(text) is None
