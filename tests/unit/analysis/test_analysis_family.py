"""P-values of a family of comparisons, against hand-worked values and all combinations of signs."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from pytest_rageval.analysis.baseline.family import adjust_family, smallest_p
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test

ALPHA = 0.05


def comparison_of(changes: Mapping[Any, float], n: int = 20) -> PairedTest:
    """Return a comparison of ``n`` cases with these changes, in whole steps or less, positive for the worse."""
    values = [*changes.values(), *[0.0] * (n - len(changes))]
    result = paired_test([max(0.0, value) for value in values], [max(0.0, -value) for value in values])
    return replace(result, changes=changes)


def steps(name: str, worse: int, better: int = 0) -> PairedTest:
    """Return a comparison with units of its own."""
    return comparison_of({f"{name}{at}": 1.0 if at < worse else -1.0 for at in range(worse + better)})


def p_values(*result: PairedTest) -> list[float | None]:
    return [each.p_value for each in adjust_family(result, ALPHA)]


@pytest.mark.parametrize(("units", "expected"), [(0, 1), (1, 0.5), (4, 0.0625), (5, 0.03125)])
def test_the_smallest_p_is_that_of_units_that_all_became_worse(units: int, expected: float) -> None:
    assert smallest_p(units) == expected == paired_test([1.0] * units + [0.0], [0.0] * (units + 1)).p_worse


def test_a_comparison_alone_keeps_its_p_and_its_level() -> None:
    (alone,) = adjust_family([steps("a", 5)], ALPHA)
    assert (alone.p_value, alone.level) == (1 / 32, ALPHA)
    assert adjust_family([], ALPHA) == []


def test_comparisons_whose_smallest_p_is_too_large_do_not_adjust_others() -> None:
    """Tarone: of ten comparisons, nine with one or four changes cannot have a p of 1/128; Holm would give 10/128."""
    others = [steps(name, 1) for name in "bcd"] + [steps("e", 2, 1)]
    first, *rest = adjust_family([steps("a", 7), *others], ALPHA)
    assert first.p_value == 1 / 128
    assert first.level == ALPHA
    assert min(each.p_value or 0 for each in rest) > ALPHA


def test_separate_comparisons_count_one_by_one_and_shared_ones_once() -> None:
    separate = Fraction(1) - Fraction(31, 32) ** 2  # either of them has five of five
    assert p_values(steps("a", 5), steps("b", 5)) == [separate, separate]
    assert p_values(steps("a", 5), steps("a", 5)) == [1 / 32, 1 / 32]


def test_the_step_down_excludes_decided_comparisons() -> None:
    """The z of a (7 of 7) is out of reach for b (5 of 5); then b is alone."""
    assert p_values(steps("b", 5), steps("a", 7)) == [1 / 32, 1 / 128]
    assert p_values(steps("a", 6), steps("b", 5, 1)) == [1 - (1 - 1 / 64) ** 2, 7 / 64]


def test_comparisons_without_changes_adjust_nothing() -> None:
    assert p_values(steps("a", 0), steps("b", 0)) == [1, 1]
    assert p_values(steps("a", 0), steps("b", 5), paired_test([], [])) == [1, 1 / 32, None]


def p_values_by_definition(family: Sequence[Mapping[str, float]]) -> list[float]:
    """Return the adjusted p-values from their definition."""

    def z(changes: Mapping[str, float], signs: Mapping[str, int]) -> float:
        total = math.fsum(change * signs[unit] for unit, change in changes.items()) - min(map(abs, changes.values()))
        return total / math.sqrt(math.fsum(change**2 for change in changes.values()))

    units = sorted(set().union(*family))
    ways = [dict(zip(units, signs, strict=True)) for signs in itertools.product((1, -1), repeat=len(units))]
    order = sorted(family, key=lambda changes: -z(changes, ways[0]))
    p_of: dict[int, float] = {}
    least = 0.0
    for rank, changes in enumerate(order):
        reached = [max(z(each, way) for each in order[rank:]) >= z(changes, ways[0]) - 1e-9 for way in ways]
        least = max(least, sum(reached) / len(ways), comparison_of(changes).p_worse or 0)
        p_of[id(changes)] = least
    return [p_of[id(changes)] for changes in family]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("graded", [False, True])
def test_few_units_get_all_combinations_of_signs(seed: int, graded: bool) -> None:
    draw = random.Random(seed)
    sizes = (0.2, 0.5, 1.0) if graded else (1.0,)
    family = []
    for _ in range(draw.randint(2, 5)):
        units = draw.sample("abcdefghij", draw.randint(1, 8))
        family.append({unit: draw.choice(sizes) * draw.choice((1, 1, 1, -1)) for unit in units})
    assert p_values(*map(comparison_of, family)) == pytest.approx(p_values_by_definition(family))


def test_many_units_get_random_signs_that_are_the_same_each_time() -> None:
    family = [steps("a", 8, 1), steps("b", 8, 1), steps("c", 3, 5)]
    of_two = 1 - (1 - 10 / 512) ** 2
    of_three = 1 - (1 - 10 / 512) ** 2 * (1 - 1 / 256)  # for c, all eight
    first, second, third = p_values(*family)
    assert first == second == pytest.approx(of_three, abs=0.006)
    assert of_two < of_three < ALPHA < (third or 0)
    assert p_values(*reversed(family)) == [third, second, first]


def test_the_level_of_a_comparison_depends_on_the_others() -> None:
    alone, separate, shared = (
        adjust_family([steps("a", 5), *others], ALPHA)[0].level
        for others in ([steps("b", 1)], [steps("b", 4, 4)] * 3, [steps("a", 5)] * 3)
    )
    assert alone == shared == ALPHA
    assert separate < ALPHA
    unchanged, other = adjust_family([steps("a", 0), steps("b", 4, 8)], ALPHA)
    assert ALPHA / 2 < unchanged.level < ALPHA == other.level


def test_families_without_a_change_import_no_numpy() -> None:
    code = (
        "import sys; from pytest_rageval.analysis.baseline.family import adjust_family; "
        "from pytest_rageval.analysis.baseline.paired_tests import paired_test; "
        "adjust_family([paired_test([1.0] * 9, [1.0] * 9)] * 9, 0.05); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
