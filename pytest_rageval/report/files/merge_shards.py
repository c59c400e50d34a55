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

__all__ = ["NO_TESTS", "NamedRun", "merge_shards"]

MACHINE_VERSIONS = ("python", "pytest", "pytest-xdist")
"""Versions that may differ between shards, because they decide no score."""

NO_TESTS, SOME_FAILED = 5, 1
"""Two of pytest's exit statuses."""


class NamedRun(NamedTuple):
    """A run with the name that messages use for it.

    Attributes:
        name: the name in messages, such as the path of its file.
        results: the content of its results.json.
        run: the run, read from ``results``.
    """

    name: str
    results: Mapping[str, Any]
    run: Run


def merge_shards(parts: Sequence[NamedRun]) -> Run:
    """Merge shards to one run with weighed judges, evaluated gates and the exit status that pytest would have.

    Raises:
        SettingError: a run is not a shard, a shard is missing or duplicate, or they belong to different sessions.
    """
    shards = _check_shards(parts)
    parts = sorted(parts, key=lambda part: shards[part.name].number)
    runs = [part.run for part in parts]
    merged = Run(min(run.started for run in runs), _plan(parts), interrupted=any(run.interrupted for run in runs))
    for part in parts:
        run = part.run
        for nodeid in run.outcomes.keys() & merged.outcomes.keys():
            raise SettingError(
                f"{part.name} holds the case {nodeid}, which another shard has too; merge each case once", code="RAG503"
            )
        merged.outcomes |= run.outcomes
        merged.records.update(run.records)
        merged.instances.update(run.instances)
        merged.versions = run.versions | merged.versions
        merged.unclaimed += run.unclaimed
        merged.take_retrievers(run.retrievers)
    merged.texts = all(run.texts for run in runs)
    merged.failed = tuple(sorted({nodeid for run in runs for nodeid in run.failed}))
    merged.baseline, merged.settings = runs[0].baseline, runs[0].settings
    note_unseen(merged.plan, merged.ordered(), budget=any(run.plan.unseen.budget for run in runs))
    merged.weigh_judges()
    merged.compare_variants()
    gates = merged.evaluate_gates()
    statuses = [run.exitstatus for run in runs if run.exitstatus != NO_TESTS] or [NO_TESTS]
    merged.exitstatus = max(*statuses, SOME_FAILED if any(gate.result.status == "failed" for gate in gates) else 0)
    return merged


def _plan(parts: Sequence[NamedRun]) -> Plan:
    """Return the plan of all shards: cases in data order, without notes that count a single shard's answers."""
    plans = [part.run.plan for part in parts]
    cases_by_place = [
        (place is None, place or 0, nodeid, planned)
        for plan in plans
        for (nodeid, planned), place in zip(plan.cases.items(), plan.shard.places if plan.shard else (), strict=True)
    ]
    return replace(
        plans[0],
        cases={nodeid: planned for _, _, nodeid, planned in sorted(cases_by_place)},
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes if note not in plan.unseen.notes)),
        unseen=UnseenSystems({system: name for plan in plans for system, name in plan.unseen.systems.items()}),
        shard=None,
    )


def _check_shards(parts: Sequence[NamedRun]) -> dict[str, Shard]:
    """Return name -> shard; raise `SettingError` unless the runs are all shards of one session, each once."""
    shards: dict[str, Shard] = {}
    for part in parts:
        if part.run.plan.shard is None:
            raise SettingError(f"{part.name} is not a shard; name the results of runs with --rag-shard", code="RAG503")
        if part.name in shards:
            raise SettingError(f"{part.name} is named twice; name each shard once", code="RAG503")
        shards[part.name] = part.run.plan.shard
    for one, other in pairwise(parts):
        for description, value, other_value in _shared_values(one, other):
            if value != other_value:
                raise SettingError(
                    f"{one.name} and {other.name} differ in {description}; merge the shards of one run", code="RAG503"
                )
    n_shards = next(iter(shards.values())).of
    names_by_number: dict[int, str] = {}
    for name, shard in shards.items():
        if shard.number in names_by_number:
            raise SettingError(
                f"{names_by_number[shard.number]} and {name} are both {shard}; merge each shard once", code="RAG503"
            )
        names_by_number[shard.number] = name
    missing = [str(number) for number in range(1, n_shards + 1) if number not in names_by_number]
    if missing:
        names = ", ".join(f"{name} is {shard}" for name, shard in shards.items())
        raise SettingError(
            f"the results of shard {', '.join(missing)} are missing ({names}); name all shards", code="RAG503"
        )
    return shards


def _shared_values(one: NamedRun, other: NamedRun) -> Iterator[tuple[str, object, object]]:
    """Yield (description, value of one, value of the other) for each value that shards must share."""
    versions, other_versions = one.run.versions, other.run.versions
    for name in sorted(versions.keys() & other_versions.keys()):
        if name not in MACHINE_VERSIONS:
            yield (
                f"the version of {name} ({versions[name]}, {other_versions[name]})",
                versions[name],
                other_versions[name],
            )
    for kind in SHARED_IDENTITY:
        values, other_values = one.run.plan.identity.get(kind, {}), other.run.plan.identity.get(kind, {})
        for name in sorted({*values, *other_values}):
            value, other_value = values.get(name, ""), other_values.get(name, "")
            private = value.startswith(DIGEST) or other_value.startswith(DIGEST)
            yield (
                name if private else f"{name} ({value or 'not given'}, {other_value or 'not given'})",
                value,
                other_value,
            )
    for description, read in _SHARED_READERS.items():
        yield description, read(one), read(other)


def _policy(plan: Plan) -> tuple[object, ...]:
    return plan.alpha, plan.alpha_per, plan.inconclusive


_SHARED_READERS: dict[str, Callable[[NamedRun], object]] = {
    "the number of shards": lambda part: part.results["run"]["shard"]["of"],
    "the data or the settings that cases are made with": lambda part: part.results["run"]["fingerprint"],
    "the cases that were selected, the systems or the repeats": lambda part: part.results["plan"]["dealt"]["selection"],
    "their testbeds or gates": lambda part: (part.run.plan.testbeds, part.run.plan.session_gates),
    "the metrics of their gates": lambda part: part.run.plan.metrics,
    "the selected part of the project": lambda part: (part.run.plan.unselected, part.run.plan.unmatched_gates),
    "rag_alpha, rag_alpha_per or rag_inconclusive": lambda part: _policy(part.run.plan),
    "rag_partial_gates": lambda part: part.run.plan.partial_gates,
    "rag_min_compared": lambda part: part.run.plan.min_compared,
    "the requested matrix": lambda part: part.results["plan"]["view"],
    "rag_judge_min_kappa": lambda part: part.run.plan.least_kappas,
    "rag_judge_max_bias": lambda part: part.run.plan.max_bias,
    "rag_judge_labels": lambda part: part.run.plan.labels,
    "the baseline": lambda part: part.results.get("baseline"),
}
"""Further values that shards must share: description -> function that reads the value."""
