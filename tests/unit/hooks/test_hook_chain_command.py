"""``rageval chain run`` checks its question before it opens a project."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.chain_command import ChainOrder, run_in_project


@pytest.mark.parametrize(("question", "problem"), [(" ", "is empty"), ("caf\udce9?", "holds bytes that are not text")])
def test_a_question_that_is_not_a_text_is_refused(question: str, problem: str) -> None:
    with pytest.raises(SettingError, match=f"--question {problem}"):
        run_in_project(ChainOrder("chain.toml", question))
