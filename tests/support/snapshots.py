"""Outputs that are stored as files; ``RAGEVAL_RENEW=1`` stores the current ones: read the diff."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["check", "end_of_output"]

ESCAPE = "␛"
"""Replaces the control character in the files."""


def check(path: Path, text: str) -> None:
    """Compare a text with the stored one."""
    readable = text.replace("\x1b", ESCAPE)
    if os.environ.get("RAGEVAL_RENEW"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(readable, encoding="utf-8")
    assert readable == path.read_text(encoding="utf-8")


def end_of_output(text: str) -> str:
    """Return what pytest prints after the progress, without tracebacks of errors, times and names of runs."""
    at = next((at for mark in ("FAILURES", " rag =", "short test summary") if (at := text.find(mark)) >= 0), 0)
    end = text[text.rfind("\n", 0, at) + 1 :].rstrip("\n")
    lines = end.splitlines()
    if " in " in lines[-1]:
        lines[-1] = re.sub(r" in [\d.]+s", " in S", lines[-1].strip("= "))
    lines = [re.sub(r"--rag-resume=\S+", "--rag-resume=RUN", line) for line in lines]
    lines = [re.sub(r"^written: .*", "written: RUN/results.json", line) for line in lines]
    return "\n".join([*(re.sub(r" *[\d.]+ s(?=, (cost|\$))", " S s", line) for line in lines), ""])
