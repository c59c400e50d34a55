"""Build the parts of a system (retriever, generator, models) from fixtures and options."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from pytest_rageval.hooks.collect.workflows import needs_of, setup_of, workflow_of
from pytest_rageval.hooks.config.fixture_overrides import overridden
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup

if TYPE_CHECKING:
    import pytest

    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Responder
    from pytest_rageval.llm.client.clients import Client, Embedder
    from pytest_rageval.model.protocols import Retriever, System
    from pytest_rageval.sandbox.protocol import Sandbox

__all__ = ["PartsOfTests"]


class PartsOfTests:
    """Builds the parts of systems; owns the sandbox of the process."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self._sandbox: Sandbox | None = None
        self._lock = Lock()

    def close(self) -> None:
        """End the processes of the sandbox."""
        if self._sandbox is not None:
            self._sandbox.close()

    def parts(
        self,
        request: pytest.FixtureRequest,
        llm: Client | None,
        embedder: Embedder | None,
        responder: Responder | None = None,
    ) -> SystemParts:
        """Return the parts for a test. They differ between folders if a conftest overrides their fixtures.

        Args:
            request: the test's request.
            llm: the model of the system.
            embedder: the session's embedding model.
            responder: the system, if an option names it.
        """
        from pytest_rageval.hooks.prepare.environments import environments_for
        from pytest_rageval.hooks.prepare.retriever import with_embedder

        collected = self._collected
        workflow = None if responder is None else workflow_of(collected, responder)
        needs = None if responder is None else needs_of(collected, responder)
        uses_retriever = (workflow is None or workflow.retrieves) and (needs is None or needs.retrieves)
        retriever = with_embedder(self._report(self.retriever(request)), lambda: embedder) if uses_retriever else None
        if overridden("rag_generator", request.node) is not None:
            generator = request.getfixturevalue("rag_generator")
        else:  # the built-in fixture has session scope, and cannot use a model fixture of narrower scope
            generator = self._generator(llm)
        return SystemParts(
            retriever,
            generator,
            collected.options.top_k,
            llm,
            collected.models.prompts,
            embedder,
            environments_for(collected, request),
            self._open_sandbox,
            partial(collected.models.named, "rag_llm"),
            partial(self._named_retriever, request, embedder),
            SystemSetup() if responder is None else setup_of(collected, responder),
        )

    def retriever(self, request: pytest.FixtureRequest) -> Retriever | None:
        """Return the retriever of a test: its fixture, or the ini's over its corpus; None without either."""
        if overridden("rag_retriever", request.node) is not None:
            from pytest_rageval.retrieval.adapt_retriever import adapted

            users_retriever = request.getfixturevalue("rag_retriever")
            return None if users_retriever is None else adapted(users_retriever)
        if overridden("rag_corpus", request.node) is not None or self._collected.corpus.needed:
            from pytest_rageval.hooks.prepare.retriever import retriever_over

            return retriever_over(request.getfixturevalue("rag_corpus"), self._collected)
        return None

    def _named_retriever(
        self, request: pytest.FixtureRequest, embedder: Embedder | None, kind: str, params: Mapping[str, object]
    ) -> Retriever | None:
        """Return the retriever of a kind over the test's corpus."""
        from pytest_rageval.hooks.prepare.retriever import retriever_of_kind, with_embedder

        has_own = overridden("rag_corpus", request.node) is not None
        corpus = request.getfixturevalue("rag_corpus") if has_own or self._collected.corpus.needed else None
        retriever = self._report(retriever_of_kind(kind, params, corpus, self._collected))
        return with_embedder(retriever, lambda: embedder)

    def _report(self, retriever: Retriever | None) -> Retriever | None:
        """Add a retriever to those whose facts the session reports, and return it."""
        if retriever is not None and all(retriever is not each for each in self._collected.retrievers):
            self._collected.retrievers.append(retriever)
        return retriever

    def _generator(self, llm: Client | None) -> System:
        if llm is None:
            from pytest_rageval.systems.extractive import extractive

            return extractive
        from pytest_rageval.systems.llm import ModelGenerator

        return ModelGenerator(llm, self._collected.models.prompts)

    def _open_sandbox(self, needed_by: str) -> Sandbox:
        """Return the sandbox of the process, opened on first use."""
        from pytest_rageval.sandbox import open_sandbox

        with self._lock:
            if self._sandbox is None:
                self._sandbox = open_sandbox(self._collected.options.sandbox, needed_by)
            return self._sandbox
