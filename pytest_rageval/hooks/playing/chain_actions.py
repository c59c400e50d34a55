"""Run single actions of a chain for a page, on given outputs and with values that are not saved yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.hooks.chain_parts import ChainProject, chain_project
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
    """What to run of a chain.

    Attributes:
        chain: a file, a shipped chain or an alias of ``rag_systems``.
        name: the action.
        outputs: the outputs of earlier actions, as ``rageval chain run --with`` reads them.
        edits: new values, which the file does not have.
        prompts_only: whether nothing runs, and only what the action is given is filled in.
    """

    chain: str
    name: str
    outputs: Mapping[str, object]
    edits: Sequence[ChainEdit] = ()
    prompts_only: bool = False


@dataclass(frozen=True, slots=True)
class ChainText:
    """A chain with its file.

    Attributes:
        path: the file.
        raw: its bytes, with the edits.
        chain: the chain.
        model: the litellm name of the model that it asks; "" if it asks none.
    """

    path: Path
    raw: bytes
    chain: Chain
    model: str


def chain_text(collected: Collected, loop: LoopThread, chain: str, edits: Sequence[ChainEdit]) -> ChainText:
    """Return a chain with edits, checked against the project.

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
    """Run one action for a case, or fill in what it is given.

    Raises:
        RagEvalError: the chain or the outputs are invalid. An error of the run itself is in the result.
    """
    project = chain_project(collected, order.chain, loop, partial(_with_edits, order.edits))
    try:
        whole = project.options.chain
        action = action_named(whole, order.name, "name")
        chain = chain_until(whole, action)
        if order.prompts_only:
            return _shown(project, chain, case, order.outputs)
        stored = outputs_of(order.outputs, "outputs", whole, action)
        outputs = {each.name: stored.get(each.name, Output()) for each in chain.actions[:-1]}
        token = WATCHER.set(watch)
        try:
            result = ChainResult(chain, project.model, case)
            ran = run_actions(project, result, outputs, lambda running: wait_for(running, stop, 0.0))
        finally:
            WATCHER.reset(token)
        collected.models.outside.add(ran.calls)
        return ran
    finally:
        project.end_sandbox()


def _shown(project: ChainProject, chain: Chain, case: Case, values: Mapping[str, object]) -> ChainResult:
    """Return what the last action of a chain is given; outputs that are missing are shown as placeholders."""
    last = chain.actions[-1]
    earlier = [each.name for each in chain.actions[:-1]]
    known = outputs_of(values, "outputs", chain, last, complete=False)
    previews = tuple(previews_of(project, chain, case, {name: known[name] for name in earlier if name in known}))
    return ChainResult(chain, project.model, case, previews[-1:])


def _with_edits(edits: Sequence[ChainEdit], options: ChainOptions) -> ChainOptions:
    if not edits:
        return options
    file_name = options.chain.file_name
    return replace(options, chain=chain_of(edit_chain(options.path.read_bytes(), edits, file_name), file_name))
