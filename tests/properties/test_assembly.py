"""Laws of the balanced assembly for any record, setting and seed."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.model.case import Instance, Passage, Role
from pytest_rageval.testbeds.balanced import assemble
from pytest_rageval.testbeds.composition import Composition, exact_count
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.ids import safe, unique_ids
from pytest_rageval.testbeds.settings import parse_settings

EVIDENCE: tuple[Role, ...] = ("positive", "", "counterfactual")

SIZES = st.integers(0, 12)
RATES = st.integers(0, 100).map(lambda n: n / 100)


def record(name: str, positives: int, negatives: int, falsehoods: int = 0, groups: int = 0) -> Instance:
    passages = [
        *(Passage(f"p{i}", "t", role="positive", group=i % groups if groups else None) for i in range(positives)),
        *(Passage(f"w{i}", "t", role="counterfactual") for i in range(falsehoods)),
        *(Passage(f"n{i}", "t", role="negative") for i in range(negatives)),
    ]
    return Instance(name, "Q?", passages=tuple(passages))


@st.composite
def assembly_inputs(draw: st.DrawFn) -> tuple[Instance, Role, float]:
    """Draw a record, its evidence target, and a rate of correct passages, 0 unless the target is counterfactual."""
    evidence = draw(st.sampled_from(EVIDENCE))
    positives = draw(SIZES)
    falsehoods = positives if evidence == "counterfactual" else draw(st.sampled_from([0, positives]))
    correct = draw(RATES) if evidence == "counterfactual" else 0.0
    groups = draw(st.integers(0, 4))
    return record(draw(st.text(max_size=9)), positives, draw(SIZES), falsehoods, groups), evidence, correct


def kinds(passages: tuple[Passage, ...]) -> Counter[str]:
    return Counter(p.role for p in passages)


@settings(deadline=None)
@given(assembly_inputs(), SIZES, RATES, st.integers())
def test_passages_are_distinct_and_from_the_record(
    inputs: tuple[Instance, Role, float], passages: int, noise: float, seed: int
) -> None:
    instance, evidence, correct = inputs
    supplied = assemble(instance, Composition(evidence, passages, noise, correct), seed)
    names = [p.id for p in supplied]
    assert len(names) == len(set(names))
    assert set(supplied) <= set(instance.passages or ())
    groups = len({p.group for p in instance.passages or () if p.group is not None})
    assert len(names) <= max(passages, groups if passages else 0)
    assert not {name[1:] for name in names if name[0] == "w"} & {name[1:] for name in names if name[0] == "p"}


@settings(deadline=None)
@given(st.text(max_size=9), st.integers(0, 12), RATES, st.integers())
def test_counts_are_exact_if_the_pools_allow_it(name: str, passages: int, noise: float, seed: int) -> None:
    supplied = assemble(record(name, 12, 12), Composition("positive", passages, noise), seed)
    target = math.ceil(Fraction(str(noise)) * passages)
    assert target == exact_count(passages, noise)
    assert kinds(supplied) == Counter(positive=passages - target, negative=target)
    assert {p.id for p in supplied} == {
        *(f"p{i}" for i in range(passages - target)), *(f"n{i}" for i in range(target)),
    }  # fmt: skip


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(0, 1000))
def test_an_exact_share_is_not_rounded_up(passages: int, thousandths: int) -> None:
    rate = thousandths / 1000
    assert exact_count(passages, rate) == -(-passages * thousandths // 1000)


@settings(deadline=None)
@given(assembly_inputs(), st.integers(1, 12), st.integers())
def test_a_step_of_noise_adds_and_removes_at_most_one_passage(
    inputs: tuple[Instance, Role, float], passages: int, seed: int
) -> None:
    """The other passages keep their order."""
    instance, evidence, correct = inputs
    rows = [
        [p.id for p in assemble(instance, Composition(evidence, passages, m / passages, correct), seed)]
        for m in range(passages + 1)
    ]
    for m in range(passages):
        before, after = rows[m], rows[m + 1]
        removed_ids, added_ids = set(before) - set(after), set(after) - set(before)
        assert len(removed_ids) <= 1
        assert len(added_ids) <= 1
        assert {name[0] for name in removed_ids} <= {"p", "w"}
        assert {name[0] for name in added_ids} <= {"n"}
        assert [n for n in before if n not in removed_ids] == [n for n in after if n not in added_ids]


@settings(deadline=None)
@given(st.text(max_size=9), st.integers(1, 10), st.integers())
def test_a_step_of_noise_replaces_one_passage_in_place_if_the_pools_are_full(
    name: str, passages: int, seed: int
) -> None:
    rows = [
        [p.id for p in assemble(record(name, 10, 10), Composition("positive", passages, m / passages), seed)]
        for m in range(passages + 1)
    ]
    for m in range(passages):
        assert sum(a != b for a, b in zip(rows[m], rows[m + 1], strict=True)) == 1


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(5, 12), st.integers(1, 8), RATES, st.integers())
def test_each_group_keeps_its_evidence(groups: int, positives: int, passages: int, noise: float, seed: int) -> None:
    instance = record("x", positives, 12, groups=groups)
    supplied = assemble(instance, Composition("positive", passages, noise), seed)
    assert {p.group for p in supplied if p.role == "positive"} == set(range(groups))
    assert not kinds(assemble(instance, Composition("", passages, 1.0), seed))["positive"]


@pytest.mark.parametrize(("passages", "noise"), [(5, 0.0), (5, 0.4), (5, 0.8), (10, 0.5)])
def test_the_first_gold_passage_takes_each_position_equally_often(passages: int, noise: float) -> None:
    instances = 4000
    places = Counter(
        [p.id for p in assemble(record(f"en-{i}", 12, 12), Composition("positive", passages, noise), 0)].index("p0")
        for i in range(instances)
    )
    expected = instances / passages
    chi_square = sum((places[i] - expected) ** 2 / expected for i in range(passages))
    assert chi_square < 30  # at most 9 degrees of freedom: exceeded by one seed in 2,000; the seed is fixed


@settings(deadline=None)
@given(st.lists(st.text(max_size=9), unique=True, min_size=1, max_size=6), st.integers(0, 5), st.integers())
def test_a_new_record_changes_no_other_case(names: list[str], place: int, seed: int) -> None:
    testbed_settings = parse_settings(
        {"dataset": "x:y", "ability": "noise_robustness", "noise_rate": [0, 0.4, 0.8], "passages": [3, 5]}, "here"
    )
    instances = [record(name, 6, 6) for name in names]
    more = instances.copy()
    more.insert(place, record("one more record", 3, 3))
    before, after = dict(expand(testbed_settings, instances, seed)), dict(expand(testbed_settings, more, seed))
    assert len(before) == 6 * len(names)
    assert before.items() <= after.items()


@settings(deadline=None)
@given(st.lists(st.text(), unique=True))
def test_ids_are_unique_plain_and_short(names: list[str]) -> None:
    ids = unique_ids(names)
    assert len(set(ids)) == len(names)
    assert all(1 <= len(i) <= 60 and i.isascii() and not set(i) & set(" []:/\\") for i in ids)
    assert all(i == safe(name) or len(i) > len(safe(name)) for i, name in zip(ids, names, strict=True))
