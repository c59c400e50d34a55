from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from support.samples.run_samples import NOISE, plan

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan

TEXTS = st.text(max_size=10)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
testbeds = st.builds(TestbedPlan, TEXTS, TEXTS, st.lists(TEXTS, min_size=1, max_size=3).map(tuple), LISTS,
                     st.integers(0, 10**6), st.booleans(), LISTS)  # fmt: skip
plans = st.builds(
    Plan,
    testbeds=st.lists(testbeds, max_size=3).map(lambda each: {testbed.nodeid: testbed for testbed in each}),
    cases=st.dictionaries(TEXTS, st.tuples(TEXTS, TEXTS, TEXTS, st.integers(0, 9)), max_size=4),
    facets=st.lists(st.dictionaries(TEXTS, TEXTS, max_size=3), max_size=3),
    metrics=st.dictionaries(TEXTS, st.builds(MetricInfo, st.booleans(), st.booleans()), max_size=3),
    session_gates=LISTS,
    fingerprint=TEXTS,
    notes=LISTS,
)


@given(plans)
def test_a_plan_round_trips(plan: Plan) -> None:
    text = plan.dumps()
    assert Plan.loads(text) == plan
    assert Plan.loads(text).dumps() == text


def test_a_full_plan_keeps_its_order_and_types() -> None:
    full_plan = plan()
    decoded = Plan.loads(full_plan.dumps())
    assert decoded == full_plan
    assert list(decoded.cases) == list(full_plan.cases)
    assert list(decoded.testbeds) == list(full_plan.testbeds)
    testbed = decoded.testbeds[NOISE]
    assert (testbed.gates, testbed.notes, testbed.metrics) == (
        ("accuracy[topic=*] >= 0.9",), ("short pools",), ("accuracy", "token_f1"),
    )  # fmt: skip
    assert type(decoded.cases[f"{NOISE}[q1]"]) is tuple


def test_a_plan_is_sent_between_processes_as_ascii() -> None:
    text = Plan(notes=("基金 \ud83d",)).dumps()
    assert text.isascii()
    assert json.loads(text)["notes"] == [
        "基金 \\ud83d"
    ]  # characters that UTF-8 cannot encode are escaped, as in reports


def test_the_first_metric_is_the_primary_one() -> None:
    assert plan().testbeds[NOISE].primary == "accuracy"


def test_a_planned_case_of_a_crashed_worker_is_an_error() -> None:
    assert plan().crash_outcome(f"{NOISE}[q1]", "worker 'gw1' crashed") == Outcome(
        f"{NOISE}[q1]",
        "q1",
        NOISE,
        {"topic": "A", "task": "qa", "noise_rate": "0.4"},
        "mine",
        "error",
        error="worker 'gw1' crashed",
        error_type="worker_crashed",
    )
    assert plan().crash_outcome("test_a.py::test_other", "worker 'gw1' crashed") is None
