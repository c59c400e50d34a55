"""Collect what the processes of a session saw of the calls of users' systems."""

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

__all__ = ["note_unsighted", "send_sightings", "sent_by", "sightings_of"]

_SENT = "rag_sightings"


def sightings_of(config: pytest.Config) -> SeenCalls:
    """Return what this process saw; nothing if it collected no case."""
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


def send_sightings(config: pytest.Config) -> None:
    """Put what a worker saw into its output."""
    config.workeroutput[_SENT] = asdict(sightings_of(config))  # type: ignore[attr-defined]


def sent_by(output: Mapping[str, Any]) -> SeenCalls:
    """Return what a worker saw."""
    return SeenCalls(**output.get(_SENT, {}))


def note_unsighted(run: Run, sightings: SeenCalls, options: Options, config: pytest.Config) -> bool:
    """Warn if no call of the user's systems was seen; return whether the session must fail for it.

    A record mode of the ini may be meant for judges alone; that of the command line is meant for this run.
    """
    mode = options.record_mode if sightings.setting or config.option.rag_record_mode else None
    limits = CallLimits(mode, budget=options.budget_usd is not None, partial=options.budget_partial)
    direct = run.plan.unseen.direct
    note, fails = unseen_systems_warning(direct, sightings, run.ordered(), limits)
    run.plan.notes += (note,) if note else ()
    silent = {} if sightings.requests else {name: shown for name, shown in direct.items() if name not in sightings.seen}
    run.plan.unseen = replace(run.plan.unseen, direct=silent)  # the calls of the others are counted
    return fails
