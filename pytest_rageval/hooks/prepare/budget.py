"""Check that ``--rag-budget-usd`` can be enforced: each call is visible and has a limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.engine.estimate import models_of
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.model_clients import KINDS
from pytest_rageval.hooks.prepare.model_calls import first_items, planned_of
from pytest_rageval.llm.backends.prices import Prices
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.report.run.unseen_calls import UNSEEN
from pytest_rageval.report.text.lines import few_of

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["check_budget"]


def check_budget(collected: Collected, items: Iterable[pytest.Item], *, partial: bool) -> None:
    """Raise `SettingError` if a call is invisible or has no maximum cost.

    Args:
        collected: the session.
        items: the tests that will run.
        partial: whether invisible calls are allowed.
    """
    if collected.direct and collected.models.http is None and not partial:
        shown = few_of(tuple(collected.direct.values()), 3)
        how = "name the hosts that it asks in rag_record_http, ask the model of the fixture rag_llm, or give"
        how += " --rag-budget-partial to bound only what is seen"
        raise SettingError(f"--rag-budget-usd: {UNSEEN}: {shown} may ask models directly; {how}", code="RAG413")
    models: dict[tuple[str, str], None] = {}
    for plan in planned_of(collected, first_items(items), asking=True):
        for model, is_ours in models_of(plan, collected.models.prompts):
            models["rag_llm" if is_ours else "rag_judge", model.name] = None
    for fixture, name in models:
        kind, cassettes = KINDS[fixture], collected.models.cassettes
        if cassettes is None or (cassettes.may_ask(kind, name) and not cassettes.may_replay(kind, name)):
            prices = Prices(name, collected.models.setting(fixture).params)
            problem = prices.budget_problem(f"rag_{kind}_params", Client.RATES)
            if problem:
                raise SettingError(problem, code="RAG413")
