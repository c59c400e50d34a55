"""Fixtures shared by every test of the project."""

from __future__ import annotations

import gc
import gettext
import math
import os
import signal
import ssl
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import httpcore  # noqa: F401 - for the same reason as numpy: httpx keeps a table of its exceptions
import numpy as np  # noqa: F401 - pytester forgets what a run inside imports first, and numpy loads once a process
import pytest
from hypothesis import Phase, settings

if TYPE_CHECKING:
    from support.processes.forked_workers import WorkerServer
    from support.servers.openai_server import OpenAIServer

pytest.register_assert_rewrite("support")
settings.register_profile(  # a busy machine makes no property false, and a smallest example needs no comments
    "suite", deadline=None, max_examples=40, phases=set(Phase) - {Phase.explain}
)
settings.register_profile("thorough", deadline=None, max_examples=1_000)
settings.load_profile("suite")
ROOT = Path(__file__).parent
sys.dont_write_bytecode = False  # a thousand runs inside, each of which would compile anew what it imports
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["OMP_NUM_THREADS"] = "1"  # threads of two workers on two cores wait for each other, and spin meanwhile
os.environ["HF_HUB_OFFLINE"] = "1"  # a missing model is searched for here alone, not asked for again and again
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job ignores Ctrl-C, which tests send
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Collect garbage more rarely."""
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def _modules_frozen() -> list[int]:
    """Return how many modules were loaded at each freeze of the heap."""
    return [0]


@pytest.fixture(scope="module", autouse=True)
def _frozen_heap(_modules_frozen: list[int]) -> None:
    """Keep what is imported by now out of later collections of garbage: model libraries are millions of objects."""
    if len(sys.modules) > _modules_frozen[-1] + 50:
        gc.collect()
        gc.freeze()
        _modules_frozen.append(len(sys.modules))


@pytest.fixture(scope="session", autouse=True)
def _inside() -> Iterator[dict[str, str]]:
    """Let pytest runs that tests start load only this plugin and xdist; ``-p NAME`` loads another."""
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist -p pytest_rageval.plugin"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment


@pytest.fixture(scope="session", autouse=True)
def _read_once() -> Iterator[None]:
    """Read once what each HTTP client and each command reads anew: certificates in 22 ms, no translations in 3."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssl.create_default_context", cache(ssl.create_default_context))
        patch.setattr("gettext.find", cache(gettext.find))
        yield


@pytest.fixture(scope="session", autouse=True)
def worker_server() -> Iterator[WorkerServer]:
    """Return what forks the workers of runs inside tests; it starts with the first of them."""
    from support.processes.forked_workers import shared_server

    yield shared_server()
    shared_server().stop()


@pytest.fixture
def pytester(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    _inside: dict[str, str],
    worker_server: WorkerServer,
) -> pytest.Pytester:
    """Return pytest's own `pytester`, with runs that start and end quickly."""
    from support.processes.quick_starts import QUICK_ENDS, QUICK_STARTS

    for owner, name, quick in (*QUICK_STARTS, *QUICK_ENDS):
        monkeypatch.setattr(owner, name, quick, raising=False)
    inside: pytest.Pytester = request.getfixturevalue("pytester")
    monkeypatch.setenv("PYTEST_ADDOPTS", _inside["PYTEST_ADDOPTS"])  # pytester removes it
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # a run inside is no part of this session
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
