"""RGB's published assembly, reproduced exactly: seed, float rounding and short pools.

Source: Chen et al., AAAI 2024, and the published evaluation code. Every instance uses the seed 2333. A separate random
generator gives the same sequence without changing the global generator.
"""

from __future__ import annotations

import math
import random
from itertools import zip_longest

from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.composition import Composition, Pools

__all__ = ["assemble", "float_count"]

SEED = 2333


def float_count(passages: int, rate: float) -> int:
    """Return ``passages * rate`` rounded up with its float error, like RGB: 8 for 25 * 0.28."""
    return math.ceil(passages * rate)


def assemble(instance: Instance, composition: Composition, seed: int = SEED) -> tuple[Passage, ...]:
    """Return the passages that RGB supplies, in its order; ``seed`` is ignored, because RGB's seed is fixed.

    The record decides the method, not the ability: a record with counterfactual passages is assembled like RGB's
    counterfactual files, one with groups of positives like its integration files, any other like its base files.

    Raises:
        DataError: the composition has no evidence, but the record has groups, of which RGB always supplies some; or the
            composition has correct passages, but the counterfactual passages have no twins.
    """
    if composition.passages == 0:
        return ()
    pools = Pools.of(instance)
    generator = random.Random(SEED)  # noqa: S311
    if pools.falsehoods:
        supplied = _counterfactual(instance, pools, composition, generator)
    elif pools.groups:
        if composition.evidence == "":
            problem = "passages: found positives in groups; rgb-compat always supplies some of them, so use balanced"
            raise DataError(instance.origin, problem)
        supplied = _integration(pools, composition, generator)
    else:
        supplied = _base(pools, composition)
    generator.shuffle(supplied)
    return tuple(supplied)


def _base(pools: Pools, composition: Composition) -> list[Passage]:
    """Return the first passages of both pools; if one pool is too short, the other fills the gap."""
    noise = float_count(composition.passages, composition.noise_rate)
    positives = composition.passages - noise
    if composition.noise_rate != 1:
        if noise > len(pools.negatives):
            noise = len(pools.negatives)
            positives = composition.passages - noise
        elif positives > len(pools.positives):
            positives = len(pools.positives)
            noise = composition.passages - positives
    return [*pools.positives[:positives], *pools.negatives[:noise]]


def _integration(pools: Pools, composition: Composition, generator: random.Random) -> list[Passage]:
    """Return at least the first passage of each shuffled group, then alternate groups; negatives fill the rest."""
    groups = [list(group) for group in pools.groups]
    for group in groups:
        generator.shuffle(group)
    turns = [passage for turn in zip_longest(*groups) for passage in turn if passage is not None]
    positives = composition.passages - float_count(composition.passages, composition.noise_rate)
    supplied = turns[: max(positives, len(groups))]
    return supplied + list(pools.negatives[: max(composition.passages - len(supplied), 0)])


def _counterfactual(
    instance: Instance, pools: Pools, composition: Composition, generator: random.Random
) -> list[Passage]:
    """Return sampled false passages, then sampled twins of the other false passages, then the first negatives."""
    noise = float_count(composition.passages, composition.noise_rate)
    correct = float_count(composition.passages, composition.correct_rate)
    wrong = composition.passages - noise - correct
    indices = list(range(len(pools.falsehoods)))
    chosen = generator.sample(indices, min(len(indices), wrong))
    supplied = [pools.falsehoods[index] for index in chosen]
    rest = [index for index in indices if index not in chosen]
    if correct and rest:
        twins = pools.twins(instance, composition.correct_rate)
        supplied += [twins[index] for index in generator.sample(rest, min(len(rest), correct))]
    return supplied + list(pools.negatives[:noise])
