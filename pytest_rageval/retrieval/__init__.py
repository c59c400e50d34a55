"""Query -> Ranking: one file a retriever."""

from __future__ import annotations

__all__ = ["BUILTIN"]

BUILTIN: dict[str, str] = {"bm25": "pytest_rageval.retrieval.bm25:Bm25Retriever"}
"""Retriever name -> ``"module:attribute"``, for a `Registry`."""
