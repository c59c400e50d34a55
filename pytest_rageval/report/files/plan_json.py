"""Encode and decode the plan of a run for results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from pytest_rageval.analysis.decisions.selected_part import SelectedPart
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.bias import MAX_BIAS
from pytest_rageval.analysis.people.labelled_answers import stand_in
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.report.run.plan import SHARED_IDENTITY, Plan, Shard, TestbedPlan, UnseenSystems
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["decode_plan", "decode_plan_without_cases", "encode_plan", "encode_testbed"]


def encode_testbed(testbed: TestbedPlan) -> dict[str, Any]:
    """Encode a testbed without its node id, which is its key in results.json."""
    return encoder(TestbedPlan)(testbed)


def encode_plan(run: Run, choice: MatrixChoice) -> dict[str, Any]:
    """Encode the plan of a run; a shard's plan also has what `merge_shards` needs."""
    plan = run.plan
    return {
        "metrics": {name: encoder(MetricInfo)(info) for name, info in plan.metrics.items()},
        "session_gates": list(plan.session_gates),
        "unmatched_gates": list(plan.unmatched_gates),
        "unselected": plan.unselected,
        "unfinished": {node: planned[1] for node, planned in plan.cases.items() if node not in run.outcomes},
        "notes": list(plan.notes),
        "view": encoder(MatrixChoice)(choice),
        "part": plan.part,
        "narrowed": plan.narrowed,
        "alpha": plan.alpha,
        "inconclusive": plan.inconclusive,
        "alpha_per": plan.alpha_per,
        "updates": plan.updates,
        **({} if plan.min_compared is None else {"min_compared": plan.min_compared}),
        "partial_gates": plan.partial_gates,
        **(
            {"partial": {node: encoder(SelectedPart)(part) for node, part in plan.partial.items()}}
            if plan.partial
            else {}
        ),
        **({"deselected": list(deselected)} if (deselected := run.deselected()) else {}),
        **({"default_system": plan.default_system} if plan.default_system else {}),
    } | ({} if plan.shard is None else {"dealt": _encode_dealt(run, plan.shard)})


def decode_plan(results: Mapping[str, Any]) -> Plan:
    """Decode the plan of a results.json; cases have only the data that reports need.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: ``results`` does not have the shape of the schema.
    """
    ended = {each["nodeid"]: (each["case_id"], each["testbed"], each["system"], 0) for each in results["outcomes"]}
    unfinished = {nodeid: ("", testbed, "", 0) for nodeid, testbed in results["plan"]["unfinished"].items()}
    return replace(decode_plan_without_cases(results), cases=ended | unfinished, shard=_decode_shard(results))


def decode_plan_without_cases(results: Mapping[str, Any]) -> Plan:
    """Decode the plan of a results.json without its cases and its shard.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: ``results`` does not have the shape of the schema.
    """
    plain = results["plan"]
    if not all(isinstance(note, str) for note in plain["notes"]):
        raise TypeError("a note is not a text")
    testbed_of, info_of = decoder(TestbedPlan), decoder(MetricInfo)
    return Plan(
        testbeds={nodeid: testbed_of(testbed, nodeid) for nodeid, testbed in results["testbeds"].items()},
        metrics={name: info_of(info) for name, info in plain["metrics"].items()},
        session_gates=tuple(plain["session_gates"]),
        unmatched_gates=tuple(plain["unmatched_gates"]),
        fingerprint=results["run"]["fingerprint"],
        notes=tuple(plain["notes"]),
        unselected=plain["unselected"],
        part=plain.get("part", ""),
        narrowed=plain.get("narrowed", False),
        alpha=plain.get("alpha", 0.05),
        inconclusive=plain.get("inconclusive", "warn"),
        alpha_per=plain.get("alpha_per", "gate"),
        updates=plain.get("updates", False),
        min_compared=plain.get("min_compared"),
        deselected=tuple(plain.get("deselected", ())),
        partial={node: decoder(SelectedPart)(part) for node, part in plain.get("partial", {}).items()},
        partial_gates=plain.get("partial_gates", "decide"),
        labels=tuple(decoder(Label)(label) for label in plain.get("dealt", {}).get("labels", ())),
        least_kappas=plain.get("dealt", {}).get("least_kappas", {}),
        max_bias=plain.get("dealt", {}).get("max_bias", MAX_BIAS),
        identity=plain.get("dealt", {}).get("identity", {}),
        unseen=decoder(UnseenSystems)(plain.get("dealt", {}).get("unseen", {})),
        default_system=plain.get("default_system", ""),
    )


def _encode_dealt(run: Run, shard: Shard) -> dict[str, Any]:
    """Encode the data that `merge_shards` needs in addition to a shard's outcomes."""
    plan = run.plan
    places = dict(zip(plan.cases, shard.places, strict=True))
    nodes = [*(outcome.nodeid for outcome in run.ordered()), *(node for node in plan.cases if node not in run.outcomes)]
    dealt: dict[str, Any] = {
        "cases": shard.cases,
        "selection": shard.selection,
        "places": [places.get(node) for node in nodes],
        "identity": {kind: dict(plan.identity.get(kind, {})) for kind in SHARED_IDENTITY},
    }
    if plan.unseen.systems:
        unseen = plan.unseen
        dealt["unseen"] = {"systems": unseen.systems, "budget": unseen.budget, "notes": list(unseen.notes)}
    if not plan.labels and not plan.least_kappas:
        return dealt
    labels = [encoder(Label)(label) | {"where": PurePath(label.where).name} for label in plan.labels]
    if not run.texts:
        labels = [label | {"text": "", "answer": label["answer"] and stand_in(label["answer"])} for label in labels]
        answers = [outcome.answer and stand_in(outcome.answer.text) for outcome in run.ordered()]
        dealt = dealt | {"answers": answers}
    return dealt | {"labels": labels, "least_kappas": dict(plan.least_kappas), "max_bias": plan.max_bias}


def _decode_shard(results: Mapping[str, Any]) -> Shard | None:
    if "shard" not in results["run"]:
        return None
    shard, dealt = results["run"]["shard"], results["plan"]["dealt"]
    if len(dealt["places"]) != len(results["outcomes"]) + len(results["plan"]["unfinished"]):
        raise ValueError("places must have one entry for each outcome and each unfinished case")
    return Shard(shard["number"], shard["of"], dealt["cases"], dealt["selection"], tuple(dealt["places"]))
