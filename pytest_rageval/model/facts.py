"""Facts that a retriever reports about itself and its index."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["RETRIEVE", "Facts", "facts_of", "retriever_of"]

Facts = Mapping[str, object]
"""Name -> value, see ``facts`` in `pytest_rageval.model.protocols.Retriever`; None means unknown."""

RETRIEVE = "retrieve"
"""The kind of a trace step that calls a retriever."""


def facts_of(retriever: object) -> Facts:
    """Return the facts of a retriever; empty if it reports none."""
    facts = getattr(retriever, "facts", None)
    return facts if isinstance(facts, Mapping) else {}


def retriever_of(facts: Facts) -> str:
    """Return the label of a retriever: "NAME/INDEX", or the one that its facts contain, or ""."""
    return "/".join(str(facts[key]) for key in ("retriever", "index") if facts.get(key))
