"""What a retriever tells of itself and its index."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RETRIEVE", "Facts", "facts_of", "retriever_of"]

Facts = Mapping[str, object]
"""What `pytest_rageval.model.protocols.Retriever` says of ``facts``; None is what is not known."""

RETRIEVE = "retrieve"
"""The kind of the step that asks a retriever."""


def facts_of(retriever: object) -> Facts:
    """Return the facts of a retriever; nothing where it tells none."""
    facts = getattr(retriever, "facts", None)
    return facts if isinstance(facts, Mapping) else {}


def retriever_of(facts: Facts) -> str:
    """Return what a retriever with these facts is called: its name, and its index behind a slash; "" without either."""
    return "/".join(str(facts[key]) for key in ("retriever", "index") if facts.get(key))
