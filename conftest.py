"""Fixtures shared by every test of the project."""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpcore  # noqa: F401 - for the same reason as numpy: httpx keeps a table of its exceptions
import numpy as np  # noqa: F401 - pytester forgets what a run inside imports first, and numpy loads once a process
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from support.processes.forked_workers import WorkerServer
    from support.servers.openai_server import OpenAIServer

pytest.register_assert_rewrite("support")
settings.register_profile("suite", deadline=None, max_examples=40)  # a busy machine makes no property false
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("suite")
ROOT = Path(__file__).parent
sys.dont_write_bytecode = False  # a thousand runs inside, each of which would compile anew what it imports
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job ignores Ctrl-C, which tests send
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep what is imported and collected out of later collections of garbage, and collect more rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _inside() -> Iterator[dict[str, str]]:
    """Let pytest runs that tests start load only this plugin and xdist; ``-p NAME`` loads another."""
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist -p pytest_rageval.plugin"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment


@pytest.fixture(scope="session")
def worker_server() -> Iterator[WorkerServer]:
    """Return what forks the workers of runs inside tests."""
    from support.processes.forked_workers import WorkerServer

    server = WorkerServer()
    yield server
    server.stop()


@pytest.fixture
def pytester(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _inside: dict[str, str],
    worker_server: WorkerServer,
) -> pytest.Pytester:
    """Return pytest's own `pytester`, with runs that start quickly."""
    from support.processes.quick_starts import QUICK_STARTS

    inside: pytest.Pytester = request.getfixturevalue("pytester")
    monkeypatch.setenv("PYTEST_ADDOPTS", _inside["PYTEST_ADDOPTS"])  # pytester removes it
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # a run inside is no part of this session
    for owner, name, quick in QUICK_STARTS:
        monkeypatch.setattr(owner, name, quick, raising=False)
    if sys.platform == "linux":
        monkeypatch.setattr("execnet.gateway_io.Popen2IOMaster", worker_server.gateway)
    return inside


@pytest.fixture(autouse=True)
def _same_terminal_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a run inside prints depend neither on this terminal nor on who runs the tests, as where CI is set."""
    of_ci = (
        "CI",
        "BUILD_NUMBER",
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_RUN_ID",
        "CI_JOB_URL",
        "CI_COMMIT_SHA",
    )
    for name in (*of_ci, "NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("pytest_rageval.activity.DELAY", math.inf)  # a slow machine shows nothing else than a fast one


@pytest.fixture(scope="session")
def rageval_data() -> Path:
    """Return the folder of real, public data that is not part of the project; skip where it is absent."""
    path = Path(os.environ.get("RAGEVAL_DATA") or ROOT.parent / "shared" / "data")
    if not path.is_dir():
        pytest.skip(f"the public data is not at {path} (set RAGEVAL_DATA)")
    return path


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """Return the folder of small checked-in data."""
    return ROOT / "fixtures"


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """Return a started loopback server that speaks the OpenAI protocol; set what it shall do on it."""
    from support.servers.openai_server import OpenAIServer

    with OpenAIServer() as server:
        yield server
