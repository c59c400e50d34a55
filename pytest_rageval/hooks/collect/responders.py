"""Decide which systems answer a test, with their models and the facets of their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.testbed import Responder
from pytest_rageval.hooks.collect.workflows import needs_of
from pytest_rageval.hooks.config.fixture_overrides import MODELS, PARTS, overridden
from pytest_rageval.hooks.config.system_names import named_system
from pytest_rageval.model.chat import EMBEDDED
from pytest_rageval.model.facets import MODEL, WORKFLOW
from pytest_rageval.systems import BUILTIN, WORKFLOWS, SystemFactory
from pytest_rageval.systems.workflow import Workflow

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.config.options import Options
    from pytest_rageval.hooks.config.system_names import SystemName

__all__ = ["named_responder", "responders_of"]

WITHOUT_MODEL = ("extractive",)
"""Built-in systems that call no model."""


def responders_of(item: pytest.Item, collected: Collected) -> list[Responder]:
    """Return the systems that answer a test: those of the command line, else an overridden fixture, else the ini's."""
    options = collected.options
    parts = {name: overridden(name, item) for name in (*PARTS, *MODELS)}
    system = overridden("rag_system", item)
    if not options.systems and system is not None:
        lasting = all(part is None or part.scope == "session" for part in (system, *map(parts.get, MODELS)))
        return [Responder("rag_system", lasting=lasting, facets=_registered_facets("rag_system"))]
    lasting = _is_lasting(parts)
    model, has_model = _session_model(parts, options), options.model.name is not None or parts["rag_llm"] is not None
    if options.systems or options.ini_systems:
        return _named_responders(collected, model if has_model else None, lasting=lasting)
    if parts["rag_retriever"] is not None or parts["rag_generator"] is not None:
        return [Responder("rag_system", lasting=lasting, facets=_registered_facets("llm", model))]
    name = "llm" if has_model else "extractive"
    return [Responder(name, named=True, lasting=lasting, facets=_registered_facets(name, model), default=True)]


def named_responder(item: pytest.Item, collected: Collected, text: str, where: str) -> Responder:
    """Return the system that ``text`` names for a test; ``text`` has the form of ``--rag-system``.

    Error messages start with ``where``.

    Raises:
        RagEvalError: the name is malformed or unknown, its system does not take a model, or its file is invalid.
    """
    parts = {name: overridden(name, item) for name in (*PARTS, *MODELS)}
    has_model = collected.options.model.name is not None or parts["rag_llm"] is not None
    model = _session_model(parts, collected.options) if has_model else None
    return _named(collected, text, where, model, lasting=_is_lasting(parts))


def _is_lasting(parts: Mapping[str, pytest.FixtureDef[Any] | None]) -> bool:
    return all(part is None or part.scope == "session" for part in parts.values())


def _session_model(parts: Mapping[str, pytest.FixtureDef[Any] | None], options: Options) -> str:
    """Return the name of the session's model; "" if there is none, or if a fixture provides it."""
    return "" if parts["rag_llm"] is not None or parts["rag_generator"] is not None else options.model.name or ""


def _named_responders(collected: Collected, model: str | None, *, lasting: bool) -> list[Responder]:
    """Return the systems of ``--rag-system``, else those of the ini.

    Args:
        collected: the session's collected state.
        model: the name of the session's model, for the facets of systems without their own; "" if it is unknown.
            If it is None, there is no model, and agents use the model ``embedded``.
        lasting: whether all fixtures that the systems use are session-scoped.

    Raises:
        SettingError: a name is malformed, or its system does not take a model.
    """
    options = collected.options
    where = "--rag-system" if options.systems else "rag_system"
    return [_named(collected, text, where, model, lasting=lasting) for text in options.systems or options.ini_systems]


def _named(collected: Collected, text: str, where: str, model: str | None, *, lasting: bool) -> Responder:
    options, registered = collected.options, collected.catalog.systems
    embedded = EMBEDDED if model is None else ""
    named = named_system(text, where, options.named_systems, registered)
    factory = registered.get(named.system, where) if named.system in registered else None
    settings = () if named.is_own else tuple(named.options.items())
    responder = Responder(named.name, True, lasting, named.system, named.model, (), settings)
    needs = needs_of(collected, responder)
    if needs is not None and not needs.calls_model:
        facets = _named_facets(named, factory, needs.models[0] if len(needs.models) == 1 else "")
        return replace(responder, model="", facets=facets)
    own_model = named.model or (embedded if isinstance(factory, Workflow) and factory.uses_embedded else "")
    facets = _named_facets(named, factory, own_model or model or "")
    return replace(responder, model=own_model, facets=facets)


def _registered_facets(system: str, model: str = "") -> tuple[tuple[str, str], ...]:
    """Return the facets of a system by its registered name: ``workflow``, and ``model`` if its model is known."""
    workflow = (WORKFLOW, WORKFLOWS.get(system, system))
    return (workflow, (MODEL, model)) if model and system not in WITHOUT_MODEL else (workflow,)


def _named_facets(named: SystemName, factory: SystemFactory | None, model: str) -> tuple[tuple[str, str], ...]:
    """Return the facets of a named system; for a user's system its labels, with its name as the default workflow."""
    if named.system in BUILTIN:
        return _registered_facets(named.system, model)
    if isinstance(factory, Workflow) and factory.facet:
        return _registered_facets(factory.facet, model)
    labels = named.options
    model = labels.get(MODEL) or named.model
    workflow = (WORKFLOW, labels.get(WORKFLOW) or named.name)
    return (workflow, (MODEL, model)) if model else (workflow,)
