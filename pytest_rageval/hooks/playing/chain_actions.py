"""Run one action of a chain for the page, with the outputs of earlier actions and unsaved edits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.hooks.chain_project import ChainProject, chain_project
from pytest_rageval.hooks.chain_runs import ChainResult, previews_of, run_actions
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.run.cancellation import wait_for
from pytest_rageval.model.case import Case
from pytest_rageval.systems.chains.chain import Chain
from pytest_rageval.systems.chains.chain_edits import ChainEdit, edit_chain
from pytest_rageval.systems.chains.chain_file import chain_of
from pytest_rageval.systems.chains.history import Output
from pytest_rageval.systems.chains.partial_chain import action_named, chain_until
from pytest_rageval.systems.chains.stored_outputs import outputs_of
from pytest_rageval.systems.chains.system import ChainOptions
from pytest_rageval.trace.collector import WATCHER, Event

__all__ = ["ActionOrder", "ChainText", "chain_text", "run_action"]


@dataclass(frozen=True, slots=True)
class ActionOrder:
    """An action of a chain to run.

    Attributes:
        chain: a file, a shipped chain or an alias of ``rag_systems``.
        name: the name of the action.
        outputs: the outputs of earlier actions, in the form of ``rageval chain run --with``.
        edits: changes that are not saved in the file.
        prompts_only: whether to run nothing, and only show the input of the action.
    """

    chain: str
    name: str
    outputs: Mapping[str, object]
    edits: Sequence[ChainEdit] = ()
    prompts_only: bool = False


@dataclass(frozen=True, slots=True)
class ChainText:
    """An edited chain, and the text of its file.

    Attributes:
        path: the chain's file.
        raw: the bytes of the file with the edits.
        chain: the edited chain.
        model: the litellm name of the model that it asks; "" if it asks none.
    """

    path: Path
    raw: bytes
    chain: Chain
    model: str


def chain_text(collected: Collected, loop: LoopThread, chain: str, edits: Sequence[ChainEdit]) -> ChainText:
    """Return a chain with edits, after checking it against the project.

    Raises:
        RagEvalError: the chain cannot run.
    """
    project = chain_project(collected, chain, loop, partial(_with_edits, edits))
    raw = edit_chain(project.options.path.read_bytes(), edits, project.options.chain.file_name)
    return ChainText(project.options.path, raw, project.options.chain, project.model)


def run_action(
    collected: Collected,
    loop: LoopThread,
    order: ActionOrder,
    case: Case,
    stop: threading.Event,
    watch: Callable[[Event], object],
) -> ChainResult:
    """Run one action for a case, or preview its input.

    Args:
        collected: the project's settings and models.
        loop: the event loop of all calls.
        order: the action.
        case: the case or typed question.
        stop: set it to cancel the action.
        watch: called with each step that ends, on the system's thread.

    Raises:
        RagEvalError: the chain or the outputs are invalid. An error during the run is in the result instead.
    """
    project = chain_project(collected, order.chain, loop, partial(_with_edits, order.edits))
    try:
        full_chain = project.options.chain
        action = action_named(full_chain, order.name, "name")
        chain = chain_until(full_chain, action)
        if order.prompts_only:
            return _preview(project, chain, case, order.outputs)
        stored = outputs_of(order.outputs, "outputs", full_chain, action)
        outputs = {each.name: stored.get(each.name, Output()) for each in chain.actions[:-1]}
        token = WATCHER.set(watch)
        try:
            result = ChainResult(chain, project.model, case)
            result = run_actions(project, result, outputs, lambda running: wait_for(running, stop, 0.0))
        finally:
            WATCHER.reset(token)
        collected.models.outside.add(result.calls)
        return result
    finally:
        project.end_sandbox()


def _preview(project: ChainProject, chain: Chain, case: Case, values: Mapping[str, object]) -> ChainResult:
    """Return the input of the last action of a chain, with placeholders for missing outputs."""
    last = chain.actions[-1]
    names = [each.name for each in chain.actions[:-1]]
    outputs = outputs_of(values, "outputs", chain, last, complete=False)
    known = {name: outputs[name] for name in names if name in outputs}
    previews = tuple(previews_of(project, chain, case, known))
    return ChainResult(chain, project.model, case, previews[-1:])


def _with_edits(edits: Sequence[ChainEdit], options: ChainOptions) -> ChainOptions:
    if not edits:
        return options
    file_name = options.chain.file_name
    return replace(options, chain=chain_of(edit_chain(options.path.read_bytes(), edits, file_name), file_name))
