"""The default assembly: exact counts, uniform gold positions, comparable noise rates.

Let K be the number of passages, m the number of noise passages, and pi a random permutation of the K positions. The
permutation depends only on the seed and the instance's id. Position pi[j] gets negative passage j for j < m; position
pi[K-1-i] gets evidence passage i for i < K-m.

- The assembly uses the first passages of both pools.
- Every passage is in every position with the same probability.
- One more noise passage changes a single position; all other passages stay.
- If a pool is too short, its positions stay empty; the other passages keep their order.
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

    Positive passages in groups alternate: the first of each group, then the second, and so on. Noise never replaces
    the first passage of a group, so every part of the question keeps its evidence; there may then be more passages or
    less noise than in the composition. Counterfactual passages and their correct twins are pairs: the first pair
    stays false unless all must be correct, and the next pairs become correct.

    Raises:
        DataError: the composition has correct passages, but the counterfactual passages have no twins.
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
        return _alternate(pools.groups) if pools.groups else pools.positives
    wrong = pools.falsehoods
    twins = pools.twins(instance, composition.correct_rate)
    if composition.correct_rate == 1:
        return twins
    correct = exact_count(composition.passages, composition.correct_rate)
    return (*wrong[:1], *twins[1 : correct + 1], *wrong[correct + 1 :])


def _alternate(groups: Sequence[Sequence[Passage]]) -> list[Passage]:
    return [passage for turn in zip_longest(*groups) for passage in turn if passage is not None]
