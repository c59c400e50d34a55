"""Read a chain with its project's settings, and build the model and parts that its actions use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.environments.choice import environment_name
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.collect.testbed import Responder
from pytest_rageval.hooks.collect.workflows import check_needs, setup_of
from pytest_rageval.hooks.config.system_names import SystemName, named_system
from pytest_rageval.hooks.prepare.environments import check_tools, fixture_environments
from pytest_rageval.hooks.prepare.retriever import retriever_of_kind, retriever_over, with_embedder
from pytest_rageval.model.chat import EMBEDDED
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import Requirements, Workflow

if TYPE_CHECKING:
    from pytest_rageval.environments.choice import Environments
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.llm.client.clients import Client
    from pytest_rageval.model.protocols import Retriever
    from pytest_rageval.sandbox.protocol import Sandbox
    from pytest_rageval.systems.chains.chain import Action
    from pytest_rageval.systems.chains.system import ChainOptions

__all__ = ["ChainProject", "chain_project", "open_project"]

WHERE = "rageval chain"
PREFIX = "chain:"
"""Start of the names of systems that are chains."""


@dataclass(slots=True)
class ChainProject:
    """A chain with the settings and models of its project.

    Attributes:
        collected: the project's settings, models and corpus; it has no testbeds.
        loop: the event loop of all calls.
        setup: the options of the chain's system.
        options: the chain with its options.
        needs: the models and tools that the chain names.
        model: the litellm name of the model that it asks; "" if it asks none.
    """

    collected: Collected
    loop: LoopThread
    setup: SystemSetup
    options: ChainOptions
    needs: Requirements
    model: str
    _sandbox: Sandbox | None = field(default=None, init=False)

    def parts(self, actions: Collection[Action], environment: str, *, searches: bool) -> SystemParts:
        """Return the parts that some actions use; read the corpus only if they search.

        Args:
            actions: the actions that will run.
            environment: the environment that the case names; "" if it names none.
            searches: whether the actions use the session's retriever.

        Raises:
            RagEvalError: no environment is declared for the tools, or it lacks one of them.
        """
        collected = self.collected
        return SystemParts(
            retriever=self._retriever() if searches else None,
            top_k=collected.options.top_k,
            llm=self._llm(),
            prompts=collected.models.prompts,
            environments=self.environments(environment) if any(each.do == "tool" for each in actions) else None,
            sandbox=self.sandbox,
            models=partial(collected.models.named, "rag_llm"),
            retrievers=self._named_retriever,
            setup=self.setup,
        )

    def sandbox(self, needed_by: str) -> Sandbox:
        """Return the sandbox of the process, opened on first use."""
        if self._sandbox is None:
            self._sandbox = open_sandbox(self.collected.options.sandbox, needed_by)
        return self._sandbox

    def environments(self, name: str = "") -> Environments:
        """Return the environments of the ini; check that the named one, else the default, has the chain's tools."""
        declared = fixture_environments(self.collected, lambda: self.collected.corpus.passages)
        environment = declared.get(environment_name(declared.names, name, self.options.environment, self.setup.where))
        environment.load()
        check_tools(self.needs, environment)
        return declared

    def end_sandbox(self) -> None:
        """Stop the processes of the sandbox."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def close(self) -> list[str]:
        """Stop the processes and close the connections; return warnings."""
        self.end_sandbox()
        self.loop.close(self.collected.models.close)
        self.collected.close()
        return self.collected.faults

    def _llm(self) -> Client | None:
        models = self.collected.models
        if models.loading is not None:
            models.loading.join()
        return models.named("rag_llm", self.model) if self.model else None

    def _retriever(self) -> Retriever | None:
        retriever = retriever_over(self.collected.corpus.passages, self.collected)
        return with_embedder(retriever, self.collected.models.embedder_of_options)

    def _named_retriever(self, kind: str, params: Mapping[str, object]) -> Retriever | None:
        retriever = retriever_of_kind(kind, params, self.collected.corpus.passages, self.collected)
        return with_embedder(retriever, self.collected.models.embedder_of_options)


@contextmanager
def open_project(collected: Collected, chain: str) -> Iterator[ChainProject]:
    """Yield a chain in its project, and close the project at the end; see `chain_project`."""
    project = chain_project(collected, chain, LoopThread())
    collected.models.loop = project.loop
    try:
        yield project
    finally:
        project.close()


def chain_project(
    collected: Collected, chain: str, loop: LoopThread, edit: Callable[[ChainOptions], ChainOptions] | None = None
) -> ChainProject:
    """Read a chain and check it against the settings of its project.

    Args:
        collected: the project.
        chain: an alias of ``rag_systems``, a file or a shipped chain; a shipped chain may end with ``@MODEL``.
        loop: the event loop of its calls.
        edit: returns the options with an edited chain; None keeps the chain of the file.

    Raises:
        RagEvalError: the chain or a setting is invalid.
    """
    named = _system_name(collected, chain)
    workflow = collected.catalog.systems.get(named.system, WHERE)
    if not isinstance(workflow, Workflow):
        raise SettingError(f"{WHERE}: {short_repr(chain)} is not a chain; name a file, or a shipped chain")
    setup = _setup(collected, named)
    options: ChainOptions = workflow.read(setup)
    options = options if edit is None else edit(options)
    needs = Requirements() if workflow.needs is None else workflow.needs(options)
    check_needs(collected, replace(needs, models=(*needs.models, *filter(None, [named.model]))))
    model = named.model or collected.options.model.name or EMBEDDED
    return ChainProject(collected, loop, setup, options, needs, model if needs.calls_model else "")


def _system_name(collected: Collected, chain: str) -> SystemName:
    """Return the system of a chain: that of an alias, else ``chain:FILE``."""
    aliases = collected.options.named_systems
    if chain in aliases:
        named = aliases[chain]
        if not named.system.startswith(PREFIX):
            raise SettingError(f"{WHERE}: the alias {chain} of rag_systems is the system {named.system}, not a chain")
        return named
    return named_system(PREFIX + chain.removeprefix(PREFIX), WHERE, aliases, collected.catalog.systems)


def _setup(collected: Collected, named: SystemName) -> SystemSetup:
    if named.name in collected.options.named_systems:
        options = tuple(named.options.items())
        return setup_of(collected, Responder(named.name, True, True, named.system, named.model, (), options))
    rootdir, invoked = collected.options.folders
    argument = named.system.partition(":")[2]
    return SystemSetup(WHERE, ComponentOptions({}, WHERE), argument, (invoked, rootdir), collected.options.sandbox)
