"""Refuse the model ``embedded`` for judges, embeddings and systems that it does not support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.keys import ENTRY
from pytest_rageval.hooks.collect.responders import WITHOUT_MODEL
from pytest_rageval.hooks.collect.workflows import workflow_of
from pytest_rageval.hooks.config.fixture_overrides import overridden
from pytest_rageval.model.chat import EMBEDDED

if TYPE_CHECKING:
    import pytest

    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["check_embedded"]

_SETTINGS = {"rag_judge": "rag_judge_model or rag_judges", "rag_embedder": "rag_embedder_model"}
_ONLY = "plays only the built-in agents and chains"


def check_embedded(collected: Collected) -> None:
    """Raise `SettingError` if ``embedded`` is to judge, to embed texts, or to answer for an unsupported system.

    It supports only the built-in agents and chains.
    """
    for fixture, name in collected.models.names:
        if name == EMBEDDED and fixture in _SETTINGS:
            raise SettingError(f"{_SETTINGS[fixture]} names {EMBEDDED}, which {_ONLY}; name another model")
    known: set[object] = set()
    for item in collected.items:
        entry = item.stash.get(ENTRY, None)
        if entry is not None and (entry.testbed, entry.responder) not in known:
            known.add((entry.testbed, entry.responder))
            _check(collected, entry, item)


def _check(collected: Collected, entry: Entry, item: pytest.Item) -> None:
    """Check the system of one testbed; recorded answers and systems without a model are always valid."""
    responder = entry.responder
    if entry.testbed.recorded is not None or responder.kind in WITHOUT_MODEL:
        return
    session_model = collected.options.model.name if overridden("rag_llm", item) is None else None
    if (responder.model or session_model) != EMBEDDED:
        return
    workflow = workflow_of(collected, responder)
    if workflow is None or not workflow.uses_embedded:
        where = f"{responder.name}: the model {EMBEDDED}" if responder.model else f"rag_model is {EMBEDDED}, which"
        raise SettingError(f"{where} {_ONLY}, not {responder.kind}; name another model, or use --rag-system react")
