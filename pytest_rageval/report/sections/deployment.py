"""The section on the cost of retrieval: time, memory and disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.analysis.deployment import RECALL, Stage, retrieval_stage_of_each, settings_of
from pytest_rageval.model.facts import RETRIEVE, Facts, retriever_of
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["DEPLOYMENT", "Deployment"]

RETRIEVERS = "retrievers - times in seconds; memory and disk of the index"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The cost of retrieval in a run.

    Attributes:
        retrievers: the facts that each retriever reports, such as the size of its index.
        stages: the times of each stage of each system.
        queries: name of a retriever -> the times of its queries.
    """

    retrievers: list[Facts]
    stages: list[Stage]
    queries: dict[str, Stage]


def _compute(run: Run) -> list[Deployment]:
    """Return one row; none if no system retrieved and no retriever reported facts."""
    stages, queries = run.times()
    known = run.retrievers or any(stage.stage == RETRIEVE for stage in stages)
    return [Deployment(run.retrievers, stages, queries)] if known else []


def _tables(rows: Sequence[Deployment], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table of the retrievers that report facts, and one of the stages of systems that retrieve."""
    for each in rows:
        if each.retrievers:
            columns = [list(row) for row in zip(*_retriever_rows(each.retrievers, each.queries), strict=True)]
            yield Table(RETRIEVERS, columns)  # one column per retriever
        retrieving = {stage.name for stage in each.stages if stage.stage == RETRIEVE}
        stages = [stage for stage in each.stages if stage.name in retrieving]
        if stages:
            systems, kinds = [stage.name for stage in stages], [stage.stage for stage in stages]
            columns = [["system", *systems], ["stage", *kinds], *_quantiles(stages)]
            yield Table("stages - seconds of an answer", columns)


def _names(retrievers: list[Facts]) -> list[str]:
    """Return the names of retrievers, with the settings that differ for retrievers of the same name."""
    names = [retriever_of(facts) for facts in retrievers]
    labels = []
    for name, facts in zip(names, retrievers, strict=True):
        others = [other for other, other_name in zip(retrievers, names, strict=True) if other_name == name]
        settings = settings_of(facts).items()
        distinct = [f"{key}={value}" for key, value in settings if any(other.get(key) != value for other in others)]
        labels.append(f"{name} ({', '.join(distinct)})" if distinct else name)
    return labels


def _retriever_rows(retrievers: list[Facts], queries: dict[str, Stage]) -> list[list[str]]:
    """Return the rows of the table; the first one has the names of the retrievers."""
    recalls = sorted({key for facts in retrievers for key in facts if key.startswith(RECALL)})
    return [
        ["retriever", *_names(retrievers)],
        ["passages", *(_count(facts.get("passages")) for facts in retrievers)],
        ["build", *(_seconds(facts.get("build_s")) for facts in retrievers)],
        ["load", *(_seconds(facts.get("load_s")) for facts in retrievers)],
        ["memory", *(_bytes(facts.get("resident_bytes")) for facts in retrievers)],
        ["disk", *(_bytes(facts.get("disk_bytes")) for facts in retrievers)],
        *([key, *(_share(facts.get(key)) for facts in retrievers)] for key in recalls),
        *_quantiles(retrieval_stage_of_each(retrievers, queries), "queries"),
    ]


def _quantiles(stages: list[Stage] | list[Stage | None], n: str = "n") -> list[list[str]]:
    """Return the columns of numbers and times; ``n`` is the head of the first one."""
    return [
        [n, *(ABSENT if stage is None else f"{stage.n:,}" for stage in stages)],
        ["p50", *(ABSENT if stage is None else _seconds(stage.p50_s) for stage in stages)],
        ["p95", *(ABSENT if stage is None else _seconds(stage.p95_s) for stage in stages)],
    ]


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ABSENT


def _share(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else ABSENT


def _seconds(value: object) -> str:
    """Return ``0.00012``: two significant digits, and at most five decimals."""
    if not isinstance(value, int | float):
        return ABSENT
    return f"{value:.2f}" if value >= 0.1 else f"{value:.5f}".rstrip("0").rstrip(".") or "0"


def _bytes(value: object) -> str:
    """Return ``1.2 MB``, in powers of 1,000."""
    if not isinstance(value, int | float):
        return ABSENT
    size = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _encode(rows: Sequence[Deployment]) -> dict[str, Any]:
    (each,) = rows
    return {
        "retrievers": [
            {"name": retriever_of(facts), "facts": dict(facts), "queries": _encode_times(times)}
            for facts, times in zip(
                each.retrievers, retrieval_stage_of_each(each.retrievers, each.queries), strict=True
            )
        ],
        "stages": [
            {"system": stage.name, "stage": stage.stage, "seconds": _encode_times(stage)} for stage in each.stages
        ],
    }


def _encode_times(stage: Stage | None) -> dict[str, Any] | None:
    return None if stage is None else {"n": stage.n, "p50_s": stage.p50_s, "p95_s": stage.p95_s}


def _decode(plain: Mapping[str, Any]) -> list[Deployment]:
    retrievers = [each["facts"] for each in plain["retrievers"]]
    stages = [Stage(each["system"], each["stage"], **each["seconds"]) for each in plain["stages"]]
    queries = [(each["name"], each["queries"]) for each in plain["retrievers"] if each["queries"] is not None]
    return [Deployment(retrievers, stages, {name: Stage(name, RETRIEVE, **seconds) for name, seconds in queries})]


DEPLOYMENT = Section(
    "deployment",
    Deployment,
    _compute,
    _tables,
    encode=_encode,
    decode=_decode,
    in_markdown=False,
    on_page=False,
    top_level=True,
)
