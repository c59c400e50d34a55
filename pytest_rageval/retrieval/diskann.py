"""The index ``diskann``: a graph on disk, which a separate process searches with diskannpy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import DataError, MissingDependencyError, SettingError, ascii_safe, short_repr
from pytest_rageval.retrieval import diskann_process
from pytest_rageval.retrieval.diskann_process import MATRIX, NUMBER, resident_bytes
from pytest_rageval.retrieval.retriever_params import WHERE, Params

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix, Positions, Vectors

__all__ = ["DiskAnn", "DiskAnnSearcher"]

GIB = 2**30
"""Bytes of a gibibyte."""


@dataclass(frozen=True)
class DiskAnn:
    """DiskANN over vectors (Subramanya et al., 2019), with RaLLe's parameters.

    Compressed vectors are in memory, exact vectors on disk. The library runs in a separate process, because it writes
    to standard output, hangs with a single thread and needs numpy 1.25, and because the memory of a process can be
    measured. The process may run in another virtual environment. The library samples at random, so two builds may
    differ.

    Attributes:
        complexity: number of candidates for the neighbours of a vector during the build.
        graph_degree: maximum number of neighbours of a vector in the graph.
        search_complexity: number of candidates of a search; more candidates raise recall and time.
        beam_width: number of parallel reads from the disk.
        search_memory_gib: memory for the compressed vectors, in GiB; 0 selects 512 bytes per vector and a cache of
            250,000 nodes.
        build_memory_gib: memory for the build, in GiB.
        python: path of the Python interpreter that has diskannpy; "" for the current one.
        version: the version of diskannpy there.
    """

    complexity: int
    graph_degree: int
    search_complexity: int
    beam_width: int
    search_memory_gib: float
    build_memory_gib: float
    python: str
    version: str

    name = "diskann"

    @classmethod
    def of(cls, params: Params) -> DiskAnn:
        """Return the index of the settings.

        The defaults, in the order of the attributes, are 125, 64, 100, 4, 0, 64 and the current Python.

        Raises:
            SettingError: a setting is invalid, or ``python`` has no diskannpy.
            MissingDependencyError: diskannpy is not installed, and no other Python is given.
        """
        text = params.text("python", "")
        python = str(Path(text).expanduser()) if text else ""
        return cls(
            params.whole("complexity", 125, maximum=65_536),
            params.whole("graph_degree", 64, maximum=512),
            params.whole("search_complexity", 100, maximum=65_536),
            params.whole("beam_width", 4, maximum=64),
            params.number("search_memory_gib", 0.0),
            params.number("build_memory_gib", 64.0, minimum=0.01),
            python,
            _version_in(python) if python else _version_here(),
        )

    @property
    def versions(self) -> dict[str, object]:
        """The version of diskannpy."""
        return {"diskannpy": self.version}

    @property
    def build_settings(self) -> dict[str, object]:
        """The settings that affect the build."""
        names = ("complexity", "graph_degree", "search_memory_gib", "build_memory_gib")
        return {name: getattr(self, name) for name in names}

    @property
    def search_settings(self) -> dict[str, object]:
        """The settings that affect only the search."""
        return {"search_complexity": self.search_complexity, "beam_width": self.beam_width}

    def build(self, vectors: Vectors, folder: Path) -> None:
        """Write the graph of the vectors into a folder.

        Raises:
            DataError: diskannpy fails.
        """
        import numpy as np

        cache_bytes = 250_000 * (4 * self.graph_degree + 4 * vectors.dimension)
        settings = {
            "complexity": self.complexity,
            "graph_degree": self.graph_degree,
            "search_memory_maximum": self.search_memory_gib or (512 * len(vectors) + cache_bytes) / GIB,
            "build_memory_maximum": self.build_memory_gib,
        }
        with (folder / MATRIX).open("wb") as file:  # the format of the library: number of rows, dimension, rows
            np.array(vectors.matrix.shape, dtype=np.int32).tofile(file)
            vectors.matrix.tofile(file)
        result = subprocess.run(  # noqa: S603 - a program of this package
            _command(self.python, "build", folder, settings), env=_environment(), capture_output=True, check=False
        )
        if result.returncode:
            lines = result.stderr.decode(errors="replace").strip().splitlines() or [
                f"it ended with status {result.returncode}"
            ]
            raise DataError(str(folder), f"diskannpy cannot index {len(vectors):,} vectors: {ascii_safe(lines[-1])}")

    def open(self, folder: Path, size: int) -> DiskAnnSearcher:
        """Open the graph in a folder.

        Raises:
            DataError: the graph cannot be opened.
        """
        return DiskAnnSearcher(folder, size, self)


class DiskAnnSearcher:
    """Search a graph on disk in another process; restart the process if it dies, and end it at exit."""

    def __init__(self, folder: Path, size: int, settings: DiskAnn) -> None:
        self._folder, self._size, self._complexity = folder, size, settings.search_complexity
        self._lock = threading.Lock()
        search = {"complexity": settings.search_complexity, "beam_width": settings.beam_width}
        self._command = _command(settings.python, "serve", folder, search)
        self._start()

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of all candidates: ``k`` or more, unless the search reaches fewer vectors.

        Raises:
            DataError: the process ended, and ended again after a restart.
        """
        import numpy as np

        payload = np.ascontiguousarray(query, dtype=np.float32).tobytes()
        count = min(max(k, self._complexity), self._size)
        with self._lock:
            reply = self._reply(NUMBER.pack(count) + NUMBER.pack(len(payload)) + payload)
        results = np.frombuffer(reply, dtype=np.uint32).astype(np.int64)
        positions: Positions = np.unique(results[results < self._size])
        return positions

    def resident_bytes(self) -> int | None:
        """Return the memory of the process without the memory of the library itself; None if unknown."""
        current = resident_bytes(str(self._process.pid))
        return max(0, current - self._library_bytes) if current and self._library_bytes else None

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a program of this package
            self._command,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._finish = weakref.finalize(self, _end, self._process)
        self._library_bytes = self._read_number()

    def _reply(self, request: bytes) -> bytes:
        """Return the reply of the process to a request; restart the process if it ended."""
        if self._process.poll() is None:
            with suppress(DataError):
                return self._send_and_read(request)
        self._finish()
        self._start()
        return self._send_and_read(request)

    def _send_and_read(self, request: bytes) -> bytes:
        try:
            self._send(request)
            return self._read(4 * self._read_number())
        except BaseException:
            self._process.kill()  # a late reply would be taken for the reply to the next query
            self._process.wait()
            raise

    def _send(self, data: bytes) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # reading the reply reports the problem
                self._process.stdin.write(data)
                self._process.stdin.flush()

    def _read_number(self) -> int:
        return int(NUMBER.unpack(self._read(NUMBER.size))[0])

    def _read(self, size: int) -> bytes:
        stdout = self._process.stdout
        data = stdout.read(size) if stdout is not None else b""
        if len(data) < size:
            status = self._process.wait()
            ending = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            advice = "check that it has enough memory; if it ends again, remove the folder to rebuild the index"
            raise DataError(str(self._folder), f"its diskannpy process {ending}; {advice}")
        return data


def _version_here() -> str:
    """Return the version of diskannpy in this environment."""
    if find_spec("diskannpy") is None:
        raise MissingDependencyError("the index 'diskann' (Python 3.11 and older; else set python)", "diskann")
    return version("diskannpy")


def _version_in(python: str) -> str:
    """Return the version of diskannpy in the environment of another Python."""
    code = "from importlib.metadata import version; print(version('diskannpy'))"
    try:
        result = subprocess.run([python, "-I", "-c", code], capture_output=True, check=True)  # noqa: S603 - the user's own Python
    except (OSError, subprocess.CalledProcessError):
        raise SettingError(f"{WHERE} has python = {short_repr(python)}; write a Python that has diskannpy") from None
    return result.stdout.decode().strip()


def _command(python: str, task: str, folder: Path, settings: Mapping[str, object]) -> list[str]:
    """Return the command of the process; with ``-I``, modules in the current folder do not shadow libraries."""
    module_paths = () if python else (path for path in sys.path if path)
    program = [python or sys.executable, "-I", diskann_process.__file__]
    return [*program, task, str(folder), json.dumps(settings), *module_paths]


def _environment() -> dict[str, str]:
    """Return the environment of the process, in which waiting threads use no processor time."""
    passive_waiting = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
    return {**os.environ, **passive_waiting}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the input of a process, which ends it; kill it if it still runs after 5 seconds."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
