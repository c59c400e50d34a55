"""Collect which calls of users' systems were seen, and warn if none was (`SeenCalls`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.report.run.seen_calls import CallLimits, SeenCalls, unseen_systems_warning

if TYPE_CHECKING:
    from pytest_rageval.hooks.config.options import Options
    from pytest_rageval.report.run.run import Run

__all__ = ["process_seen_calls", "send_seen_calls", "warn_if_unseen", "worker_seen_calls"]

_OUTPUT_KEY = "rag_seen_calls"
"""Key of the seen calls in a worker's output."""


def process_seen_calls(config: pytest.Config) -> SeenCalls:
    """Return which calls of systems this process saw; nothing if it collected no case."""
    collected = config.stash.get(COLLECTED, None)
    if collected is None or collected.runtime is None:
        return SeenCalls()
    answers: Counter[str] = Counter()
    for system in collected.runtime.systems:
        answers[system.name] += system.n_answers
    seen = tuple(dict.fromkeys(system.name for system in collected.runtime.systems if system.calls_seen))
    http = collected.models.http
    if http is None:
        return SeenCalls(answers=dict(answers), seen=seen)
    return SeenCalls(http.setting, http.recorder.n_requests, dict(http.recorder.unlisted_hosts), dict(answers), seen)


def send_seen_calls(config: pytest.Config) -> None:
    """Put the seen calls of a worker into its output, for the main process."""
    config.workeroutput[_OUTPUT_KEY] = asdict(process_seen_calls(config))  # type: ignore[attr-defined]


def worker_seen_calls(output: Mapping[str, Any]) -> SeenCalls:
    """Return the seen calls from a worker's output."""
    return SeenCalls(**output.get(_OUTPUT_KEY, {}))


def warn_if_unseen(run: Run, seen_calls: SeenCalls, options: Options, config: pytest.Config) -> bool:
    """Warn if no call of the user's systems was seen; return whether the session must fail for this reason.

    The record mode of the ini counts only if a setting makes HTTP requests visible: else it may be meant only for
    judges. The record mode of the command line always counts.

    Args:
        run: the run; receives the warning.
        seen_calls: what all processes saw.
        options: the options of the session.
        config: the configuration of pytest.
    """
    mode = options.record_mode if seen_calls.setting or config.option.rag_record_mode else None
    limits = CallLimits(mode, budget=options.budget_usd is not None, partial=options.budget_partial)
    direct = run.plan.unseen.direct
    note, fails = unseen_systems_warning(direct, seen_calls, run.ordered(), limits)
    run.plan.notes += (note,) if note else ()
    unseen = {name: shown for name, shown in direct.items() if name not in seen_calls.seen}
    run.plan.unseen = replace(
        run.plan.unseen, direct={} if seen_calls.requests else unseen
    )  # the calls of all other systems were counted
    return fails
