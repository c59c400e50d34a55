from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.metrics.shared.quantities import has_numeric_gold, numerical_verdict
from pytest_rageval.metrics.shared.same_quantity import relation
from pytest_rageval.model.case import Instance
from pytest_rageval.text.quantities import Quantity


def record(*aliases: str, question: str = "How much?") -> Instance:
    return Instance("q", question, gold=(aliases,))


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("44 billion", "It was $44bn."),
        ("5亿元", "注册资本为人民币500,000,000元。"),
        ("5亿元", "注册资本为5亿"),
        ("5%", "百分之五"),
        ("5%", "0.05"),
        ("0.05", "5 %"),
        ("24.26%", "The margin was 24.258%."),
        ("2.5 hours", "150 minutes"),
        ("5-10%", "between 5% and 10%"),
        ("2023年12月29日", "December 29, 2023"),
        ("2023", "On 29 Dec 2023."),
        ("2015", "It opened in 2015."),
        ("15:30", "3:30 pm"),
        ("25bps", "0.25个百分点"),
        ("-5.2%", "(5.2%)"),
        ("300人", "共有三百名员工"),
        ("12 seats", "In 2015 there were twelve seats."),
        ("about five", "about five"),
        ("70", "70."),
        ("70", "[70]"),
        ("50000元", "伍万元整"),
        ("200000元", "贰拾万元"),
        ("100", "壹佰"),
        ("90 years", "90岁"),
        ("18 years old", "18周岁"),
        ("3年", "3"),
        ("5 votes", "five votes"),
        ("20 °C", "20 degrees"),
    ],
)
def test_the_same_quantity_in_another_notation_is_right(gold: str, answer: str) -> None:
    assert numerical_verdict(record(gold), answer) == 1.0


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("1.5%", "It is 15.5%."),
        ("70", "There are 170 seats."),
        ("5亿元", "注册资本为6亿元"),
        ("5-10%", "5-12%"),
        ("2023年12月29日", "2023年12月28日"),
        ("2015", "It opened in 2016."),
        ("5%", "I can not answer the question."),
        ("15:30", "at 4:30 pm"),
        ("3年", "5年"),
        ("70", "0"),
        ("13800138002", "13800138009"),
        ("0元", "5元"),
        ("0", "I do not have access to that."),
        ("2020", "2019"),
        ("5", "It was 7 in FY22, before COVID-19."),
        ("0.3", "0.1 + 0.6 = 0.7"),
        ("$229 million", "$200 million"),
    ],
)
def test_other_quantities_are_wrong(gold: str, answer: str) -> None:
    assert numerical_verdict(record(gold), answer) == 0.0


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("7%", "It rose from 5% to 7%."),
        ("7%", "从5%上升到7%"),
        ("5.2%", "5.21%"),
        ("4.2%", "4.15%"),
        ("5.2%", "about 5%"),
        ("5%", "It fell by 5%."),
        ("-5%", "It was 5%."),
        ("5%", "It was not 5%."),
        ("5%", "不超过5%"),
        ("$1577.00", "$1.577"),
        ("5亿元", "5亿美元"),
        ("5%", "5个百分点"),
        ("5", "5%"),
        ("0.5", "half of it"),
        ("3", "答案是三。"),
        ("5 million", "5m"),
        ("100000", "1e5"),
        ("15:30", "3:30"),
        ("May 6, 2023", "05/06/2023"),
        ("December 29, 2023", "in 2023"),
        ("profit 5bn and revenue 9bn", "profit 9bn and revenue 5bn"),
        ("35000", "三万五"),
        ("0", "I cannot see whether it would be 0."),
        ("0", "没有"),
        ("0", "无"),
        ("0元", "没有任何费用"),
        ("0元", "免费"),
        ("$0", "free"),
        ("0", "never"),
        ("$0", "In 2023 it charges no fee."),
        ("$0", "It doesn't charge anything."),
        ("1", "1st"),
        ("5", "第5"),
        ("5", "It was the 5th of 7."),
        ("0.25", "¼"),
        ("12", "Ⅻ"),
        ("1000000", "百万"),
        ("50000元", "5萬元"),
        ("5元", "伍元"),
        ("5 trillion", "5T"),
        ("5 trillion", "5T, and 7 trillion before"),
        ("90 minutes", "1h30"),
        ("0.3", "0.1+0.2"),
        ("12,300", "12,345"),
        ("12,345", "12,300"),
        ("3.14", "3.2"),
        ("5 votes", "5 seats"),
        ("5 kg", "5 boxes"),
        ("5条", "5种"),
        ("20 pounds", "20 kg"),
        (
            "A few airlines and, with 40% of all revenues, the government of the United States",
            "Airlines, 7% of them new",
        ),
    ],
)
def test_an_ambiguous_answer_is_undecided(gold: str, answer: str) -> None:
    assert numerical_verdict(record(gold), answer) is None


def test_quantities_of_the_question_are_ignored() -> None:
    case = record("2023年净利润5亿元", question="2023年的净利润是多少？")

    assert numerical_verdict(case, "净利润为5亿元") == 1.0
    assert numerical_verdict(case, "2023年净利润为6亿元") == 0.0


def test_every_slot_needs_one_of_its_aliases() -> None:
    case = Instance("q", "?", gold=(("5%", "5.0 percent"), ("$3bn", "3 billion dollars"), ("Paris",)))

    assert numerical_verdict(case, "5 per cent and 3bn dollars") == 1.0
    assert numerical_verdict(case, "5 per cent and 4bn dollars") == 0.0
    assert numerical_verdict(case, "5 per cent") is None


@pytest.mark.parametrize(
    ("applies", "gold", "question"),
    [
        (True, "5%", "?"),
        (True, "三年", "多久？"),
        (True, "2015", "Was it 2015?"),
        (False, "Paris", "?"),
        (False, "COVID-19", "?"),
        (False, "三星", "?"),
        (False, "一个办法", "?"),
        (False, "The fund that was closed in 2015 is larger", "What of the fund of in 2015?"),
    ],
)
def test_only_the_gold_answer_decides_whether_a_case_is_numeric(applies: bool, gold: str, question: str) -> None:
    assert has_numeric_gold(record(gold, question=question)) is applies


def test_a_gold_answer_without_numbers_is_undecided() -> None:
    assert numerical_verdict(record("Paris"), "5%") is None
    assert numerical_verdict(Instance("q", "?"), "5%") is None


@given(st.text(), st.text(), st.text())
def test_the_rule_gives_a_verdict_or_none_for_any_text(question: str, gold: str, answer: str) -> None:
    assert numerical_verdict(record(gold, question=question), answer) in (None, 0.0, 1.0)


@given(st.text(alphabet="0123456789.,%万亿元年月日-~至 ", max_size=20))
def test_the_gold_answer_itself_is_right(gold: str) -> None:
    if has_numeric_gold(record(gold)):
        assert numerical_verdict(record(gold), gold) == 1.0


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_whole_numbers_are_right_only_if_they_are_equal(gold: int, answer: int) -> None:
    verdict = numerical_verdict(record(f"{gold:,} kg"), f"It weighs {answer}kg.")

    assert verdict == 1.0 if gold == answer else verdict != 1.0


DECIMALS = st.tuples(st.integers(-99_999, 99_999), st.integers(-8, 8)).map(
    lambda each: each[0] * Fraction(10) ** each[1]
)
STEPS = st.integers(-8, 8).map(lambda power: Fraction(10) ** power)


@given(DECIMALS, DECIMALS, STEPS, STEPS)
def test_numbers_within_a_step_or_shifted_by_a_power_of_ten_are_undecided(
    gold: Fraction, answer: Fraction, gold_step: Fraction, step: Fraction
) -> None:
    """With two digits, `_coarsest` and rounding have no effect."""
    scales = [
        Fraction(10) ** power for power in (0, *(sign * each for each in (2, 3, 4, 6, 8, 9, 12) for sign in (1, -1)))
    ]
    scales = scales if gold and answer else scales[:1]
    near = abs(gold - answer) < max(gold_step, step) or any(
        2 * abs(abs(gold) - abs(answer) * scale) <= max(gold_step, step * scale) for scale in scales
    )
    expected = "same" if gold == answer else "undecided" if near else "different"
    gold_quantity, answer_quantity = (
        Quantity(gold, gold, step=gold_step, digits=2),
        Quantity(answer, answer, step=step, digits=2),
    )
    assert relation(gold_quantity, answer_quantity) == expected
