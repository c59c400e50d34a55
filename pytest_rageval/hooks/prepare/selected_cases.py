"""Check recordings and budget before the run, and drop cases that a resumed run finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.prepare.model_calls import direct_systems
from pytest_rageval.hooks.prepare.resume import drop_finished_cases

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["check_before_run"]


def _check_record_cases(collected: Collected) -> None:
    """Raise `SettingError` if ``--rag-record-case`` names an unknown case, or the session records nothing."""
    if collected.options.record_mode is None:
        problem = "--rag-record-case records into nothing; give --rag-record-mode or rag_record_mode too"
        raise SettingError(problem, code="RAG103")
    known = {case_id for entry in collected.entries for case_id in (entry.case.id, collected.session_case(entry).id)}
    for case_id in collected.options.record_cases:
        if case_id not in known:
            raise UnknownNameError("case", case_id, known, "--rag-record-case")


def check_before_run(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Check recordings and budget, and drop the cases that a resumed run finished.

    Raises:
        RagEvalError: a cassette cannot be read, a run cannot be resumed, or the budget cannot hold.
    """
    collected, option = session.config.stash[COLLECTED], session.config.option
    mode = collected.options.record_mode
    if mode is not None:
        from pytest_rageval.llm.recordings.cassettes import check_files

        check_files(collected.options.cassettes, mode)
    if collected.options.record_cases:
        _check_record_cases(collected)
    drop_finished_cases(session, items)
    collected.direct = direct_systems(collected, items)
    if collected.options.budget_usd is not None and not collected.options.dry_run:
        from pytest_rageval.hooks.prepare.budget import check_budget

        check_budget(collected, items, partial=option.rag_budget_partial)
