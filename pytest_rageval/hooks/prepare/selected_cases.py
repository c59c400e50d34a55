"""Check the selected cases before anything runs: recordings, resumed run, budget."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.prepare.model_calls import unseen_systems
from pytest_rageval.hooks.prepare.resume import leave_out

__all__ = ["check_before_run"]


def check_before_run(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Check recordings and budget, and drop the cases taken over from another run.

    Raises:
        RagEvalError: a cassette cannot be read, a run cannot be resumed, or the budget cannot hold.
    """
    collected, option = session.config.stash[COLLECTED], session.config.option
    mode = collected.options.record_mode
    if mode is not None:
        from pytest_rageval.llm.recordings.cassettes import check_files

        check_files(collected.options.cassettes, mode)
    leave_out(session, items)
    collected.unseen = unseen_systems(collected, items)
    if collected.options.budget_usd is not None and not collected.options.dry_run:
        from pytest_rageval.hooks.prepare.budget import check_budget

        check_budget(collected, items, partial=option.rag_budget_partial)
