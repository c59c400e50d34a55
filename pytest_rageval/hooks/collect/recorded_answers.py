"""Load the recorded answers of ``--rag-answers``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError

if TYPE_CHECKING:
    from pytest_rageval.engine.recorded_answers import RecordedAnswers

__all__ = ["load_answers"]


def load_answers(path: Path) -> RecordedAnswers:
    """Return the answers in the file of ``--rag-answers``; raise `RagEvalError` if it is missing or invalid."""
    from pytest_rageval.datasets.recorded import load_recorded
    from pytest_rageval.datasets.source import shown_path
    from pytest_rageval.engine.recorded_answers import RecordedAnswers

    if not path.exists():
        raise SettingError(f"--rag-answers: there is no file {shown_path(path)}; correct the path", code="RAG105")
    return RecordedAnswers(load_recorded(path))
