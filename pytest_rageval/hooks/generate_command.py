"""Ask models for a plan, for the command `rageval generate`: the session's clients, recordings and retries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.hooks.collect.start import collected_of
from pytest_rageval.hooks.config.model_scripts import is_script
from pytest_rageval.hooks.project import in_project
from pytest_rageval.llm.recordings.cassette import read
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.llm.recordings.records import record_of
from pytest_rageval.model.chat import SCRIPT

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.config.model_clients import Models
    from pytest_rageval.llm.client.clients import Client
    from pytest_rageval.model.chat import Message

__all__ = ["REPLIES", "with_models"]

T = TypeVar("T")

REPLIES = "replies"
"""Folder in the output folder for the replies of models, if the project records none. A later call reuses them."""


def with_models(
    budget_usd: float | None, folder: Path, out: Path | None, warnings: list[str], work: Callable[[ModelAccess], T]
) -> T:
    """Return the result of ``work``, which may ask the models of a plan.

    Calls have the parameters of ``rag_model_params``. If the project sets no ``rag_record_mode``, each reply is stored
    in ``out`` before it is used, so a killed call asks nothing twice.

    Args:
        budget_usd: the most that all calls may cost, in US dollars; None for no limit of the plan.
        folder: the folder of the plan; scripts are also looked for there.
        out: the output folder; None stores nothing.
        warnings: receives warnings of the recordings.
        work: is called once.

    Raises:
        RagEvalError: the project's settings are invalid, or ``work`` raises it.
    """

    def run(config: pytest.Config) -> T:
        if budget_usd is not None:
            config.option.rag_budget_usd = budget_usd
        with _opened(collected_of(config), out, warnings) as (collected, loop):
            return work(_access(collected.models, loop, folder))

    return in_project(run)


@contextmanager
def _opened(collected: Collected, out: Path | None, warnings: list[str]) -> Iterator[tuple[Collected, LoopThread]]:
    """Start the loop of all calls; at the end, close connections and recordings."""
    loop, models = LoopThread(), collected.models
    models.loop = loop
    if models.cassettes is None and out is not None:
        models.cassettes = _stored_replies(out / REPLIES, models)
    if models.loading is not None:
        models.loading.join()
    try:
        yield collected, loop
    finally:
        loop.close(models.close)
        collected.close()
        warnings += collected.faults


def _stored_replies(folder: Path, models: Models) -> Cassettes:
    """Return the replies of earlier calls; what they cost counts for the budget."""
    if models.budget is not None:
        paid = sum(_paid(path) for path in sorted(folder.glob("*.jsonl")))
        if paid:
            models.budget.spend(paid)
    return Cassettes(folder, "new_episodes", root=folder)


def _paid(path: Path) -> float:
    """Return the cost of the replies in a file."""
    return fsum(_cost(record_of(path, line)) for line in read(path).values())


def _cost(record: Mapping[str, Any]) -> float:
    cost = record["response"].get("cost_usd")
    return float(cost) if isinstance(cost, int | float) else 0.0


def _access(models: Models, loop: LoopThread, folder: Path) -> ModelAccess:
    def client(name: str) -> Client:
        return models.named("rag_llm", _located(name, folder))

    def replays(name: str, messages: Sequence[Message]) -> bool:
        return not is_script(name) and client(name).replays(messages)

    return ModelAccess(client, loop.run, models.setting("rag_llm").params, replays)


def _located(name: str, folder: Path) -> str:
    """Return the name of a model; a script beside the plan with its absolute path."""
    path = folder / name.removeprefix(SCRIPT).strip()
    return f"{SCRIPT}{path.absolute()}" if name.startswith(SCRIPT) and path.is_file() else name
