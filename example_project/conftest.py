"""The one line that joins the project to pytest-rageval: what reads the passages, supplied or found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_rageval import Answer, Query

from assistant import help_desk

collect_ignore = ["agents", "judge"]  # projects of their own: `pytest agents`, `pytest judge`


@pytest.fixture(scope="session")
def rag_generator() -> Callable[[Query], Answer]:
    return help_desk
