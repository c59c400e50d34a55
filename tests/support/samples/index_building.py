"""A program that gets an index from a store; its arguments are FOLDER HOW COUNT."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.retrieval.index_store import IndexStore

__all__ = ["MADE_OF"]

MADE_OF: Mapping[str, object] = {"kind": "toy", "corpus": "abc", "size": 3}


def main() -> None:
    folder, how, count = sys.argv[1:]

    def build(into: Path) -> Mapping[str, object]:
        with Path(count).open("a") as stream:
            stream.write("built\n")
        (into / "numbers.bin").write_bytes(b"123")
        if how == "hang":
            sys.stdout.write("half\n")
            sys.stdout.flush()
            time.sleep(60)
        time.sleep(0.3)
        return {"passages": 3}

    index = IndexStore(Path(folder)).get(MADE_OF, build)
    sys.stdout.write(f"{(index.folder / 'numbers.bin').read_text()} {index.built}\n")


if __name__ == "__main__":
    main()
