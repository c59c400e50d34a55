"""Let `rageval generate` call models with the clients, recordings and retries of a test session."""

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
"""Folder of stored replies in the output folder, used if the project records none; a later command reuses them."""


def with_models(
    budget_usd: float | None, folder: Path, out: Path | None, warnings: list[str], work: Callable[[ModelAccess], T]
) -> T:
    """Call ``work`` with access to the models of a plan; return its result.

    Calls have the parameters of ``rag_model_params``. If the project sets no ``rag_record_mode``, each reply is stored
    in ``out`` before it is used. After a crash, the same command therefore sends no request twice.

    Args:
        budget_usd: the maximum cost of all calls, in US dollars; None if the plan sets no limit.
        folder: the folder of the plan; scripts are also searched there.
        out: the output folder; None stores no replies.
        warnings: a list to which warnings about recordings are added.
        work: the function that calls models.

    Raises:
        RagEvalError: the project's settings are invalid, or ``work`` failed.
    """

    def run(config: pytest.Config) -> T:
        if budget_usd is not None:
            config.option.rag_budget_usd = budget_usd
        with _open_session(collected_of(config), out, warnings) as (collected, loop):
            return work(_model_access(collected.models, loop, folder))

    return in_project(run)


@contextmanager
def _open_session(
    collected: Collected, out: Path | None, warnings: list[str]
) -> Iterator[tuple[Collected, LoopThread]]:
    """Yield the collected state and the event loop of all calls; at the end, close connections and recordings."""
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
    """Return the recordings of earlier commands; their cost counts towards the budget."""
    if models.budget is not None:
        cost = sum(_cost_of_file(path) for path in sorted(folder.glob("*.jsonl")))
        if cost:
            models.budget.spend(cost)
    return Cassettes(folder, "new_episodes", root=folder)


def _cost_of_file(path: Path) -> float:
    """Return the cost of all replies in a file, in US dollars."""
    return fsum(_cost_of_record(record_of(path, line)) for line in read(path).values())


def _cost_of_record(record: Mapping[str, Any]) -> float:
    cost = record["response"].get("cost_usd")
    return float(cost) if isinstance(cost, int | float) else 0.0


def _model_access(models: Models, loop: LoopThread, folder: Path) -> ModelAccess:
    def client(name: str) -> Client:
        return models.named("rag_llm", _with_script_path(name, folder))

    def replays(name: str, messages: Sequence[Message]) -> bool:
        return not is_script(name) and client(name).replays(messages)

    return ModelAccess(client, loop.run, models.setting("rag_llm").params, replays)


def _with_script_path(name: str, folder: Path) -> str:
    """Return a model's name; if it names a script next to the plan, with the script's absolute path."""
    path = folder / name.removeprefix(SCRIPT).strip()
    return f"{SCRIPT}{path.absolute()}" if name.startswith(SCRIPT) and path.is_file() else name
