"""Build the environment ``scholar`` from its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_rageval.environments.environment import TIMEOUT_S, Environment
from pytest_rageval.environments.parts import EnvironmentParts
from pytest_rageval.environments.scholar.records import read_scholars
from pytest_rageval.environments.scholar.tools import ScholarTools
from pytest_rageval.environments.tool import Tool
from pytest_rageval.errors import SettingError

__all__ = ["build"]


def build(parts: EnvironmentParts) -> Environment:
    """Return the environment over two files in JSON Lines.

    Options: ``persons`` and ``publications``, both required and relative to the ini file; ``timeout`` and ``record``.

    Raises:
        SettingError: an option is invalid or missing, or a file is missing.
    """
    persons, publications = (_file(parts, option) for option in ("persons", "publications"))
    timeout = parts.options.seconds("timeout", TIMEOUT_S)
    record = parts.options.flag("record", default=False)
    parts.options.finish()

    def load() -> Callable[[], Sequence[Tool]]:
        tools = ScholarTools(read_scholars(persons, publications)).tools
        return lambda: tools

    return Environment(parts.name, load, timeout, record, has_state=False)


def _file(parts: EnvironmentParts, option: str) -> Path:
    text = parts.options.text(option)
    if not text:
        hint = f"add {option}=FILE.jsonl; rageval generate makes both files from a plan with [[world]]"
        raise SettingError(f"{parts.where} has no {option}; {hint}")
    path = parts.folder / text
    if not path.is_file():
        problem = "no such file; the path is relative to the ini file"
        raise SettingError(f"{parts.where} has {option}={text}: {problem}", code="RAG105")
    return path
