"""Engine `ray` writes the bytes of the local engine, even if a node dies."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest
from support.processes.network_namespaces import Machine, linked_machines
from support.samples.recorded_data import answer_rows, case_rows, write_rows

from pytest_rageval.cli import main
from pytest_rageval.scoring.engines.ray_cluster import cluster_mismatch, node_mismatch

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")

RefusedScore = Callable[..., str]

CODE = """
import sys
from pytest_rageval.scoring import split
split.CHUNK_BYTES = 8_000
from pytest_rageval.cli import main
sys.exit(main(["score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", "accuracy,token_f1", "--gate",
               "accuracy >= 0.1", "--by", "topic", *sys.argv[1:]]))
"""
START_S = 120
"""Most seconds that Ray may need to start, even on a busy machine."""

QUIET = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}


def _score(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, *args]
    return subprocess.run(command, cwd=folder, env=os.environ | QUIET, capture_output=True, text=True, check=False)


def _files(folder: Path) -> dict[str, bytes]:
    paths = [*sorted((folder / "cases").iterdir()), folder / "summary.json"]
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with data of many chunks and with scores of the local engine in `local`."""
    write_rows(tmp_path / "cases.jsonl", case_rows(600))
    write_rows(tmp_path / "answers.jsonl", answer_rows(600, seed=5))
    assert _score(tmp_path, "--out", "local", "--jobs", "1").returncode == 0
    return tmp_path


class Cluster:
    """A Ray head and Ray nodes with one core each, on separate machines.

    Args:
        folder: a folder with a short path.
    """

    def __init__(self, folder: Path, head: Machine) -> None:
        self._folder = folder
        self._head = head
        self.address = f"{head.address}:6379"
        self._started: list[subprocess.Popen[bytes]] = []

    def start_head(self) -> None:
        """Start the head."""
        self._start(self._head, "", "--head", "--port=6379", "--include-dashboard=false", f"--temp-dir={self._folder}")

    def start_node(self, node: Machine, path: str) -> None:
        """Start a node that also imports from the folder ``path``; wait until the head knows it."""
        self._start(node, path, f"--address={self.address}")
        code = (
            "import sys, time, ray\n"
            "from pytest_rageval.scoring.engines.http2 import http2_problem\n"
            "host, _, port = sys.argv[1].partition(':')\n"
            "while http2_problem(host, int(port), 1):\n    time.sleep(0.1)\n"
            "for _ in range(100):\n"
            "    try:\n        ray.init(sys.argv[1], log_to_driver=False, logging_level=50)\n        break\n"
            "    except (ConnectionError, RuntimeError, ValueError):\n        time.sleep(0.2)\n"
            "def living():\n    return [node['Alive'] and 'CPU' in node['Resources'] for node in ray.nodes()]\n"
            "while sum(living()) != 2:\n    time.sleep(0.1)\n"
        )
        command = self._head.command(sys.executable, "-c", code, self.address)
        subprocess.run(command, env=os.environ | QUIET, capture_output=True, timeout=START_S, check=True)

    def wait(self) -> None:
        """Wait until all started processes have ended."""
        for process in self._started:
            process.wait()

    def _start(self, machine: Machine, path: str, *args: str) -> None:
        paths = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={machine.address}",
                   "--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats", "--block",
                   *args]  # fmt: skip
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(
                machine.command(*command), env=os.environ | QUIET | {"PYTHONPATH": paths}, stdout=log, stderr=log
            )
        self._started.append(process)


@contextmanager
def _machines() -> Iterator[tuple[Cluster, Machine, Machine]]:
    """Yield a cluster with a running head, the machine of the head and the machine of a node."""
    folder = Path(tempfile.mkdtemp(prefix="rag-", dir="/tmp"))
    with linked_machines("head", "node") as (head, node):
        cluster = Cluster(folder, head)
        try:
            cluster.start_head()
            yield cluster, head, node
        finally:
            head.kill()
            node.kill()
            cluster.wait()
            shutil.rmtree(folder)


@needs_ray
@pytest.mark.timeout(300)
def test_ray_on_this_machine_gives_the_same_bytes(data: Path) -> None:
    result = _score(data, "--out", "ray", "--engine", "ray", "--jobs", "2")
    assert (result.returncode, result.stderr) == (0, "")
    assert _files(data / "ray") == _files(data / "local")


@needs_ray
@pytest.mark.timeout(600)
def test_a_node_of_another_version_is_refused_and_one_that_dies_changes_no_byte(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "pytest_rageval-99.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-rageval\nVersion: 99\n")
    with _machines() as (cluster, head, node):
        call = ("--out", "cluster", "--engine", "ray", "--address", cluster.address)
        command = head.command(sys.executable, "-c", CODE, *call)
        cluster.start_node(node, str(other.parent))
        refused_run = subprocess.run(
            command, cwd=data, env=os.environ | QUIET, capture_output=True, text=True, check=False
        )
        shutil.rmtree(other)
        process = subprocess.Popen(command, cwd=data, env=os.environ | QUIET, stderr=subprocess.PIPE)
        results = data / "cluster" / "work" / "results"
        while process.poll() is None and not any(results.glob("*")):
            time.sleep(0.01)
        scored_count = len(list(results.glob("*")))
        node.kill()
        _, error = process.communicate(timeout=START_S)
    assert refused_run.returncode == 2, refused_run.stderr
    assert refused_run.stderr.startswith(
        f"rageval: the node {node.address} has pytest-rageval 99, and this process {version('pytest-rageval')}; "
    )
    assert process.returncode == 0, error
    files = _files(data / "local")
    assert 0 < scored_count < len(files) - 1
    assert _files(data / "cluster") == files
    assert json.loads((data / "cluster" / "manifest.json").read_text())["nodes"] == [head.address, node.address]


def test_a_node_needs_the_same_minor_python_version() -> None:
    python, package = platform.python_version(), version("pytest-rageval")
    minor = ".".join(python.split(".")[:2])
    assert node_mismatch("10.0.0.2", python, package) is None
    assert node_mismatch("10.0.0.2", f"{minor}.99", package) is None
    assert node_mismatch("10.0.0.2", "3.99.1", package) == (
        f"the node 10.0.0.2 has Python 3.99.1, and this process {python}; use one minor version everywhere"
    )


@pytest.mark.parametrize("address", ["10.0.0.1:6379", "127.0.0.1:6379", "localhost:6379"])
def test_the_address_of_a_running_cluster_is_accepted(address: str) -> None:
    assert cluster_mismatch(address, "10.0.0.1:6379", "10.0.0.1") is None


@pytest.mark.parametrize("address", ["10.0.0.2:6379", "10.0.0.1:6380", "127.0.0.1:6380"])
def test_the_address_of_another_cluster_is_refused(address: str) -> None:
    assert cluster_mismatch(address, "10.0.0.1:6379", "10.0.0.1") == (
        f"this program has already started Ray at 10.0.0.1:6379, and --address is {address}; "
        "leave --address out, or call ray.shutdown() first"
    )


@pytest.fixture
def refusal_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RefusedScore:
    """Return a function that calls `rageval score` with invalid arguments and returns the error message."""
    write_rows(tmp_path / "cases.jsonl", [{"id": "q1", "question": "?", "answers": ["Paris"]}])
    write_rows(tmp_path / "answers.jsonl", [{"id": "q1", "answer": "Paris"}])
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> str:
        assert main(["score", "jsonl:cases.jsonl", "answers.jsonl", "--out", "scores", *args]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert not (tmp_path / "scores").exists()
        return error

    return call


def test_engines_that_cannot_be_used_are_refused(refusal_of: RefusedScore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "unknown engine 'rey'; did you mean 'ray'?" in refusal_of("--engine", "rey")
    assert "add --engine ray, or leave it out" in refusal_of("--address", "10.0.0.1:6379")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'pytest-rageval[ray]'" in refusal_of("--engine", "ray")


@needs_ray
def test_addresses_that_do_not_answer_are_refused(refusal_of: RefusedScore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--address is 10.0.0.1; write HOST:PORT" in refusal_of("--engine", "ray", "--address", "10.0.0.1")
    monkeypatch.setattr("pytest_rageval.scoring.engines.ray_cluster.WAIT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        timeout_error = refusal_of("--engine", "ray", "--address", address)
    assert timeout_error.startswith(f"rageval: no Ray at {address}: it did not answer within 0.3 s; correct --address")
    assert f"no Ray at {address}: Connection refused" in refusal_of("--engine", "ray", "--address", address)


class QuietHandler(BaseHTTPRequestHandler):
    """Answers with HTTP/1 and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        return


@needs_ray
def test_an_http_server_is_not_mistaken_for_ray(refusal_of: RefusedScore) -> None:
    with HTTPServer(("127.0.0.1", 0), QuietHandler) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        error = refusal_of("--engine", "ray", "--address", f"127.0.0.1:{server.server_port}")
        thread.join()
    assert "it answers, but not as Ray's head does" in error
