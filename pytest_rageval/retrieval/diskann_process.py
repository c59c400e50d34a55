"""What the process does that has diskannpy: builds an index, or searches one for as long as it is asked."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["MATRIX", "NUMBER", "main", "resident"]

MATRIX = "matrix.bin"
"""The vectors that an index is built of, in its folder as long as it is built."""

NUMBER = struct.Struct("<Q")
"""How a number is written between the processes."""


def main() -> None:
    """Do what the arguments say: ``build`` or ``serve``, the folder, the settings as JSON, where else modules are."""
    task, folder, settings, *paths = sys.argv[1:]
    sys.path += paths
    {"build": _build, "serve": _serve}[task](Path(folder), json.loads(settings))


def resident(process: str) -> int:
    """Return the bytes that a process has in memory; 0 where it cannot be told."""
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
    for copy in (matrix, folder / "ann_mem.index.data"):
        copy.unlink(missing_ok=True)


def _serve(folder: Path, settings: dict[str, Any]) -> None:
    import diskannpy
    import numpy as np

    asked = sys.stdin.buffer
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the library writes there is for nobody
    before = resident("self")
    index = diskannpy.StaticDiskIndex(str(folder), num_threads=2, num_nodes_to_cache=0)  # with one it waits for ever
    told.write(NUMBER.pack(before))
    told.flush()
    while len(head := asked.read(2 * NUMBER.size)) == 2 * NUMBER.size:
        (k,), (size,) = NUMBER.iter_unpack(head)
        query = np.frombuffer(asked.read(size), dtype=np.float32)
        complexity = max(k, settings["complexity"])
        found = index.search(query, k, complexity, settings["beam_width"]).identifiers.astype(np.uint32)
        told.write(NUMBER.pack(len(found)) + found.tobytes())
        told.flush()


if __name__ == "__main__":
    main()
