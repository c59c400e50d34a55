"""A small run for the tests of the reports: two testbeds, three topics, one error, one case that never ran."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Outcome, Score, Status
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
FINISHED = STARTED + timedelta(seconds=1.5)
NOISE, PLAIN = "test_a.py::test_noise", "test_a.py::test_plain"
MARK = "§"  # stands in every text


def plan() -> Plan:
    """Return a plan; the last case of the noise testbed never runs."""
    facets = [
        {"topic": "A", "task": "qa", "noise_rate": "0"},
        {"topic": "A", "task": "qa", "noise_rate": "0.4"},
        {"topic": "B", "task": "chat"},
    ]
    return Plan(
        testbeds={
            NOISE: TestbedPlan(
                NOISE,
                "test_noise",
                ("accuracy", "token_f1"),
                ("accuracy[topic=*] >= 0.9",),
                5,
                notes=("short pools",),
                settings={"dataset": "jsonl:noise.jsonl", "noise_rate": "[0.0, 0.4]"},
            ),
            PLAIN: TestbedPlan(PLAIN, "test_plain", ("token_f1",), (), 2, asserts=True),
        },
        cases={
            f"{NOISE}[q2]": ("q2", NOISE, "mine", 0),
            f"{NOISE}[q1]": ("q1", NOISE, "mine", 1),
            f"{NOISE}[late]": ("q1", NOISE, "mine", 0),
            f"{PLAIN}[q3]": ("q3", PLAIN, "mine", 2),
        },
        facets=facets,
        metrics={"accuracy": MetricInfo(binary=True), "token_f1": MetricInfo()},
        session_gates=("error_rate <= 50%", "token_f1 >= 0.1"),
        fingerprint="sha256:0",
        notes=("2 recorded answers are for no case",),
    )


def outcome(testbed: str, name: str, status: Status = "scored", **scores: Score) -> Outcome:
    """Return an outcome of the plan with an answer that has every part."""
    planned = plan()
    nodeid = f"{testbed}[{name}]"
    facets = planned.facets[planned.cases[nodeid][3]]
    answer = Answer(
        f"{MARK} answer",
        Ranking((ScoredPassage("p0", 1.0), ScoredPassage("x", None, f"{MARK} text", f"{MARK} title"))),
        False,
        (Step("search", {"query": f"{MARK} words", "k": 3}),),
        Usage(10, 5, 0.25, 0.5),
    )
    error = None if status == "scored" else f"{MARK} it broke"
    kind = None if status == "scored" else "system_error"
    return Outcome(nodeid, name, testbed, facets, "mine", status, answer, scores, ("p0",), error, kind)


def instance(name: str) -> Instance:
    """Return an instance with every kind of text."""
    passages = (Passage("p0", f"{MARK} evidence", f"{MARK} title", "positive"), Passage("n0", f"{MARK} noise"))
    gold, fake = ((f"{MARK} gold",),), ((f"{MARK} fake",),)
    return Instance(name, f"{MARK}?", gold, passages, fake, history=(Turn(f"{MARK} q", f"{MARK} a"),))


def take(run: Run, *outcomes: Outcome) -> Run:
    """Add outcomes to a run, encoded as they arrive from other processes."""
    for each in outcomes:
        run.take(encode_outcome(each), encode_instance(instance(each.case_id)))
    return run


def finished_run(*, texts: bool = True) -> Run:
    """Return a run with all but one case ended, in another order than planned."""
    return take(
        Run(STARTED, plan(), texts=texts),
        outcome(PLAIN, "q3", token_f1=Score(0.5)),
        outcome(NOISE, "q1", "error"),
        outcome(NOISE, "q2", accuracy=Score(1.0), token_f1=Score(reason="not_applicable")),
    )
