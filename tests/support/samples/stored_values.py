"""Values of every shape; `fixtures/stored` has them in the format of the first version with these shapes."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.evidence import EvidenceUnit
from pytest_rageval.model.outcome import Diagnosis, Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.verdict import Verdict, Vote

__all__ = ["BASELINE", "INSTANCES", "JOURNALED", "OUTCOMES"]

RANKING = Ranking(
    (ScoredPassage("d1#2", 1.5, "about 巴黎", "Paris", "d1"), ScoredPassage("d2"), ScoredPassage("d3", -1.0))
)
TRACE = (
    Step("retrieve", {"seconds": 0.25, "retriever": "bm25", "k": 3, "cached": True, "error": None}),
    Step("thought"),
)
PLAIN = Outcome(
    nodeid="test_a.py::test_a[q1]",
    case_id="q1",
    testbed="test_a.py::test_a",
    facets={"noise_rate": "0.4", "主题": "基金"},
    system="mine",
    status="scored",
    answer=Answer("Paris.", RANKING, False, TRACE, Usage(10, 2, 0.001, 0.2)),
    scores={"accuracy": Score(1.0), "rouge_l": Score(1 / 3), "faithfulness": Score(reason="judge_unavailable")},
    supplied=("p0", "n1"),
    calls=Calls(2, 1, 3, 10, None, 0.5, None),
    data="0123456789abcdef",
    said="fedcba9876543210",
    evidence=0.5,
)
VOTES = (
    Vote("one", Verdict("yes", "it says so", ("yes",))),
    Vote("two", Verdict(None, "", ("hm",), "parse_error: 'hm'"), 2, True),
)
JUDGE_SCORES = {
    "judged": Score(1.0, None, Verdict("yes", "it says so", ("yes?", "yes"), votes=VOTES)),
    "graded": Score(0.5, None, Verdict(3)),
    "silent": Score(None, "parse_error: 'hm'", Verdict(None, "", ("hm",), "parse_error: 'hm'")),
    "other": Score(None, "not_applicable", Verdict(None, problem="judge_unavailable")),
    "ruled": Score(1.0, None, Verdict("right", by="rule")),
    "withheld": Score(None, "judge_not_trusted", Verdict("no"), 0.25),
    "bare": Score(None, "judge_not_trusted", None, 0.75),
}
OUTCOMES = (
    PLAIN,
    replace(PLAIN, nodeid="test_a.py::test_a[q2]", case_id="q2", answer=Answer(""), scores=JUDGE_SCORES, calls=None),
    Outcome("t[q3]", "q3", "t", {}, "mine", "error", error="ValueError: 基\n at x", error_type="system_error"),
    Outcome("t[q4]", "q4", "t", {}, "mine", "skipped", error="no budget is left", error_type="skipped"),
    replace(
        PLAIN,
        nodeid="test_a.py::test_a[q5]",
        case_id="q5",
        answer=Answer("so", Ranking(), True, (), Usage()),
        calls=Calls(),
        evidence=None,
        answer_seen=0.25,
        history=(Turn("Who?", "Her."), Turn("When?", "")),
    ),
    replace(PLAIN, diagnosis=Diagnosis("TE", False, "no", "step_limit", "4 of 5 tool calls failed: Search")),
)
INSTANCES = {
    "q1": Instance(
        "q1",
        "Which?",
        (("Paris", "the capital"), ("1889",)),
        (Passage("p0", "about Paris", "Paris", "positive", page="d1"), Passage("n0", "noise", role="negative")),
        (("Lyon",),),
        {"d1#2": 2, "d2": 0},
        (Turn("Who?", "Her."),),
        facets={"topic": "A"},
        origin="cases.jsonl:3",
        provenance=(("d1",), ("d2", "d3")),
        evidence=(
            (EvidenceUnit("d1", "the capital"), EvidenceUnit("d2", span=(3, 9), grade=2)),
            (EvidenceUnit("d1", "x"),),
        ),
    ),
    "q2": Instance("q2", "?", passages=()),
}
JOURNALED = replace(
    PLAIN.answer or Answer(""),
    ranking=Ranking((ScoredPassage("d1#2", 1.5, "about Paris", span=(3, 14)), ScoredPassage("d2"))),
    generated=False,
)
BASELINE = Snapshot(
    run="20260102T030405",
    started="2026-01-02T03:04:05+00:00",
    fingerprint="f",
    versions={"python": "3.11.7"},
    metrics={"accuracy": MetricInfo(binary=True), "judged": MetricInfo(judge="judged", higher_is_better=False)},
    testbeds={
        "test_a.py::test_a": MeasuredTestbed("test_a", ("accuracy",)),
        "test_a.py::test_b": MeasuredTestbed("test_b", ("judged", "accuracy"), "document"),
    },
    cases=(
        Measured(
            "test_a.py::test_a", "q1", "mine", {"noise_rate": "0.4"}, "0123456789abcdef", ("fedcba9876543210",), 0.5,
            {"accuracy": 1.0, "judged": 0.333333},
        ),
        Measured(
            "test_a.py::test_b", "q2", "mine", {}, "", (), None, {}, failed=True, answer_seen=0.25, cluster="document"
        ),
    ),
    path="baseline.json",
    passages={"d1": "0123456789abcdef"},
)  # fmt: skip
