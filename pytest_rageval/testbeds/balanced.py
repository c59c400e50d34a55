"""The default assembly: exact counts, uniform gold positions, comparable noise rates.

Let K be the number of passages, m the number of noise passages, and pi a random permutation of the K positions that
depends only on the seed and the instance's id. Position pi[j] holds negative j for j < m, and position
pi[K-1-i] holds evidence i for i < K-m. This uses the heads of both pools, and every passage may be in any position
with the same probability. One more noise passage changes one position and moves nothing else.
A pool that is too short leaves its positions empty; the other passages keep their order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import zip_longest

from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.composition import Composition, Pools, exact_count
from pytest_rageval.testbeds.ids import digest

__all__ = ["assemble"]


def assemble(instance: Instance, composition: Composition, seed: int) -> tuple[Passage, ...]:
    """Return the passages to supply, in order.

    Positives with groups take turns (the first of each group, then the second, ...). Noise never replaces the first of
    a group: every part of the question keeps its evidence. There may then be more passages, or less noise, than the
    composition says. Counterfactual passages and their correct twins are pairs: the first stays false unless all must
    be correct, and the next ones become correct.

    Raises:
        DataError: the composition has correct passages and the counterfactual ones have no twins.
    """
    if composition.passages == 0:
        return ()
    pools = Pools.of(instance)
    reserved = len(pools.groups) if composition.evidence == "positive" else 0
    evidence = _evidence(instance, pools, composition)
    total = max(composition.passages, reserved)
    noise = min(exact_count(composition.passages, composition.noise_rate), total - reserved)
    positions = list(range(total))
    random.Random(int.from_bytes(digest(seed, instance.id), "big")).shuffle(positions)  # noqa: S311
    places: dict[int, Passage] = dict(zip(positions[:noise], pools.negatives, strict=False))
    places.update(zip(reversed(positions[noise:]), evidence, strict=False))
    return tuple(places[place] for place in sorted(places))


def _evidence(instance: Instance, pools: Pools, composition: Composition) -> Sequence[Passage]:
    if composition.evidence != "counterfactual":
        return _in_turns(pools.groups) if pools.groups else pools.positives
    wrong = pools.falsehoods
    twins = pools.twins(instance, composition.correct_rate)
    if composition.correct_rate == 1:
        return twins
    correct = exact_count(composition.passages, composition.correct_rate)
    return (*wrong[:1], *twins[1 : correct + 1], *wrong[correct + 1 :])


def _in_turns(groups: Sequence[Sequence[Passage]]) -> list[Passage]:
    return [passage for turn in zip_longest(*groups) for passage in turn if passage is not None]
