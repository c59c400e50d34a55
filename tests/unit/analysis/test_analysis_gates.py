"""Parsing and checking of gate expressions."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.analysis.gates import PSEUDO_METRICS, SHAPE, Gate, check_gate, parse_gate
from pytest_rageval.errors import GateSyntaxError, UnknownNameError

METRICS = ["accuracy", "nDCG@10", "rejection_rate"]
FACETS = ["noise_rate", "topic", "task"]


@pytest.mark.parametrize(
    ("text", "gate", "normal_form"),
    [
        ("accuracy >= 0.85", Gate("accuracy", ">=", 0.85, "0.85"), None),
        ("accuracy>=0.85", Gate("accuracy", ">=", 0.85, "0.85"), "accuracy >= 0.85"),
        ("  accuracy   >  .5\n", Gate("accuracy", ">", 0.5, ".5"), "accuracy > .5"),
        ("fake_answer_rate <= 1e-2", Gate("fake_answer_rate", "<=", 0.01, "1e-2"), None),
        ("fake_answer_rate < 0", Gate("fake_answer_rate", "<", 0, "0"), None),
        ("n >= +300", Gate("n", ">=", 300, "+300"), None),
        ("n >= -3", Gate("n", ">=", -3, "-3"), None),
        ("accuracy >= 85%", Gate("accuracy", ">=", 0.85, "85%"), None),
        ("accuracy >= 12.5 %", Gate("accuracy", ">=", 0.125, "12.5%"), "accuracy >= 12.5%"),
        ("nDCG@10 >= 0.3", Gate("nDCG@10", ">=", 0.3, "0.3"), None),
        ("kilt:token_f1 >= 0.3", Gate("kilt:token_f1", ">=", 0.3, "0.3"), None),
        ("rouge-l >= 0.3", Gate("rouge-l", ">=", 0.3, "0.3"), None),
        ("accuracy[noise_rate=0.8] >= 0.7", Gate("accuracy", ">=", 0.7, "0.7", {"noise_rate": "0.8"}), None),
        (
            "accuracy [ noise_rate = 0.8 ,topic=* ] >= 0.7",
            Gate("accuracy", ">=", 0.7, "0.7", {"noise_rate": "0.8", "topic": "*"}),
            "accuracy[noise_rate=0.8, topic=*] >= 0.7",
        ),
        ("accuracy[topic=基金] >= 0.7", Gate("accuracy", ">=", 0.7, "0.7", {"topic": "基金"}), None),
        ("accuracy[topic=Bonds & Co [EU] >= 0.7", Gate("accuracy", ">=", 0.7, "0.7", {"topic": "Bonds & Co [EU"}),
         None),
        ("accuracy[topic=a=b] >= 0.7", Gate("accuracy", ">=", 0.7, "0.7", {"topic": "a=b"}), None),
        ('accuracy[topic="a, b]"] >= 0.7', Gate("accuracy", ">=", 0.7, "0.7", {"topic": "a, b]"}), None),
        ('accuracy[topic=" a "] >= 0.7', Gate("accuracy", ">=", 0.7, "0.7", {"topic": " a "}), None),
        ('accuracy[topic=""] >= 0.7', Gate("accuracy", ">=", 0.7, "0.7", {"topic": ""}), None),
        ('accuracy[topic="6"" nails"] >= 0.7', Gate("accuracy", ">=", 0.7, "0.7", {"topic": '6" nails'}), None),
        ('accuracy[topic="Funds"] >= 0.7', Gate("accuracy", ">=", 0.7, "0.7", {"topic": "Funds"}),
         "accuracy[topic=Funds] >= 0.7"),
        ("accuracy[my topic=x] >= 0.7", Gate("accuracy", ">=", 0.7, "0.7", {"my topic": "x"}), None),
        ("accuracy[topic=*, min_n=5] >= 0.6", Gate("accuracy", ">=", 0.6, "0.6", {"topic": "*"}, min_n=5), None),
        ("accuracy[ min_n = 05 ,topic=A]>=0.6", Gate("accuracy", ">=", 0.6, "0.6", {"topic": "A"}, min_n=5),
         "accuracy[topic=A, min_n=5] >= 0.6"),
        ('accuracy[min_n="30"] >= 60%', Gate("accuracy", ">=", 0.6, "60%", min_n=30), "accuracy[min_n=30] >= 60%"),
        ("accuracy[min_n=1] >= 0.6", Gate("accuracy", ">=", 0.6, "0.6"), "accuracy >= 0.6"),
        ("accuracy[min_n=5] >= baseline", Gate("accuracy", ">=", 0, "baseline", baseline=True, min_n=5), None),
        ("accuracy >= baseline", Gate("accuracy", ">=", 0, "baseline", baseline=True), None),
        ("accuracy >= baseline - 0.02 ", Gate("accuracy", ">=", -0.02, "baseline - 0.02", baseline=True),
         "accuracy >= baseline - 0.02"),
        ("over_rejection_rate <= baseline + 0.02",
         Gate("over_rejection_rate", "<=", 0.02, "baseline + 0.02", baseline=True), None),
        ("accuracy >= baseline-.02", Gate("accuracy", ">=", -0.02, "baseline-.02", baseline=True), None),
        ("accuracy[topic=*] >= baseline - 1", Gate("accuracy", ">=", -1, "baseline - 1", {"topic": "*"}, baseline=True),
         None),
    ],
)  # fmt: skip
def test_an_expression_is_read_and_written_back(text: str, gate: Gate, normal_form: str | None) -> None:
    parsed = parse_gate(text)
    assert parsed == gate
    assert str(parsed) == (text if normal_form is None else normal_form)
    assert parse_gate(str(parsed)) == gate


SLICE = "has a malformed [facet=value]; " + SHAPE
BASELINE = "has a malformed baseline; write >= baseline or >= baseline - 0.02"
UPPER = "has a malformed baseline; write <= baseline or <= baseline + 0.02"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not begin with a metric; " + SHAPE),
        (">= 0.5", "does not begin with a metric; " + SHAPE),
        ("0.5 <= accuracy", "does not begin with a metric; " + SHAPE),
        ("accuracy", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >=", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy = 0.5", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy == 0.5", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy => 0.5", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= 0.5 and n > 3", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= nan", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= inf", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= 1_0", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= 5%%", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy >= 0,5", "has no valid operator and bound after 'accuracy'; " + SHAPE),
        ("accuracy[topic=x] 0.5", "has no valid operator and bound after 'accuracy[topic=x]'; " + SHAPE),
        ("accuracy >= 0.5.1", "has the bound '0.5.1', which is not a number"),
        ("accuracy >= .", "has the bound '.', which is not a number"),
        ("accuracy >= 1e999", "has the bound '1e999', which is not finite"),
        ("accuracy >= -1e999", "has the bound '-1e999', which is not finite"),
        ("accuracy[] >= 0.5", SLICE),
        ("accuracy[topic] >= 0.5", SLICE),
        ("accuracy[topic=] >= 0.5", SLICE),
        ("accuracy[topic= ] >= 0.5", SLICE),
        ("accuracy[=x] >= 0.5", SLICE),
        ("accuracy[ =x] >= 0.5", SLICE),
        ("accuracy[topic=x,] >= 0.5", SLICE),
        ("accuracy[topic=x >= 0.5", SLICE),
        ('accuracy[topic="x] >= 0.5', SLICE),
        ('accuracy[topic=x"y] >= 0.5', SLICE),
        ('accuracy["topic"=x] >= 0.5', SLICE),
        ('accuracy[topic="x"y] >= 0.5', SLICE),
        ("accuracy[topic=x, topic=y] >= 0.5", "names 'topic' twice; name it once"),
        ("accuracy[min_n=5, min_n=6] >= 0.5", "names 'min_n' twice; name it once"),
        *(
            (f"accuracy[min_n={text}] >= 0.5", f"has min_n={text!r}; write a whole number from 1 on, such as min_n=5")
            for text in ("0", "000", "-1", "+5", "5.0", "1e3", "*", "five", "٥", "0x5", "1234567890")
        ),
        ("accuracy >= baselines", BASELINE),
        ("accuracy >= baseline + 0.02", BASELINE),
        ("accuracy >= baseline - ", BASELINE),
        ("accuracy >= baseline - x", BASELINE),
        ("accuracy >= baseline - 2%", BASELINE),
        ("accuracy >= baseline - -0.02", BASELINE),
        ("accuracy > baseline", BASELINE),
        ("over_rejection_rate <= baseline - 0.02", UPPER),
        ("over_rejection_rate < baseline + 0.02", UPPER),
    ],
)  # fmt: skip
def test_a_malformed_expression_says_what_is_wrong(text: str, problem: str) -> None:
    for where, prefix in (("", ""), ("tests/test_a.py:3", "tests/test_a.py:3: ")):
        with pytest.raises(GateSyntaxError) as error:
            parse_gate(text, where)
        assert str(error.value) == f"{prefix}gate {text!r} {problem}"


LONG = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * LONG, "a" + "[" * LONG, "a[" + "," * LONG, "a[" + "=" * LONG, "a[b" + "= " * LONG, " " * LONG,
        "\0" * LONG, "a" * LONG, "a[b" + " " * LONG, "a[b=" + " " * LONG, "a[b= c" + " " * LONG, "a[b=" + "]" * LONG,
        'a[b="' + '"' * LONG, 'a[b="' + '"x' * LONG, 'a[b="x"' + " " * LONG + "x", "a >= 1" + " " * LONG + "x",
        "a >= " + " " * LONG, "a " + ">" * LONG, "a >= " + "." * LONG, "a >= " + "1" * LONG, "a >= " + "1" * LONG + "x",
        "a >= 1" + "e" * LONG, "a >= baseline - " + "1" * LONG, "a >= baseline - " + "1" * LONG + "x",
        "a >= baseline" + " " * LONG + "\nx", "a >= baseline" + "\n" * LONG + "x",
        "a[" + ",".join(f"k{i}=v" for i in range(LONG // 8)),
    ],
    ids=range(27),
)  # fmt: skip
def test_a_hostile_expression_is_refused_quickly_with_a_short_message(text: str) -> None:
    start = time.process_time()
    with pytest.raises(GateSyntaxError) as error:
        parse_gate(text)
    assert time.process_time() - start < 2
    assert len(str(error.value)) < 300
    assert str(error.value).isprintable()


def test_a_long_valid_expression_is_read_quickly() -> None:
    pairs = {f"k{number}": f"v{number}" for number in range(5_000)}
    start = time.process_time()
    gate = parse_gate(f"a[{','.join(f'{key}={value}' for key, value in pairs.items())}] >= 0.5")
    assert time.process_time() - start < 2
    assert gate.slice == pairs


@pytest.mark.parametrize(
    ("op", "below", "at", "above"),
    [(">=", False, True, True), (">", False, False, True), ("<=", True, True, False), ("<", True, False, False)],
)
def test_an_operator_decides_below_at_and_above_the_bound(op: str, below: bool, at: bool, above: bool) -> None:
    gate = parse_gate(f"accuracy {op} 0.7")
    assert (gate.holds(0.69), gate.holds(0.7), gate.holds(0.71)) == (below, at, above)


def test_the_rounding_of_a_mean_does_not_decide_at_the_bound() -> None:
    high, low = (0.1 + 0.1 + 0.1) / 3, (0.7 + 0.7 + 0.7) / 3
    assert (high, low) == (0.10000000000000002, 0.6999999999999998)
    assert parse_gate("accuracy <= 0.1").holds(high)
    assert not parse_gate("accuracy > 0.1").holds(high)
    assert parse_gate("accuracy >= 70%").holds(low)
    assert not parse_gate("accuracy < 70%").holds(low)


@pytest.mark.parametrize(
    "text",
    ["accuracy >= 0", "accuracy >= 100%", "nDCG@10[topic=x, task=*] > 1", "n >= 300", "tokens <= 1e6",
     "latency_p95 <= 2.5", "cost_usd <= 3", "error_rate <= 1%", "accuracy >= baseline - 2"],
)  # fmt: skip
def test_a_valid_gate_is_accepted(text: str) -> None:
    check_gate(parse_gate(text), METRICS, FACETS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("acuracy >= 0.5", "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        ("latency >= 0.5", "unknown metric 'latency'; did you mean 'latency_p95'?"),
        ("accuracy[topics=x] >= 0.5", "unknown facet 'topics'; did you mean 'topic'?"),
        ("accuracy[zzz=x] >= 0.5", "unknown facet 'zzz'; known: noise_rate, task, topic"),
    ],
)
def test_an_unknown_name_suggests_the_nearest_one(text: str, problem: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        check_gate(parse_gate(text), METRICS, FACETS, "here")
    assert str(error.value) == f"here: gate {text!r}: {problem}"


def test_an_unknown_metric_without_a_near_name_lists_all_names() -> None:
    with pytest.raises(UnknownNameError) as error:
        check_gate(parse_gate("zzzzzz >= 0.5"), METRICS, FACETS)
    assert error.value.known == tuple(sorted([*METRICS, *PSEUDO_METRICS]))
    assert str(error.value).startswith("gate 'zzzzzz >= 0.5': unknown metric 'zzzzzz'; known: accuracy, cost_usd, ")


@pytest.mark.parametrize("text", ["accuracy >= 85", "accuracy >= 101%", "accuracy <= -0.1", "error_rate <= 5"])
def test_a_bound_that_no_share_can_reach_is_refused(text: str) -> None:
    gate = parse_gate(text)
    with pytest.raises(GateSyntaxError) as error:
        check_gate(gate, METRICS, FACETS, "here")
    what = f"bounds a metric in 0..1 by {gate.bound_text}; write a share or a percentage"
    assert str(error.value) == f"here: gate {text!r} {what}"


def test_a_value_that_misses_narrowly_is_shown_in_full() -> None:
    gate = parse_gate("rouge_l >= 1")
    assert gate.format_missed(0.999999995) == "0.999999995"
    assert gate.format_missed(0.91234567) == "0.9123"
