"""Make the systems that options name, with their models and the facets of their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rageval.hooks.collect.testbed import Responder
from pytest_rageval.hooks.config.system_names import named_system
from pytest_rageval.model.facets import MODEL, WORKFLOW
from pytest_rageval.systems import BUILTIN, WORKFLOWS

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.config.system_names import SystemName

__all__ = ["facets_of", "named_responders"]

WITHOUT_MODEL = ("extractive",)
"""Built-in systems that ask no model."""


def named_responders(collected: Collected, model: str, *, lasting: bool) -> list[Responder]:
    """Return the systems of ``--rag-system``, else those of the ini.

    Args:
        collected: the session.
        model: the session's model, for the facets of systems without a model of their own; "" if it is unknown.
        lasting: whether their fixtures are session-scoped.

    Raises:
        SettingError: a name is malformed, or its system does not take a model.
    """
    options, registered = collected.options, collected.catalog.systems
    where = "--rag-system" if options.systems else "rag_system"
    responders = []
    for text in options.systems or options.ini_systems:
        named = named_system(text, where, options.named_systems, registered)
        facets = _facets(named, model)
        responders.append(Responder(named.name, True, lasting, named.system, named.model, facets))
    return responders


def facets_of(system: str, model: str = "") -> tuple[tuple[str, str], ...]:
    """Return the facets ``workflow`` and ``model`` of a system by its registered name; without a model only the first.

    The model of a user's system is unknown.
    """
    workflow = (WORKFLOW, WORKFLOWS.get(system, system))
    return (workflow, (MODEL, model)) if model and system not in WITHOUT_MODEL else (workflow,)


def _facets(named: SystemName, model: str) -> tuple[tuple[str, str], ...]:
    """Return the facets of a named system. A user's own system has its labels, else its name as the workflow."""
    if named.system in BUILTIN:
        return facets_of(named.system, named.model or model)
    labels = named.options
    model = labels.get(MODEL) or named.model
    workflow = (WORKFLOW, labels.get(WORKFLOW) or named.name)
    return (workflow, (MODEL, model)) if model else (workflow,)
