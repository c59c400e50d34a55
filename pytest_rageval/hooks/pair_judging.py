"""Ask a project's judge which of two answers is better, for `rageval analyze preferences`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_rageval.engine.pair_judging import JudgedPair, PairOfAnswers, judged_pairs
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.folders import make_ignored
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.config.model_clients import ASYNC_DEFAULT, Models
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.project import in_project
from pytest_rageval.judges.panel import Panel
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.llm.client.journal import Journal
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.calls import Calls
from pytest_rageval.report.files.journals import journal_path, journal_paths
from pytest_rageval.report.files.paid_calls import paid_by_run
from pytest_rageval.testbeds.ids import safe

__all__ = ["PairVerdicts", "judge_pairs"]

JUDGE = "rag_judge"
"""The fixture of the session's judge, and its name in a panel."""


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """The verdicts of a judge, and the calls that it made.

    Attributes:
        judge: the name of the judge.
        models: the models that judged.
        pairs: the pairs with their verdicts.
        calls: the model calls of this command.
        notes: warnings about recordings.
    """

    judge: str
    models: tuple[str, ...]
    pairs: tuple[JudgedPair, ...]
    calls: Calls
    notes: tuple[str, ...]


def judge_pairs(judge: str, pairs: Sequence[PairOfAnswers], options: Sequence[str]) -> PairVerdicts:
    """Ask a judge of the project about pairs of answers.

    Until all pairs are judged, replies are stored under ``.rageval/preferences``. If the command is interrupted, the
    next one reuses them.

    Args:
        judge: the name of a judge of pairs.
        pairs: the pairs.
        options: options of pytest, such as ``--rag-judge-model``.

    Raises:
        RagEvalError: the judge is unknown, no model is named, or pytest cannot start here.
    """
    return in_project(lambda config: _ask(config, judge, pairs), options)


def _ask(config: pytest.Config, name: str, pairs: Sequence[PairOfAnswers]) -> PairVerdicts:
    catalog, options = config.stash[CATALOG], Options(config)
    judge = catalog.pair_judges.get(name, "--judge") if name not in catalog.metrics else _refuse(name)
    panel = _panel(judge, options)
    default = options.judge.name
    models = tuple(default if model == JUDGE else model for model in panel.models)
    names = tuple(model for model in models if model is not None)
    if len(names) < len(models):
        raise SettingError(
            "no model is named to judge; name one with --judge-model, or with rag_judge_model in the ini"
        )
    folder, meter = config.rootpath / ".rageval" / "preferences" / safe(name), Meter()
    with tempfile.TemporaryDirectory() as shared:
        clients = Models(options, None, Path(shared) / "budget")
        clients.scripts.check([(JUDGE, model) for model in names])
        make_ignored(config.rootpath / ".rageval")
        folder.mkdir(parents=True, exist_ok=True)
        n_journals = len(journal_paths(folder))
        earlier = EarlierCalls(paid_by_run(folder, ()).rows)
        journal = Journal(journal_path(folder, str(n_journals + 1)), earlier, texts=options.texts)

        async def ask_all() -> list[JudgedPair]:
            voters = {model: clients.named(JUDGE, each) for model, each in zip(panel.models, names, strict=True)}
            at_once = options.concurrency or ASYNC_DEFAULT
            try:
                return await judged_pairs(
                    pairs,
                    judge,
                    panel,
                    voters,
                    at_once=at_once,
                    meter=meter,
                    journal=journal,
                    done=_counter(len(pairs)),
                )
            finally:
                await clients.close()

        try:
            verdicts = asyncio.run(ask_all())
        finally:
            journal.close()
    if all(each.value is not None for each in verdicts):
        for path in journal_paths(folder):
            path.unlink()
    notes = [*clients.close_recordings(), *([journal.fault] if journal.fault else [])]
    return PairVerdicts(name, tuple(dict.fromkeys(names)), tuple(verdicts), meter.calls, tuple(notes))


def _refuse(name: str) -> NoReturn:
    raise SettingError(f"--judge {short_repr(name)} judges single answers; name a PromptedJudge(..., pair=True)")


def _panel(judge: PromptedJudge, options: Options) -> Panel:
    panel = options.panels.get(judge.name, Panel((JUDGE,)))
    if panel.swapped:
        raise SettingError(f"rag_judges: {judge.name} is asked in both orders anyway; remove 'swapped'")
    if panel.remote_models != panel.models:
        raise SettingError(f"rag_judges: {judge.name} compares two answers, and a local judge reads one; name a model")
    return replace(panel, rule=panel.rule or "majority")


def _counter(total: int) -> Callable[[], None]:
    """Return the function that counts judged pairs on a terminal's stderr."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{f'rag: judged {done:,} of {total:,} pairs' if done < total else ''}")
            sys.stderr.flush()

    return count
