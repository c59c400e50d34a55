"""Merge the shards of a session into the run that one machine would have produced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from pytest_rageval.errors import SettingError
from pytest_rageval.report.run.plan import DIGEST, SHARED_IDENTITY, Plan, Shard, UnseenSystems
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.unseen_calls import note_unseen

__all__ = ["NO_TESTS", "Part", "merge_parts"]

OF_THE_MACHINE = ("python", "pytest", "pytest-xdist")
"""Versions that may differ between shards, because they decide no score."""

NO_TESTS, SOME_FAILED = 5, 1  # of pytest's exit statuses


class Part(NamedTuple):
    """One shard and its run.

    Attributes:
        name: its name in messages, such as its file.
        results: the content of its results.json.
        run: the run, read from ``results``.
    """

    name: str
    results: Mapping[str, Any]
    run: Run


def merge_parts(parts: Sequence[Part]) -> Run:
    """Return the whole run, with weighed judges, evaluated gates and the exit status that pytest would have.

    Raises:
        SettingError: a part is not a shard, a shard is missing or duplicate, or they belong to different sessions.
    """
    shards = _check_shards(parts)
    parts = sorted(parts, key=lambda part: shards[part.name].number)
    runs = [part.run for part in parts]
    whole = Run(min(run.started for run in runs), _plan(parts), interrupted=any(run.interrupted for run in runs))
    for part in parts:
        run = part.run
        for nodeid in run.outcomes.keys() & whole.outcomes.keys():
            raise SettingError(
                f"{part.name} holds the case {nodeid}, which another shard has too; merge each case once", code="RAG503"
            )
        whole.outcomes |= run.outcomes
        whole.records.update(run.records)
        whole.instances.update(run.instances)
        whole.versions = run.versions | whole.versions
        whole.unclaimed += run.unclaimed
        whole.take_retrievers(run.retrievers)
    whole.texts = all(run.texts for run in runs)
    whole.failed = tuple(sorted({nodeid for run in runs for nodeid in run.failed}))
    whole.baseline, whole.settings = runs[0].baseline, runs[0].settings
    note_unseen(whole.plan, whole.ordered(), budget=any(run.plan.unseen.budget for run in runs))
    whole.weigh_judges()
    whole.compare_variants()
    gates = whole.evaluate_gates()
    statuses = [run.exitstatus for run in runs if run.exitstatus != NO_TESTS] or [NO_TESTS]
    whole.exitstatus = max(*statuses, SOME_FAILED if any(gate.result.status == "failed" for gate in gates) else 0)
    return whole


def _plan(parts: Sequence[Part]) -> Plan:
    """Return the plan of all shards, with the cases in data order, without notes that count a shard's answers."""
    plans = [part.run.plan for part in parts]
    placed = [
        (place is None, place or 0, nodeid, planned)
        for plan in plans
        for (nodeid, planned), place in zip(plan.cases.items(), plan.shard.places if plan.shard else (), strict=True)
    ]
    return replace(
        plans[0],
        cases={nodeid: planned for _, _, nodeid, planned in sorted(placed)},
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes if note not in plan.unseen.notes)),
        unseen=UnseenSystems({system: shown for plan in plans for system, shown in plan.unseen.systems.items()}),
        shard=None,
    )


def _check_shards(parts: Sequence[Part]) -> dict[str, Shard]:
    """Return name -> shard; raise unless the parts are all shards of one session, each once."""
    shards: dict[str, Shard] = {}
    for part in parts:
        if part.run.plan.shard is None:
            raise SettingError(f"{part.name} is of no shard; give the results of runs with --rag-shard", code="RAG503")
        if part.name in shards:
            raise SettingError(f"{part.name} is named twice; name each shard once", code="RAG503")
        shards[part.name] = part.run.plan.shard
    for one, other in pairwise(parts):
        for what, value, its in _to_agree(one, other):
            if value != its:
                raise SettingError(
                    f"{one.name} and {other.name} differ in {what}; merge the shards of one run", code="RAG503"
                )
    of = next(iter(shards.values())).of
    holders: dict[int, str] = {}
    for name, shard in shards.items():
        if shard.number in holders:
            raise SettingError(
                f"{holders[shard.number]} and {name} are both {shard}; merge each shard once", code="RAG503"
            )
        holders[shard.number] = name
    missing = [str(number) for number in range(1, of + 1) if number not in holders]
    if missing:
        names = ", ".join(f"{name} is {shard}" for name, shard in shards.items())
        raise SettingError(
            f"the results of shard {', '.join(missing)} are missing, as {names}; give those of all", code="RAG503"
        )
    return shards


def _to_agree(one: Part, other: Part) -> Iterator[tuple[str, object, object]]:
    """Yield (description, value of one, value of the other) for each setting that shards must share."""
    versions, its = one.run.versions, other.run.versions
    for name in sorted(versions.keys() & its.keys()):
        if name not in OF_THE_MACHINE:
            yield f"the version of {name} ({versions[name]}, {its[name]})", versions[name], its[name]
    for kind in SHARED_IDENTITY:
        mine, theirs = one.run.plan.identity.get(kind, {}), other.run.plan.identity.get(kind, {})
        for name in sorted({*mine, *theirs}):
            here, there = mine.get(name, ""), theirs.get(name, "")
            private = here.startswith(DIGEST) or there.startswith(DIGEST)
            yield name if private else f"{name} ({here or 'not given'}, {there or 'not given'})", here, there
    for what, read in _COMMON.items():
        yield what, read(one), read(other)


def _policy(plan: Plan) -> tuple[object, ...]:
    return plan.alpha, plan.alpha_per, plan.inconclusive


_COMMON: dict[str, Callable[[Part], object]] = {
    "the number of shards": lambda part: part.results["run"]["shard"]["of"],
    "the data or the settings that cases are made with": lambda part: part.results["run"]["fingerprint"],
    "the cases that were selected, the systems or the repeats": lambda part: part.results["plan"]["dealt"]["selection"],
    "their testbeds or gates": lambda part: (part.run.plan.testbeds, part.run.plan.session_gates),
    "the metrics of their gates": lambda part: part.run.plan.metrics,
    "the selected part of the project": lambda part: (part.run.plan.unselected, part.run.plan.unmatched_gates),
    "rag_alpha, rag_alpha_per or rag_inconclusive": lambda part: _policy(part.run.plan),
    "rag_partial_gates": lambda part: part.run.plan.partial_gates,
    "rag_min_compared": lambda part: part.run.plan.min_compared,
    "the matrix that was asked for": lambda part: part.results["plan"]["view"],
    "rag_judge_min_kappa": lambda part: part.run.plan.least_kappas,
    "rag_judge_max_bias": lambda part: part.run.plan.max_bias,
    "rag_judge_labels": lambda part: part.run.plan.labels,
    "the baseline": lambda part: part.results.get("baseline"),
}
"""Further facts that shards must share: description -> how to read it."""
