"""A graph on disk that is read as it is walked (DiskANN), by diskannpy in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import DataError, MissingDependencyError, ascii_safe
from pytest_rageval.retrieval.diskann_process import MATRIX, NUMBER, resident
from pytest_rageval.retrieval.params import Params

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix, Positions, Vectors

__all__ = ["DiskAnn", "DiskAnnSearcher"]

GIB = 2**30


@dataclass(frozen=True)
class DiskAnn:
    """DiskANN over vectors (Subramanya et al., 2019), with RaLLe's parameters: compressed in memory, whole on disk.

    The library writes to standard output, hangs where it is given a single thread and pins what it computes with. It
    has a process of its own, for that and so that its memory can be told. It samples by chance: two builds may differ.

    Attributes:
        complexity: candidates for the neighbours of a vector while it is built.
        graph_degree: neighbours of a vector.
        search_complexity: candidates of a search; more find more, and take longer.
        beam_width: reads of the disk at a time.
        search_memory_gib: what the compressed vectors may take; 0 for 512 bytes a vector and 250,000 nodes.
        build_memory_gib: what building may take.
    """

    complexity: int
    graph_degree: int
    search_complexity: int
    beam_width: int
    search_memory_gib: float
    build_memory_gib: float

    name = "diskann"

    @classmethod
    def of(cls, params: Params) -> DiskAnn:
        """Return it with its settings; by default 125, 64, 100, 4, 0 and 64, in the order of the attributes.

        Raises:
            SettingError: a setting cannot be used.
            MissingDependencyError: diskannpy is not installed.
        """
        made = cls(
            params.whole("complexity", 125, most=65_536),
            params.whole("graph_degree", 64, most=512),
            params.whole("search_complexity", 100, most=65_536),
            params.whole("beam_width", 4, most=64),
            params.number("search_memory_gib", 0.0),
            params.number("build_memory_gib", 64.0, least=0.01),
        )
        if find_spec("diskannpy") is None:
            raise MissingDependencyError("the index 'diskann', which is to be had up to Python 3.11,", "diskann")
        return made

    @property
    def built_with(self) -> dict[str, object]:
        """What another graph has to be built for."""
        names = ("complexity", "graph_degree", "search_memory_gib", "build_memory_gib")
        return {name: getattr(self, name) for name in names}

    @property
    def searched_with(self) -> dict[str, object]:
        """What a search takes."""
        return {"search_complexity": self.search_complexity, "beam_width": self.beam_width}

    def build(self, vectors: Vectors, folder: Path) -> None:
        """Write the graph of the vectors into a folder.

        Raises:
            DataError: the library fails.
        """
        import numpy as np

        cached = 250_000 * (4 * self.graph_degree + 4 * vectors.dimension)
        settings = {
            "complexity": self.complexity,
            "graph_degree": self.graph_degree,
            "search_memory_maximum": self.search_memory_gib or (512 * len(vectors) + cached) / GIB,
            "build_memory_maximum": self.build_memory_gib,
        }
        with (folder / MATRIX).open("wb") as file:  # in the library's format: two sizes, then the rows
            np.array(vectors.matrix.shape, dtype=np.int32).tofile(file)
            vectors.matrix.tofile(file)
        done = subprocess.run(  # noqa: S603 - a program of this package
            _command("build", folder, json.dumps(settings)), env=_environment(), capture_output=True, check=False
        )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it gives no reason"]
            raise DataError(str(folder), f"diskannpy cannot index {len(vectors):,} vectors: {ascii_safe(lines[-1])}")

    def open(self, folder: Path, size: int) -> DiskAnnSearcher:
        """Return the graph in a folder.

        Raises:
            DataError: it cannot be opened.
        """
        return DiskAnnSearcher(folder, size, self.search_complexity, self.beam_width)


class DiskAnnSearcher:
    """A graph on disk and the process that walks it, which ends with this one."""

    def __init__(self, folder: Path, size: int, complexity: int, beam_width: int) -> None:
        self._folder, self._size, self._complexity = folder, size, complexity
        self._lock = threading.Lock()
        settings = json.dumps({"complexity": complexity, "beam_width": beam_width})
        self._process = subprocess.Popen(  # noqa: S603 - a program of this package
            _command("serve", folder, settings),
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _end, self._process)
        self._before = self._number()

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of all candidates, ``k`` or more; fewer, where a walk cannot reach as many."""
        import numpy as np

        asked = np.ascontiguousarray(query, dtype=np.float32).tobytes()
        count = min(max(k, self._complexity), self._size)
        with self._lock:
            try:
                self._send(NUMBER.pack(count) + NUMBER.pack(len(asked)) + asked)
                found = np.frombuffer(self._read(4 * self._number()), dtype=np.uint32).astype(np.int64)
            except BaseException:
                self._process.kill()  # what it still has to say would be taken for the answer to the next
                raise
        positions: Positions = np.unique(found[found < self._size])
        return positions

    def resident_bytes(self) -> int | None:
        """Return what its process has in memory beyond what the library itself takes; None where it cannot be told."""
        now = resident(str(self._process.pid))
        return max(0, now - self._before) if now and self._before else None

    def _send(self, data: bytes) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # reading tells what is wrong
                self._process.stdin.write(data)
                self._process.stdin.flush()

    def _number(self) -> int:
        return int(NUMBER.unpack(self._read(NUMBER.size))[0])

    def _read(self, size: int) -> bytes:
        stdout = self._process.stdout
        data = stdout.read(size) if stdout is not None else b""
        if len(data) < size:
            problem = "the process that searches it by diskannpy has ended; if it does again, remove the folder"
            raise DataError(str(self._folder), problem)
        return data


def _command(task: str, folder: Path, settings: str) -> list[str]:
    program = "from pytest_rageval.retrieval.diskann_process import main; main()"
    return [sys.executable, "-c", program, task, str(folder), settings]


def _environment() -> dict[str, str]:
    idle = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}  # threads that wait leave the processor to others
    return {**os.environ, **idle, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()  # it ends when nothing more can be asked
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
