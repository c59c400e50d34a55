"""Write the testbed of a suite that reads a file of saved cases."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_rageval.toml_files import toml_string

__all__ = ["suite_text"]

_SUITE = """\
[[testbed]]
name = {name}
dataset = {dataset}
metrics = ["accuracy", "token_f1"]
# gates = ["accuracy >= baseline - 0.05"]
# {remark}
"""


def suite_text(suite: Path, dataset: Path, remark: str) -> str:
    """Return the text of a suite with one testbed that reads a JSON Lines file.

    Args:
        suite: the path of the suite.
        dataset: the path of the file.
        remark: a comment of one line about gates.
    """
    relative = Path(os.path.relpath(dataset, suite.parent)).as_posix()
    name = "".join(char if char.isalnum() or char in "-_." else "-" for char in dataset.stem)
    return _SUITE.format(name=toml_string(name), dataset=toml_string(f"jsonl:{relative}"), remark=remark)
