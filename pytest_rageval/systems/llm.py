"""The system ``llm``: retrieve if the case supplies no passages, then ask a model."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Completion
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.naive import naive
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, load_prompts, messages_for
from pytest_rageval.systems.workflow import PlannedRun, Workflow, no_options

__all__ = ["LLM", "ModelGenerator", "answer_of", "build", "model_of"]


@dataclass(frozen=True, slots=True)
class ModelGenerator:
    """Asks a model to answer from the passages of a query; refusals are detected later, by their markers."""

    model: ChatModel
    prompts: Prompts

    async def __call__(self, query: Query) -> Answer:
        return answer_of(await self.model.complete(messages_for(query, self.prompts)))


def build(parts: SystemParts, options: None = None) -> System:
    """Return retrieve-then-generate with the session's model; raise `SettingError` without a model."""
    generator = ModelGenerator(model_of(parts, "llm"), parts.prompts or load_prompts())
    return naive(SystemParts(parts.retriever, generator, parts.top_k))


def model_of(parts: SystemParts, system: str) -> ChatModel:
    """Return the session's model; raise `SettingError` without one."""
    if parts.llm is None:
        raise SettingError(
            f"system {system!r} needs a model: set rag_model in the ini, pass --rag-model, "
            "or override the `rag_llm` fixture"
        )
    return parts.llm


def answer_of(completion: Completion) -> Answer:
    """Return a model's trimmed reply as an answer with a step "completion"; abstain if the provider marks a refusal."""
    detail = {
        "model": completion.model,
        "finish_reason": completion.finish_reason,
        "attempts": completion.attempts,
        "replayed": completion.replayed,
    }
    abstained = True if completion.refused else None
    return Answer(
        completion.text.strip(), abstained=abstained, trace=(Step("completion", detail),), usage=completion.usage
    )


def _plan(options: None, query: Query, parts: SystemParts) -> PlannedRun:
    messages = messages_for(query, parts.prompts or load_prompts())
    is_supplied = query.passages is not None
    return PlannedRun(messages, 1, exact=True, final=is_supplied, documents=0 if is_supplied else parts.top_k)


LLM = Workflow(no_options, build, _plan)
