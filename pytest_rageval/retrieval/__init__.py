"""Retrievers: each one searches passages for a query and returns a `Ranking`."""

from __future__ import annotations

from pytest_rageval.retrieval.retriever_parts import RetrieverFactory, RetrieverParts

__all__ = ["BUILTIN", "FAMILIES", "RetrieverFactory", "RetrieverParts"]

BUILTIN: dict[str, str] = {
    "bm25": "pytest_rageval.retrieval.bm25:build",
    "dense": "pytest_rageval.retrieval.dense:build",
    "hybrid": "pytest_rageval.retrieval.hybrid:build",
    "opensearch": "pytest_rageval.retrieval.opensearch.retriever:build",
    "pgvector": "pytest_rageval.retrieval.pgvector:build",
}
"""Retriever name -> ``"module:attribute"`` of its `RetrieverFactory`, for a `Registry`."""

FAMILIES: dict[str, str] = {"run": "pytest_rageval.retrieval.run_file:family"}
"""Prefix of a retriever's name before ``:`` -> path of the function that returns the factory for such a name."""
