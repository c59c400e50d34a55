"""Ray: processes on this machine or on all machines of a cluster, which are sent chunks as bytes."""

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
from pytest_rageval.scoring.engines.http2 import answers_http2

__all__ = ["RayEngine", "different_cluster", "different_node"]

PACKAGE = "pytest-rageval"

RETRIES = 10
"""Number of times that Ray runs a chunk again whose node or process died."""

WAIT_S = 10.0
"""Seconds in which the cluster's head has to answer; Ray itself waits for minutes."""

PROBE_S = 60.0
"""Seconds in which each node has to say its versions."""

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
    """Return the module of Ray, connected; a Ray that the program has already started is used and stays."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        running = ray.get_runtime_context().gcs_address
        problem = address and different_cluster(address, running, ray.util.get_node_ip_address())
        if problem:
            raise SettingError(problem)
        yield ray
        return
    with tempfile.TemporaryDirectory(prefix="rag-", dir=_short_folder(), ignore_cleanup_errors=True) as folder:
        own = {"num_cpus": jobs, "include_dashboard": False, "object_store_memory": MEMORY, "_temp_dir": folder}
        try:
            ray.init(address or "local", log_to_driver=False, logging_level=ERROR, **{} if address else own)
        except Exception as error:  # Ray raises a bare one if it does not start in time
            raise SettingError(_refusal(address, error)) from error
        try:
            yield ray
        finally:
            ray.shutdown()  # ends what this process started, and no other Ray of the machine


def _short_folder() -> str | None:
    """Return a folder with a short path: Ray's sockets lie deep below it, and their paths have to be short."""
    return "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - the folder below it is our own


def _check_address(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise SettingError(f"--address is {ascii_safe(address)}; write HOST:PORT, such as 10.0.0.1:6379")
    problem = answers_http2(host.strip("[]"), int(port), WAIT_S)
    if problem is not None:
        advice = "correct --address, or start the cluster's head"
        raise SettingError(f"no Ray at {ascii_safe(address)}: {problem}; {advice}")


def _refusal(address: str | None, error: BaseException) -> str:
    text = " ".join(str(error).split())
    if address is None:
        return f"Ray cannot start on this machine: {ascii_safe(text[:300])}"
    if "Version mismatch" in text:
        return f"Ray at {ascii_safe(address)} has other versions: {ascii_safe(text[:300])}; use one version everywhere"
    joined = f"join it with: ray start --address={address}"
    return f"this machine is not in the cluster of {ascii_safe(address)} ({ascii_safe(text[:200])}); {joined}"


def _check_nodes(ray: Any, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Compare the versions of all nodes with ours, before the first chunk.

    The functions that a node is asked to call are those of the standard library, because those are pickled by name: a
    node with another Python could not read our code.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    if not nodes:
        raise SettingError("no node of the Ray cluster has a CPU; start one with --num-cpus")
    python, package = ray.remote(platform.python_version), ray.remote(version)
    asked = {}
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        here = {"num_cpus": 0, "scheduling_strategy": there}
        asked[str(node["NodeManagerAddress"])] = (
            python.options(**here).remote(), package.options(**here).remote(PACKAGE)
        )  # fmt: skip
    for address, (its_python, its_package) in asked.items():
        try:
            theirs = ray.get(its_python, timeout=PROBE_S)
            own = ray.get(its_package, timeout=PROBE_S)
        except ray.exceptions.RayError as error:
            problem = f"the node {address} cannot say its version of {PACKAGE}: {cause_text(error)}"
            raise SettingError(f"{problem}; install {PACKAGE} {version(PACKAGE)} there") from error
        difference = different_node(address, theirs, own)
        if difference is not None:
            raise SettingError(difference)


def different_cluster(address: str, running: str, own_ip: str) -> str | None:
    """Return why a Ray that already runs is not the cluster that is asked for; None if it is.

    Args:
        address: ``HOST:PORT`` that is asked for.
        running: ``IP:PORT`` of the head of the cluster that this process has joined.
        own_ip: the address of this machine, which stands for its loopback addresses.
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


def different_node(address: str, python: str, package: str) -> str | None:
    """Return how the versions of a node differ from ours in what decides scores; None if they do not.

    Args:
        address: the node's address.
        python: its version of Python.
        package: its version of this package.
    """
    mine, own = platform.python_version(), version(PACKAGE)
    if python.split(".")[:2] != mine.split(".")[:2]:
        return f"the node {address} has Python {python}, and this process {mine}; use one minor version everywhere"
    if package != own:
        return f"the node {address} has {PACKAGE} {package}, and this process {own}; install one version everywhere"
    return None
