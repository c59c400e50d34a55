"""Make the systems that options name, with their models and the facets of their outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.hooks.collect.testbed import Responder
from pytest_rageval.hooks.collect.workflows import needs_of
from pytest_rageval.hooks.config.system_names import named_system
from pytest_rageval.model.chat import EMBEDDED
from pytest_rageval.model.facets import MODEL, WORKFLOW
from pytest_rageval.systems import BUILTIN, WORKFLOWS, SystemFactory
from pytest_rageval.systems.workflow import Workflow

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.config.system_names import SystemName

__all__ = ["facets_of", "named_responders"]

WITHOUT_MODEL = ("extractive",)
"""Built-in systems that ask no model."""


def named_responders(collected: Collected, model: str | None, *, lasting: bool) -> list[Responder]:
    """Return the systems of ``--rag-system``, else those of the ini.

    Args:
        collected: the session.
        model: the session's model, for the facets of systems without a model of their own; "" if it is unknown, None
            if there is none: then agents use the model ``embedded``.
        lasting: whether their fixtures are session-scoped.

    Raises:
        SettingError: a name is malformed, or its system does not take a model.
    """
    options, registered = collected.options, collected.catalog.systems
    embedded = EMBEDDED if model is None else ""
    where = "--rag-system" if options.systems else "rag_system"
    responders = []
    for text in options.systems or options.ini_systems:
        named = named_system(text, where, options.named_systems, registered)
        factory = registered.get(named.system, where) if named.system in registered else None
        settings = () if named.is_own else tuple(named.options.items())
        responder = Responder(named.name, True, lasting, named.system, named.model, (), settings)
        needs = needs_of(collected, responder)
        if needs is not None and not needs.asks:
            facets = _facets(named, factory, needs.models[0] if len(needs.models) == 1 else "")
            responders.append(replace(responder, model="", facets=facets))
            continue
        own_model = named.model or (embedded if isinstance(factory, Workflow) and factory.uses_embedded else "")
        facets = _facets(named, factory, own_model or model or "")
        responders.append(replace(responder, model=own_model, facets=facets))
    return responders


def facets_of(system: str, model: str = "") -> tuple[tuple[str, str], ...]:
    """Return the facets ``workflow`` and ``model`` of a system by its registered name; without a model only the first.

    The model of a user's system is unknown.
    """
    workflow = (WORKFLOW, WORKFLOWS.get(system, system))
    return (workflow, (MODEL, model)) if model and system not in WITHOUT_MODEL else (workflow,)


def _facets(named: SystemName, factory: SystemFactory | None, model: str) -> tuple[tuple[str, str], ...]:
    """Return the facets of a named system. A user's own system has its labels, else its name as the workflow."""
    if named.system in BUILTIN:
        return facets_of(named.system, model)
    if isinstance(factory, Workflow) and factory.facet:
        return facets_of(factory.facet, model)
    labels = named.options
    model = labels.get(MODEL) or named.model
    workflow = (WORKFLOW, labels.get(WORKFLOW) or named.name)
    return (workflow, (MODEL, model)) if model else (workflow,)
