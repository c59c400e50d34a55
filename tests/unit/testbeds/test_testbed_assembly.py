"""Assemblies choose and order the passages that a case supplies."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise

import pytest

from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage, Role
from pytest_rageval.testbeds import balanced, rgb_compat
from pytest_rageval.testbeds.composition import Composition, Pools, exact_count


def pool(prefix: str, size: int, role: Role, group: int | None = None) -> list[Passage]:
    return [Passage(f"{prefix}{i}", f"text {prefix}{i}", role=role, group=group) for i in range(size)]


def instance(*pools: Iterable[Passage], name: str = "x") -> Instance:
    return Instance(name, "Q?", passages=tuple(p for each in pools for p in each), origin="a.json:1")


def ids(passages: tuple[Passage, ...]) -> list[str]:
    return [p.id for p in passages]


BASE = instance(pool("p", 9, "positive"), pool("n", 9, "negative"))
FACT = instance(pool("p", 6, "positive"), pool("w", 6, "counterfactual"), pool("n", 6, "negative"))
GROUPS = instance(pool("p0.", 3, "positive", 0), pool("p1.", 1, "positive", 1), pool("n", 6, "negative"))


def balanced_ids(source: Instance, composition: Composition, seed: int = 0) -> list[str]:
    return ids(balanced.assemble(source, composition, seed))


@pytest.mark.parametrize(
    ("passages", "rate", "count"), [(25, 0.28, 7), (50, 0.14, 7), (100, 0.07, 7), (5, 0.3, 2), (5, 0.0, 0), (5, 1.0, 5)]
)
def test_balanced_counts_exactly_and_rgb_compat_rounds_float_products_up(
    passages: int, rate: float, count: int
) -> None:
    assert exact_count(passages, rate) == count
    assert rgb_compat.float_count(passages, rate) == count + (passages >= 25)


@pytest.mark.parametrize(
    ("passages", "rate", "count"), [(6, 5 / 6, 5), (10, 0.1 + 0.2, 3), (3, 1 / 3, 1), (9, 1e-7, 1)]
)
def test_a_computed_rate_is_read_as_its_fraction(passages: int, rate: float, count: int) -> None:
    assert exact_count(passages, rate) == count


def test_balanced_takes_the_first_passages_of_both_pools() -> None:
    for rate, noise in ((0.0, 0), (0.2, 1), (0.5, 3), (1.0, 5)):
        supplied = balanced_ids(BASE, Composition("positive", 5, rate))
        assert sorted(supplied) == [f"n{i}" for i in range(noise)] + [f"p{i}" for i in range(5 - noise)]


def test_balanced_replaces_one_passage_per_noise_step_and_moves_no_other() -> None:
    rows = [balanced_ids(BASE, Composition("positive", 5, m / 5)) for m in range(6)]
    for row, following in pairwise(rows):
        changed = [(a, b) for a, b in zip(row, following, strict=True) if a != b]
        assert len(changed) == 1
        assert [a[0] + b[0] for a, b in changed] == ["pn"]


def test_balanced_depends_only_on_the_seed_and_the_id() -> None:
    composition = Composition("positive", 8, 0.5)
    twin = Instance("x", "another question?", passages=BASE.passages, facets={"topic": "t"}, origin="b.json:9")
    assert balanced_ids(BASE, composition) == balanced_ids(twin, composition)
    assert balanced_ids(BASE, composition) != balanced_ids(BASE, composition, seed=1)
    assert balanced_ids(BASE, composition) != balanced_ids(instance(BASE.passages or (), name="y"), composition)


def test_the_order_of_a_known_case_is_stable() -> None:
    assert balanced_ids(BASE, Composition("positive", 5, 0.4), seed=7) == ["n0", "p0", "p1", "p2", "n1"]


def test_a_short_pool_leaves_out_its_missing_passages() -> None:
    full = balanced_ids(BASE, Composition("positive", 6, 0.5))
    short = instance(pool("p", 1, "positive"), pool("n", 2, "negative"))
    assert balanced_ids(short, Composition("positive", 6, 0.5)) == [i for i in full if i in ("p0", "n0", "n1")]


def test_zero_passages_give_an_empty_context() -> None:
    for source in (BASE, FACT, GROUPS):
        assert balanced.assemble(source, Composition("positive", 0, 0.4), 0) == ()
        assert rgb_compat.assemble(source, Composition("positive", 0, 0.4)) == ()


def test_groups_take_turns_and_the_first_passage_of_each_group_is_supplied() -> None:
    assert sorted(balanced_ids(GROUPS, Composition("positive", 3))) == ["p0.0", "p0.1", "p1.0"]
    assert sorted(balanced_ids(GROUPS, Composition("positive", 4, 1.0))) == ["n0", "n1", "p0.0", "p1.0"]
    assert sorted(balanced_ids(GROUPS, Composition("positive", 1, 1.0))) == ["p0.0", "p1.0"]
    assert sorted(balanced_ids(GROUPS, Composition("", 3, 1.0))) == ["n0", "n1", "n2"]


def test_correct_passages_replace_their_false_twins_in_place() -> None:
    rows = [balanced_ids(FACT, Composition("counterfactual", 5, 0.2, c / 5)) for c in range(4)]
    assert sorted(rows[0]) == ["n0", "w0", "w1", "w2", "w3"]
    for c, (row, following) in enumerate(pairwise(rows)):
        assert [(a, b) for a, b in zip(row, following, strict=True) if a != b] == [(f"w{c + 1}", f"p{c + 1}")]


@pytest.mark.parametrize("pairs", range(1, 7))
def test_a_noise_step_changes_one_passage_even_with_a_short_pool(pairs: int) -> None:
    source = instance(pool("p", pairs, "positive"), pool("w", pairs, "counterfactual"), pool("n", 6, "negative"))
    rows = [set(balanced_ids(source, Composition("counterfactual", 5, m / 5, 0.4))) for m in range(4)]
    for row, following in pairwise(rows):
        assert len(following - row) == 1
        assert len(row - following) <= 1


def test_one_passage_stays_false_unless_correct_rate_is_1() -> None:
    source = instance(pool("p", 2, "positive"), pool("w", 2, "counterfactual"))
    assert sorted(balanced_ids(source, Composition("counterfactual", 5, 0.0, 0.8))) == ["p1", "w0"]
    assert sorted(balanced_ids(source, Composition("counterfactual", 5, 0.0, 1.0))) == ["p0", "p1"]


@pytest.mark.parametrize(("noise", "correct"), [(0.5, 0.5), (0.6, 0.4), (0.0, 0.9), (0.8, 0.2)])
def test_fewer_correct_passages_are_supplied_if_otherwise_none_would_be_false(noise: float, correct: float) -> None:
    supplied = balanced_ids(FACT, Composition("counterfactual", 5, noise, correct))
    kinds = [name[0] for name in supplied]
    assert (len(supplied), kinds.count("n"), kinds.count("w")) == (5, exact_count(5, noise), 1)


def test_counterfactual_passages_need_positive_twins_only_for_a_correct_rate() -> None:
    source = instance(pool("p", 1, "positive"), pool("w", 3, "counterfactual"), pool("n", 2, "negative"))
    assert sorted(balanced_ids(source, Composition("counterfactual", 3, 0.3))) == ["n0", "w0", "w1"]
    message = r"^a\.json:1: passages: found 1 positive for 3 counterfactual, wanted one for each, because correct_rate"
    for assemble in (balanced.assemble, rgb_compat.assemble):
        with pytest.raises(DataError, match=message):
            assemble(source, Composition("counterfactual", 3, 0.0, 0.3), 0)


def test_passages_without_a_role_are_in_no_pool() -> None:
    pools = Pools.of(instance(pool("d", 2, ""), pool("p", 1, "positive"), pool("n", 1, "negative")))
    assert (ids(pools.positives), ids(pools.negatives), pools.falsehoods, pools.groups) == (["p0"], ["n0"], (), ())


def test_rgb_compat_refuses_positives_in_groups() -> None:
    with pytest.raises(DataError, match=r"^a\.json:1: passages: found positives in groups; rgb-compat"):
        rgb_compat.assemble(GROUPS, Composition("", 5, 1.0))


def test_no_assembly_changes_the_global_random_generator() -> None:
    before = random.getstate()
    for source in (BASE, FACT, GROUPS):
        balanced.assemble(source, Composition("positive", 5, 0.4), 0)
        rgb_compat.assemble(source, Composition("positive", 5, 0.4))
    assert random.getstate() == before
