"""The default assembly: exact counts, gold in every position alike, and rates that compare pairwise.

Let K passages be asked for, m of them noise, and let pi be a random permutation of the K positions that
depends on the seed and the instance's id alone. Position pi[j] holds negative j for j < m, and position
pi[K-1-i] holds evidence i for i < K-m. So the heads of both pools are used, any position is as likely as another
for any of them, and one step up in noise turns one position and moves nothing else.
A pool that is too short leaves its positions out; what remains keeps its order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import zip_longest

from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.composition import Composition, Pools, exact_count
from pytest_rageval.testbeds.ids import digest

__all__ = ["assemble"]


def assemble(instance: Instance, asked: Composition, seed: int) -> tuple[Passage, ...]:
    """Return the passages supplied, in order.

    Positives with groups are taken in turns (the first of each group, then the second, ...), and noise never takes
    the first of a group: there may be more passages than asked, or less noise, but no part of the question is left
    without its evidence. Counterfactual passages and their correct twins are pairs: the first stays false unless all
    shall be correct, and those after it are correct.

    Raises:
        DataError: correct passages are asked for and the counterfactual ones have no twins.
    """
    if asked.passages == 0:
        return ()
    pools = Pools.of(instance)
    kept = len(pools.groups) if asked.evidence == "positive" else 0
    evidence = _evidence(instance, pools, asked)
    total = max(asked.passages, kept)
    noise = min(exact_count(asked.passages, asked.noise_rate), total - kept)
    positions = list(range(total))
    random.Random(int.from_bytes(digest(seed, instance.id), "big")).shuffle(positions)  # noqa: S311
    places: dict[int, Passage] = dict(zip(positions[:noise], pools.negatives, strict=False))
    places.update(zip(reversed(positions[noise:]), evidence, strict=False))
    return tuple(places[place] for place in sorted(places))


def _evidence(instance: Instance, pools: Pools, asked: Composition) -> Sequence[Passage]:
    if asked.evidence != "counterfactual":
        return _in_turns(pools.groups) if pools.groups else pools.positives
    wrong = pools.falsehoods
    twins = pools.twins(instance, asked.correct_rate)
    if asked.correct_rate == 1:
        return twins
    correct = exact_count(asked.passages, asked.correct_rate)
    return (*wrong[:1], *twins[1 : correct + 1], *wrong[correct + 1 :])


def _in_turns(groups: Sequence[Sequence[Passage]]) -> list[Passage]:
    return [passage for turn in zip_longest(*groups) for passage in turn if passage is not None]
