"""The public fixtures: use them in tests, or override them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import SettingError, message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED

if TYPE_CHECKING:
    from pytest_rageval.environments import Environment
    from pytest_rageval.hooks.run.rag_ask import Ask
    from pytest_rageval.hooks.run.result import RagResult
    from pytest_rageval.model.case import Passage
    from pytest_rageval.model.chat import ChatModel, EmbeddingModel
    from pytest_rageval.model.protocols import Retriever, System


__all__ = [
    "pytest_fixture_setup",
    "rag",
    "rag_ask",
    "rag_corpus",
    "rag_embedder",
    "rag_environments",
    "rag_generator",
    "rag_judge",
    "rag_llm",
    "rag_proxy",
    "rag_retriever",
    "rag_system",
]


@pytest.fixture
def rag(request: pytest.FixtureRequest) -> RagResult:
    """The test's case, answered and scored: ``.case .answer .scores .check(gate)``, ``rag["accuracy"]``."""
    if not hasattr(request, "param"):
        problem = "the rag fixture belongs to a test with @rag_case(...); add the marker"
        pytest.fail(message_with_code(SettingError(problem, code="RAG107")), pytrace=False)
    from pytest_rageval.hooks.run.answering import answering_of

    result = answering_of(request.session).answer(request, request.param)
    result.begin()
    return result


@pytest.fixture(scope="session")
def rag_ask(request: pytest.FixtureRequest) -> Ask:
    """A function that asks the system under test anything: ``rag_ask(case, question=, passages=, history=)``.

    It returns a `RagResult`, for an async system, too. Equal requests are asked once per session, and are replayed from
    recordings. The answers count for cost and budget, but not for means and gates. If the budget is spent, the test is
    skipped with that reason.
    """
    if COLLECTED not in request.config.stash:
        problem = "rag_ask is not an argument of this test or of its fixtures; add it as an argument"
        pytest.fail(message_with_code(SettingError(problem, code="RAG107")), pytrace=False)
    from pytest_rageval.hooks.run.answering import answering_of

    return answering_of(request.session).asking


@pytest.fixture(scope="session")
def rag_corpus(pytestconfig: pytest.Config) -> tuple[Passage, ...] | None:
    """The passages that the retriever searches: the ini's ``rag_corpus``, or None. Override it with your own."""
    from pytest_rageval.hooks.collect.session_corpus import corpus_of

    return corpus_of(pytestconfig).passages


@pytest.fixture(scope="session")
def rag_retriever(
    rag_corpus: tuple[Passage, ...] | None, request: pytest.FixtureRequest, pytestconfig: pytest.Config
) -> Retriever | None:
    """The retriever of the default system: the ini's, BM25 by default, over ``rag_corpus``; None without a corpus.

    Run files, databases and search servers need no corpus.

    Override it with your own: an object with ``search``, a retriever of LangChain or LlamaIndex, or any callable (see
    `adapted`). If the session has a model, an async retriever is awaited. A sync one runs in one separate thread, the
    same for all calls. Create objects that are bound to a thread inside the first call; open a sqlite3 connection
    there, or with ``check_same_thread=False``.
    """
    from pytest_rageval.hooks.collect.start import collected_of
    from pytest_rageval.hooks.prepare.retriever import retriever_over, with_embedder

    retriever = retriever_over(rag_corpus, collected_of(pytestconfig))
    return with_embedder(retriever, lambda: request.getfixturevalue("rag_embedder"))


@pytest.fixture(scope="session")
def rag_llm(pytestconfig: pytest.Config) -> ChatModel | None:
    """The model that the systems call, from ``rag_model``; None without it. Override it with your own model.

    The session wraps your model: it records, retries and charges each call.
    """
    from pytest_rageval.hooks.collect.start import collected_of

    return collected_of(pytestconfig).models.client_of_options("rag_llm")


@pytest.fixture(scope="session")
def rag_judge(pytestconfig: pytest.Config) -> ChatModel | None:
    """The model that judged metrics call, from ``rag_judge_model``; without it they stay unscored."""
    from pytest_rageval.hooks.collect.start import collected_of

    return collected_of(pytestconfig).models.client_of_options("rag_judge")


@pytest.fixture(scope="session")
def rag_embedder(pytestconfig: pytest.Config) -> EmbeddingModel | None:
    """The embedding model, from ``rag_embedder_model``; None without it."""
    from pytest_rageval.hooks.collect.start import collected_of

    return collected_of(pytestconfig).models.embedder_of_options()


@pytest.fixture(scope="session")
def rag_proxy(pytestconfig: pytest.Config) -> str | None:
    """The address of ``rag_proxy = on``, an OpenAI-compatible server that records; None without that setting."""
    from pytest_rageval.hooks.collect.start import collected_of

    http = collected_of(pytestconfig).models.http
    return None if http is None else http.address


@pytest.fixture(scope="session")
def rag_environments(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Mapping[str, Environment]:
    """The tools of agents by the name of their environment: the ini's, or ``wiki`` over ``rag_corpus``.

    Override it with a dict of your own. Its values are functions, lists of functions, objects, classes or MCP servers.
    """
    from pytest_rageval.hooks.collect.start import collected_of
    from pytest_rageval.hooks.prepare.environments import fixture_environments

    declared = fixture_environments(collected_of(pytestconfig), lambda: request.getfixturevalue("rag_corpus"))
    return {name: declared.get(name) for name in declared.names}


@pytest.fixture(scope="session")
def rag_generator(rag_llm: ChatModel | None, pytestconfig: pytest.Config) -> System:
    """The generator of the default system: the model, or without one the built-in extractive reader."""
    if rag_llm is None:
        from pytest_rageval.systems.extractive import extractive

        return extractive
    from pytest_rageval.hooks.collect.start import collected_of
    from pytest_rageval.systems.llm import ModelGenerator

    models = collected_of(pytestconfig).models
    return ModelGenerator(models.client_of(rag_llm, "rag_llm") or rag_llm, models.prompts)


@pytest.fixture(scope="session")
def rag_system(rag_retriever: Retriever | None, rag_generator: System, pytestconfig: pytest.Config) -> System:
    """The system under test, ``Query -> Answer | str``, sync or async. Override it with your own.

    By default ``rag_generator`` answers from the passages that the case supplies. If the case supplies none, it answers
    from the results of ``rag_retriever``.
    """
    from pytest_rageval.hooks.collect.start import collected_of
    from pytest_rageval.retrieval.adapt_retriever import adapted
    from pytest_rageval.systems.naive import naive
    from pytest_rageval.systems.parts import SystemParts

    retriever = None if rag_retriever is None else adapted(rag_retriever)
    return naive(SystemParts(retriever, rag_generator, collected_of(pytestconfig).options.top_k))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Wrap the model of a user's fixture in a client that records, retries and charges its calls."""
    value = yield
    if fixturedef.argname not in ("rag_llm", "rag_judge", "rag_embedder") or value is None:
        return value
    from pytest_rageval.hooks.collect.start import collected_of

    models = collected_of(request.config).models
    client = models.wrap(value, fixturedef.argname)
    if client is not value and fixturedef.cached_result is not None:
        fixturedef.cached_result = (client, fixturedef.cached_result[1], None)
        if fixturedef.scope != "session":
            fixturedef.addfinalizer(partial(models.forget, fixturedef.argname, value))
    return client
