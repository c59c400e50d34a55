"""The program that runs diskannpy: build an index, or answer queries until its input ends."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["MATRIX", "NUMBER", "main", "resident_bytes"]

MATRIX = "matrix.bin"
"""The file with the vectors, in the folder of an index during its build."""

NUMBER = struct.Struct("<Q")
"""The format of each number that the processes exchange."""


def main() -> None:
    """Run a task; the arguments are ``build`` or ``serve``, the folder, settings as JSON, and more module paths."""
    task, folder, settings, *paths = sys.argv[1:]
    sys.path += paths
    {"build": _build, "serve": _serve}[task](Path(folder), json.loads(settings))


def resident_bytes(process: str) -> int:
    """Return the resident memory of a process in bytes; 0 if unknown."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _build(folder: Path, settings: dict[str, Any]) -> None:
    import diskannpy
    import numpy as np

    matrix = folder / MATRIX
    diskannpy.build_disk_index(str(matrix), "mips", str(folder), num_threads=0, vector_dtype=np.float32, **settings)
    for vectors_copy in (matrix, folder / "ann_mem.index.data"):
        vectors_copy.unlink(missing_ok=True)


def _serve(folder: Path, settings: dict[str, Any]) -> None:
    import diskannpy
    import numpy as np

    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the library writes to standard output
    library_bytes = resident_bytes("self")
    index = diskannpy.StaticDiskIndex(str(folder), num_threads=2, num_nodes_to_cache=0)  # with one thread it hangs
    replies.write(NUMBER.pack(library_bytes))
    replies.flush()
    while len(header := requests.read(2 * NUMBER.size)) == 2 * NUMBER.size:
        (k,), (size,) = NUMBER.iter_unpack(header)
        query = np.frombuffer(requests.read(size), dtype=np.float32)
        complexity = max(k, settings["complexity"])
        results = index.search(query, k, complexity, settings["beam_width"]).identifiers.astype(np.uint32)
        replies.write(NUMBER.pack(len(results)) + results.tobytes())
        replies.flush()


if __name__ == "__main__":
    main()
