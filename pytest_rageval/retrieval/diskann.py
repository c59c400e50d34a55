"""The index ``diskann``: a graph searched on disk, by diskannpy in a separate process."""

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
from pytest_rageval.retrieval.diskann_process import MATRIX, NUMBER, resident
from pytest_rageval.retrieval.retriever_params import WHERE, Params

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix, Positions, Vectors

__all__ = ["DiskAnn", "DiskAnnSearcher"]

GIB = 2**30


@dataclass(frozen=True)
class DiskAnn:
    """DiskANN over vectors (Subramanya et al., 2019), with RaLLe's parameters.

    Compressed vectors are in memory, exact ones on disk. The library has its own process because it writes to standard
    output, hangs with a single thread and pins numpy 1.25; the memory of a process can also be measured. The process
    may run in another virtual environment. The library samples at random, so two builds may differ.

    Attributes:
        complexity: candidates for the neighbours of a vector during the build.
        graph_degree: neighbours of a vector.
        search_complexity: candidates of a search; more candidates raise recall and time.
        beam_width: parallel reads of the disk.
        search_memory_gib: memory for the compressed vectors; 0 for 512 bytes per vector and 250,000 nodes.
        build_memory_gib: memory for the build.
        python: the interpreter of the environment that has diskannpy; "" for this one.
        version: the version of diskannpy.
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
        """Read the settings; the defaults are 125, 64, 100, 4, 0, 64 and this Python, in the order of the attributes.

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
        with (folder / MATRIX).open("wb") as file:  # in the library's format: two sizes, then the rows
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
        """Return the graph in a folder.

        Raises:
            DataError: it cannot be opened.
        """
        return DiskAnnSearcher(folder, size, self)


class DiskAnnSearcher:
    """A graph on disk and the process that searches it; restarts the process if it dies, and ends it at exit."""

    def __init__(self, folder: Path, size: int, settings: DiskAnn) -> None:
        self._folder, self._size, self._complexity = folder, size, settings.search_complexity
        self._lock = threading.Lock()
        search = {"complexity": settings.search_complexity, "beam_width": settings.beam_width}
        self._command = _command(settings.python, "serve", folder, search)
        self._start()

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of all candidates: ``k`` or more, or fewer if the search reaches fewer.

        Raises:
            DataError: the process ended again after a restart.
        """
        import numpy as np

        payload = np.ascontiguousarray(query, dtype=np.float32).tobytes()
        count = min(max(k, self._complexity), self._size)
        with self._lock:
            answer = self._answer(NUMBER.pack(count) + NUMBER.pack(len(payload)) + payload)
        results = np.frombuffer(answer, dtype=np.uint32).astype(np.int64)
        positions: Positions = np.unique(results[results < self._size])
        return positions

    def resident_bytes(self) -> int | None:
        """Return the memory of its process without that of the library itself; None if unknown."""
        current = resident(str(self._process.pid))
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

    def _answer(self, question: bytes) -> bytes:
        """Return the answer of the process; restart the process if it has ended."""
        if self._process.poll() is None:
            with suppress(DataError):
                return self._request(question)
        self._finish()
        self._start()
        return self._request(question)

    def _request(self, question: bytes) -> bytes:
        try:
            self._send(question)
            return self._read(4 * self._read_number())
        except BaseException:
            self._process.kill()  # a late reply would be read as the answer to the next query
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
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            advice = "check that it has enough memory; if it ends again, remove the folder to rebuild the index"
            raise DataError(str(self._folder), f"its diskannpy process {how}; {advice}")
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
    """Return the command of the process; ``-I`` keeps modules in the user's folder from shadowing the library's."""
    paths = () if python else (path for path in sys.path if path)
    return [python or sys.executable, "-I", diskann_process.__file__, task, str(folder), json.dumps(settings), *paths]


def _environment() -> dict[str, str]:
    waiting = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}  # threads that wait leave the processor to others
    return {**os.environ, **waiting}


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()  # the process ends at the end of its input
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
