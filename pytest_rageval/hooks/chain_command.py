"""Check a chain and run it for one question, for the command `rageval chain`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.hooks.chain_project import ChainProject, open_project
from pytest_rageval.hooks.chain_runs import ChainResult, previews_of, run_actions
from pytest_rageval.hooks.collect.start import collected_of
from pytest_rageval.hooks.project import in_project
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.plain import plain_text
from pytest_rageval.systems.chains.chain import Chain
from pytest_rageval.systems.chains.history import Output
from pytest_rageval.systems.chains.partial_chain import action_named, chain_until
from pytest_rageval.systems.chains.stored_outputs import read_outputs
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.text.language import detect_language

__all__ = ["ChainOrder", "CheckedChain", "check_in_project", "run_in_project"]


@dataclass(frozen=True, slots=True)
class ChainOrder:
    """The chain that a command runs, and the question or case to run it for.

    Attributes:
        chain: a file, a shipped chain or an alias of ``rag_systems``.
        question: the question; None for a case of a dataset.
        dataset: ``format:path``; None for a question.
        case: the id of the case in the dataset.
        prompts_only: whether to run nothing, and only show the prompts with all values that are known.
        until: the last action to run; None for all.
        only: the single action to run, with ``outputs`` as its inputs; None for all.
        outputs: the JSON file with the outputs of earlier actions.
    """

    chain: str
    question: str | None = None
    dataset: str | None = None
    case: str | None = None
    prompts_only: bool = False
    until: str | None = None
    only: str | None = None
    outputs: Path | None = None


@dataclass(frozen=True, slots=True)
class CheckedChain:
    """A valid chain, and what it needs.

    Attributes:
        chain: the chain.
        model: the litellm name of the model that it asks; "" if it asks none.
        lacks_corpus: whether it searches although the ini names no corpus.
    """

    chain: Chain
    model: str
    lacks_corpus: bool


def check_in_project(chain: str) -> CheckedChain:
    """Read a chain and check it against the ini; call no model.

    If the chain calls tools, this also reads the data of their environment.

    Raises:
        RagEvalError: the chain cannot run.
    """

    def check(config: pytest.Config) -> CheckedChain:
        collected = collected_of(config)
        with open_project(collected, chain) as project:
            parsed = project.options.chain
            if parsed.tools and (project.options.environment or len(collected.options.environments) < 2):
                project.environments()  # with several environments, the case chooses one
            searches = any(not each.retriever for each in parsed.retrieves)
            lacks_corpus = searches and collected.needs_corpus and not collected.options.corpus
            return CheckedChain(parsed, project.model, lacks_corpus)

    return in_project(check)


def run_in_project(order: ChainOrder) -> ChainResult:
    """Run a chain for one question.

    Raises:
        RagEvalError: the run cannot start. An error during the run is in the result instead.
    """
    _check(order)
    return in_project(partial(_run, order))


def _check(order: ChainOrder) -> None:
    if (order.dataset is None) != (order.case is None):
        missing = "--id names its case" if order.case is None else "--dataset names the file of the case"
        raise SettingError(f"--dataset and --id belong together: {missing}; add it")
    if (order.only is None) != (order.outputs is None):
        missing = "--with names the file of outputs" if order.outputs is None else "--from names the action to run"
        raise SettingError(f"--from and --with belong together: {missing}; add it")
    if order.only is not None and (order.until is not None or order.prompts_only):
        raise SettingError("--from runs one action; leave out --until and --prompts-only")
    if order.question is not None and not order.question.strip():
        raise SettingError("--question is empty; write a question")
    if order.question is not None and plain_text(order.question) != order.question:
        raise SettingError("--question holds bytes that are not text; write it in the encoding of the terminal")


def _run(order: ChainOrder, config: pytest.Config) -> ChainResult:
    collected = collected_of(config)
    with open_project(collected, order.chain) as project:
        case = _case(order, project)
        full_chain, outputs = project.options.chain, dict[str, Output]()
        last = None if order.until is None else action_named(full_chain, order.until, "--until")
        chain = full_chain if last is None else chain_until(full_chain, last)
        if order.only is not None and order.outputs is not None:
            action = action_named(full_chain, order.only, "--from")
            stored = read_outputs(order.outputs, full_chain, action)
            chain = chain_until(full_chain, action)
            outputs = {each.name: stored.get(each.name, Output()) for each in chain.actions[:-1]}
        result = ChainResult(chain, project.model, case)
        if order.prompts_only:
            return replace(result, previews=tuple(previews_of(project, chain, case)))
        return run_actions(project, result, outputs)


def _case(order: ChainOrder, project: ChainProject) -> Case:
    """Return the case of the order, like the marker ``rag_case`` makes it if only ``dataset`` is set."""
    if order.dataset is None:
        question = order.question or ""
        return Case("question", Instance("question", question, language=detect_language(question)), None, {})
    collected = project.collected
    source = collected.sources.load(order.dataset, [Path.cwd()], "--dataset")
    instances = {instance.id: instance for instance in source.instances}
    if order.case not in instances:
        raise UnknownNameError("id", order.case, instances, f"--id: {source.name}")
    settings = parse_settings({"dataset": order.dataset}, "--dataset")
    ((_, case),) = expand(settings, [instances[order.case]], settings.seed or 0)
    return collected.reworded(case)
