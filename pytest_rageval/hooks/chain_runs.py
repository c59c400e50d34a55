"""Run the actions of a chain for one case, or preview their inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.hooks.chain_project import ChainProject
from pytest_rageval.llm.client.running_cases import running_case
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, RefusedCallError, Scope
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.current import CASE_ENVIRONMENT, CASE_IDS
from pytest_rageval.sandbox.protocol import ProgramResult
from pytest_rageval.systems.chains.chain import Chain, Retrieve
from pytest_rageval.systems.chains.history import Output
from pytest_rageval.systems.chains.preview import NO_OUTPUTS, Preview, preview
from pytest_rageval.systems.chains.system import build
from pytest_rageval.trace.collector import collecting
from pytest_rageval.trace.completing import steps_before_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_rageval.engine.loop import LoopFuture

__all__ = ["ChainResult", "previews_of", "run_actions"]


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The result of running a chain, or its preview.

    Attributes:
        chain: the chain, up to the last action to run.
        model: the litellm name of the model that it asks; "" if it asks none.
        case: the case with its gold answers; a question has none.
        previews: the input of each action, if nothing ran.
        steps: the steps that ran, in order.
        answer: the answer; None if nothing ran, or the run failed.
        error: why the run failed, or "".
        calls: the model calls.
        keys: keys of the recordings that were read or written.
    """

    chain: Chain
    model: str
    case: Case
    previews: tuple[Preview, ...] = ()
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    error: str = ""
    calls: Calls = field(default_factory=Calls)
    keys: tuple[str, ...] = ()


def previews_of(
    project: ChainProject, chain: Chain, case: Case, outputs: Mapping[str, Output] = NO_OUTPUTS
) -> Iterator[Preview]:
    """Yield the input of each action, with all values that are known without calling a model or tool."""

    def evaluate(code: str, values: Mapping[str, object]) -> ProgramResult:
        return project.sandbox(project.setup.where).run(code.strip(), values=values)

    uses_supplied = project.options.uses_supplied
    return preview(chain, case.query, evaluate, uses_supplied=uses_supplied, outputs=outputs)


def run_actions(
    project: ChainProject,
    result: ChainResult,
    outputs: Mapping[str, Output],
    wait: Callable[[LoopFuture[Answer]], Answer] | None = None,
) -> ChainResult:
    """Run the actions that have no output yet; return the result with answer, steps and calls.

    Args:
        project: the chain's project.
        result: the chain and the case to run it for.
        outputs: action -> its output from an earlier run.
        wait: waits for the answer and may cancel it; None waits until the end.
    """
    chain, query, options = result.chain, result.case.query, project.options
    pending = [action for action in chain.actions if action.name not in outputs]
    is_supplied = options.uses_supplied and query.passages is not None
    searches = any(isinstance(each, Retrieve) and not each.retriever for each in pending) and not is_supplied
    parts = project.parts(pending, result.case.facets.get("environment", ""), searches=searches)
    system = replace(build(parts, replace(options, chain=chain)), outputs=outputs)
    answer, error, meter = None, "", Meter()
    with _scope(project, result.case, meter), collecting() as collector, running_case():
        try:
            running = project.loop.start(lambda: system(query))
            answer = running.result() if wait is None else wait(running)
        except RagEvalError as fault:
            error = message_with_code(fault)
        except RefusedCallError as refusal:
            error = message_with_code(refusal.error)
        except Exception as fault:  # from a user's tool or retriever
            error = cause_of(fault)
    if meter.refused is not None:  # a budget or a recording refused a call, so the answer does not count
        answer, error = None, message_with_code(meter.refused)
    return replace(
        result, steps=steps_before_error(collector), answer=answer, error=error, calls=meter.calls, keys=meter.keys
    )


@contextmanager
def _scope(project: ChainProject, case: Case, meter: Meter) -> Iterator[None]:
    """Attribute calls to the case, like in a test."""
    scope = SCOPE.set(Scope(meter, cassettes=project.collected.models.cassettes))
    ids = CASE_IDS.set((case.id, case.instance.id))
    environment = CASE_ENVIRONMENT.set(case.facets.get("environment", ""))
    try:
        yield
    finally:
        CASE_ENVIRONMENT.reset(environment)
        CASE_IDS.reset(ids)
        SCOPE.reset(scope)
