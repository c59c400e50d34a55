"""Score chunks in processes of Ray, on this machine or on a cluster."""

from __future__ import annotations

import os
import platform
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from ipaddress import ip_address
from logging import ERROR
from pathlib import Path
from typing import Any

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe
from pytest_rageval.importing import cause_text
from pytest_rageval.scoring.engines.function import ChunkFunction, reply_of, result_of
from pytest_rageval.scoring.engines.http2 import http2_problem

__all__ = ["RayEngine", "cluster_mismatch", "node_mismatch"]

PACKAGE = "pytest-rageval"

RETRIES = 10
"""Number of times that Ray repeats a chunk after its node or process died."""

WAIT_S = 10.0
"""Seconds that the head of the cluster has to answer; Ray itself waits for minutes."""

PROBE_S = 60.0
"""Seconds that each node has to report its versions."""

MEMORY = 200_000_000
"""Bytes of Ray's object store on this machine: a few chunks for each process."""


class RayEngine:
    """Applies a function in the processes of a Ray cluster.

    Args:
        jobs: the number of chunks that run at once; None for as many as the cluster has cores.
        address: ``HOST:PORT`` of the cluster's head; None starts Ray on this machine and stops it at the end.

    Raises:
        MissingDependencyError: Ray is not installed.
        SettingError: the address does not answer, or the program has already started another Ray (in `map`).
    """

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        if find_spec("ray") is None:
            raise MissingDependencyError("--engine ray", "ray")
        self._jobs, self._address = jobs, address
        self.addresses: Sequence[str] = ()
        if address is not None:
            _check_address(address)

    def map(self, chunks: Sequence[Path], function: ChunkFunction) -> Iterator[tuple[Path, bytes]]:
        """Yield each chunk with its result, in the order in which they end."""
        if not chunks:
            return
        with _connected(self._jobs, self._address) as ray:
            nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
            _check_nodes(ray, nodes)
            self.addresses = sorted({str(node["NodeManagerAddress"]) for node in nodes})
            slots = self._jobs or 2 * sum(int(node["Resources"]["CPU"]) for node in nodes)
            yield from _results(ray, chunks, function, slots)


def _results(ray: Any, chunks: Sequence[Path], function: ChunkFunction, slots: int) -> Iterator[tuple[Path, bytes]]:
    """Yield each chunk with its result; at most ``slots`` chunks are in memory."""
    task = ray.remote(max_retries=RETRIES)(reply_of)
    sent = ray.put(function)
    waiting = list(reversed(chunks))
    pending: dict[Any, Path] = {}
    while waiting or pending:
        while waiting and len(pending) < slots:
            chunk = waiting.pop()
            pending[task.remote(sent, chunk.read_bytes())] = chunk
        (done, *_), _ = ray.wait(list(pending), num_returns=1)
        chunk = pending.pop(done)
        try:
            reply = ray.get(done)
        except ray.exceptions.RayError as error:
            problem = f"Ray could not score {chunk.name}: {cause_text(error)}"
            raise SettingError(f"{problem}; finished chunks stay, so run the command again") from error
        yield chunk, result_of(reply)


@contextmanager
def _connected(jobs: int | None, address: str | None) -> Iterator[Any]:
    """Yield the connected module of Ray; a Ray that the program has already started is used and left running."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        running = ray.get_runtime_context().gcs_address
        problem = address and cluster_mismatch(address, running, ray.util.get_node_ip_address())
        if problem:
            raise SettingError(problem)
        yield ray
        return
    with tempfile.TemporaryDirectory(prefix="rag-", dir=_short_folder(), ignore_cleanup_errors=True) as folder:
        local_options = {
            "num_cpus": jobs,
            "include_dashboard": False,
            "object_store_memory": MEMORY,
            "_temp_dir": folder,
        }
        try:
            ray.init(address or "local", log_to_driver=False, logging_level=ERROR, **{} if address else local_options)
        except Exception as error:  # Ray raises a plain Exception if it does not start in time
            raise SettingError(_start_problem(address, error)) from error
        try:
            yield ray
        finally:
            ray.shutdown()  # ends only the Ray that this process started


def _short_folder() -> str | None:
    """Return a folder with a short path, because the paths of Ray's sockets deep below it have a maximum length."""
    return "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - the folder below it is our own


def _check_address(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise SettingError(f"--address is {ascii_safe(address)}; write HOST:PORT, such as 10.0.0.1:6379")
    problem = http2_problem(host.strip("[]"), int(port), WAIT_S)
    if problem is not None:
        advice = "correct --address, or start the cluster's head"
        raise SettingError(f"no Ray at {ascii_safe(address)}: {problem}; {advice}")


def _start_problem(address: str | None, error: BaseException) -> str:
    text = " ".join(str(error).split())
    if address is None:
        return f"Ray cannot start on this machine: {ascii_safe(text[:300])}"
    if "Version mismatch" in text:
        return f"Ray at {ascii_safe(address)} has other versions: {ascii_safe(text[:300])}; use one version everywhere"
    joined = f"join it with: ray start --address={address}"
    return f"this machine is not in the cluster of {ascii_safe(address)} ({ascii_safe(text[:200])}); {joined}"


def _check_nodes(ray: Any, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Compare the versions of all nodes with ours, before the first chunk.

    The nodes call functions of the standard library, which are pickled by name; a node with another version of Python
    could not unpickle our code.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if not nodes:
        raise SettingError("no node of the Ray cluster has a CPU; start one with --num-cpus")
    python, package = ray.remote(platform.python_version), ray.remote(version)
    calls = {}
    for node in nodes:
        on_node = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        options = {"num_cpus": 0, "scheduling_strategy": on_node}
        calls[str(node["NodeManagerAddress"])] = (
            python.options(**options).remote(), package.options(**options).remote(PACKAGE)
        )  # fmt: skip
    for address, (python_call, package_call) in calls.items():
        try:
            node_python = ray.get(python_call, timeout=PROBE_S)
            node_package = ray.get(package_call, timeout=PROBE_S)
        except ray.exceptions.RayError as error:
            problem = f"the node {address} cannot report its version of {PACKAGE}: {cause_text(error)}"
            raise SettingError(f"{problem}; install {PACKAGE} {version(PACKAGE)} there") from error
        difference = node_mismatch(address, node_python, node_package)
        if difference is not None:
            raise SettingError(difference)


def cluster_mismatch(address: str, running: str, own_ip: str) -> str | None:
    """Return why the running Ray is not the cluster of ``--address``; None if it is.

    Args:
        address: ``HOST:PORT`` of ``--address``.
        running: ``IP:PORT`` of the head of the cluster that this process has joined.
        own_ip: the address of this machine, which replaces its loopback addresses.
    """
    if _resolved(address, own_ip) == _resolved(running, own_ip):
        return None
    problem = f"this program has already started Ray at {running}, and --address is {ascii_safe(address)}"
    return f"{problem}; leave --address out, or call ray.shutdown() first"


def _resolved(address: str, own_ip: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    try:
        ip = str(socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return host, port
    return own_ip if ip_address(ip.partition("%")[0]).is_loopback else ip, port


def node_mismatch(address: str, python: str, package: str) -> str | None:
    """Return the difference between the versions of a node and ours that may change scores; None if there is none.

    Args:
        address: the node's address.
        python: its version of Python.
        package: its version of this package.
    """
    own_python, own_package = platform.python_version(), version(PACKAGE)
    if python.split(".")[:2] != own_python.split(".")[:2]:
        problem = f"the node {address} has Python {python}, and this process {own_python}"
        return f"{problem}; use one minor version everywhere"
    if package != own_package:
        problem = f"the node {address} has {PACKAGE} {package}, and this process {own_package}"
        return f"{problem}; install one version everywhere"
    return None
