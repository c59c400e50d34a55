"""A graph on disk that is read as it is walked (DiskANN), by diskannpy in a process of its own."""

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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import DataError, MissingDependencyError, ascii_safe
from pytest_rageval.retrieval import diskann_process
from pytest_rageval.retrieval.diskann_process import MATRIX, NUMBER, resident
from pytest_rageval.retrieval.retriever_params import Params

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
    library = "diskannpy"

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
            _command("build", folder, settings), env=_environment(), capture_output=True, check=False
        )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or [
                f"it ended with status {done.returncode}"
            ]
            raise DataError(str(folder), f"diskannpy cannot index {len(vectors):,} vectors: {ascii_safe(lines[-1])}")

    def open(self, folder: Path, size: int) -> DiskAnnSearcher:
        """Return the graph in a folder.

        Raises:
            DataError: it cannot be opened.
        """
        return DiskAnnSearcher(folder, size, self.search_complexity, self.beam_width)


class DiskAnnSearcher:
    """A graph on disk and the process that walks it, which ends with this one; it is restarted if it dies."""

    def __init__(self, folder: Path, size: int, complexity: int, beam_width: int) -> None:
        self._folder, self._size, self._complexity = folder, size, complexity
        self._lock = threading.Lock()
        self._command = _command("serve", folder, {"complexity": complexity, "beam_width": beam_width})
        self._start()

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of all candidates, ``k`` or more; fewer, where a walk cannot reach as many.

        Raises:
            DataError: the process ended again after it was restarted.
        """
        import numpy as np

        asked = np.ascontiguousarray(query, dtype=np.float32).tobytes()
        count = min(max(k, self._complexity), self._size)
        with self._lock:
            answer = self._answer(NUMBER.pack(count) + NUMBER.pack(len(asked)) + asked)
        found = np.frombuffer(answer, dtype=np.uint32).astype(np.int64)
        positions: Positions = np.unique(found[found < self._size])
        return positions

    def resident_bytes(self) -> int | None:
        """Return what its process has in memory beyond what the library itself takes; None where it cannot be told."""
        now = resident(str(self._process.pid))
        return max(0, now - self._before) if now and self._before else None

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a program of this package
            self._command,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._finish = weakref.finalize(self, _end, self._process)
        self._before = self._number()

    def _answer(self, question: bytes) -> bytes:
        """Return what the process answers, or the one that is started where it has ended."""
        if self._process.poll() is None:
            with suppress(DataError):
                return self._asked(question)
        self._finish()
        self._start()
        return self._asked(question)

    def _asked(self, question: bytes) -> bytes:
        try:
            self._send(question)
            return self._read(4 * self._number())
        except BaseException:
            self._process.kill()  # what it still has to say would be taken for the answer to the next
            self._process.wait()
            raise

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
            status = self._process.wait()
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            advice = "see that there is memory for it, and if it ends again, remove the folder, and it is built anew"
            raise DataError(str(self._folder), f"the process that searches it by diskannpy {how}; {advice}")
        return data


def _command(task: str, folder: Path, settings: Mapping[str, object]) -> list[str]:
    """Return what runs the program by itself: modules of the user's folder must not stand before the library's."""
    paths = (path for path in sys.path if path)
    return [sys.executable, "-I", diskann_process.__file__, task, str(folder), json.dumps(settings), *paths]


def _environment() -> dict[str, str]:
    idle = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}  # threads that wait leave the processor to others
    return {**os.environ, **idle}


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
