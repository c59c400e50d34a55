"""Several processes record into one cassette, and some are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rageval.llm.recordings.cassette import read
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request

RECORDER = """
import sys
from pathlib import Path
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request

folder, first, last, step = Path(sys.argv[1]), *map(int, sys.argv[2:])
cassettes = Cassettes(folder, "new_episodes", ())
for number in range(first, last, step):
    cassettes.record(Request("model", "m", {}, f"question {number}" * 20, 1), {"text": "answer" * 50})
    if number == first:
        print("started", flush=True)
cassettes.close()
"""


def start_recorder(folder: Path, first: int, last: int, step: int) -> subprocess.Popen[str]:
    arguments = [str(folder), str(first), str(last), str(step)]
    return subprocess.Popen([sys.executable, "-c", RECORDER, *arguments], stdout=subprocess.PIPE, text=True)


def request(number: int) -> Request:
    return Request("model", "m", {}, f"question {number}" * 20, 1)


def test_eight_processes_write_the_same_file_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    alone = Cassettes(tmp_path / "alone", "all")
    for number in range(400):
        alone.record(request(number), {"text": "answer" * 50})
    alone.close()
    processes = [start_recorder(tmp_path / "together", first, 400, 8) for first in range(8)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert os.listdir(tmp_path / "together") == ["model-m.jsonl"]
    assert os.listdir(tmp_path / "tmp") == []  # no lock remains
    one, other = (tmp_path / name / "model-m.jsonl" for name in ("alone", "together"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_other_processes_keep_recording_after_a_kill(tmp_path: Path) -> None:
    killed_process = start_recorder(tmp_path, 0, 1_000_000, 2)
    other_process = start_recorder(tmp_path, 1, 400, 2)
    assert killed_process.stdout is not None
    assert killed_process.stdout.readline() == "started\n"
    other_process.communicate(timeout=60)
    killed_process.send_signal(signal.SIGKILL)
    killed_process.communicate(timeout=60)
    assert (killed_process.returncode, other_process.returncode) == (-signal.SIGKILL, 0)
    cassettes = Cassettes(tmp_path, "new_episodes", ())
    for number in (0, *range(1, 400, 2)):
        assert cassettes.find(request(number)) == {"text": "answer" * 50}
    cassettes.record(request(-1), {"text": "after"})
    cassettes.close()
    path = tmp_path / "model-m.jsonl"
    keys = list(read(path))
    assert keys == sorted(keys)
    assert len(path.read_bytes().splitlines()) == len(keys)
    assert os.listdir(tmp_path) == [path.name]
    assert Cassettes(tmp_path).find(request(-1)) == {"text": "after"}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_at_any_moment_loses_at_most_the_record_in_flight(tmp_path: Path) -> None:
    for round_ in range(5):
        process = start_recorder(tmp_path, round_, 1_000_000, 5)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert Cassettes(tmp_path).find(request(round_)) is not None
    whole = read(tmp_path / "model-m.jsonl")
    assert {request(number).key for number in range(5)} <= set(whole)


REPLAYER = """
import sys
from pathlib import Path
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.request import Request

assert Cassettes(Path(sys.argv[1]), "none").find(Request("model", "m", {}, "question 1" * 20, 1)) is not None
print(*sorted(sys.modules.keys() & {"filelock", "litellm", "asyncio", "socket", "pytest", "difflib"}))
"""


def test_replay_imports_only_the_standard_library(tmp_path: Path) -> None:
    start_recorder(tmp_path, 1, 2, 1).communicate(timeout=60)
    replay = [sys.executable, "-c", REPLAYER, str(tmp_path)]
    modules = subprocess.run(replay, capture_output=True, text=True, check=True).stdout
    assert modules == "\n"
