"""RGB's published assembly, passage for passage: seed 2333 for every instance, float rounding, short pools and all.

After Chen et al., AAAI 2024, and the evaluation code published with it. It draws from a generator of its own, so that
the global one is left alone; the sequence is the same.
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
    """Return ``passages * rate`` rounded up as a float product: 25 * 0.28 is 8."""
    return math.ceil(passages * rate)


def assemble(instance: Instance, asked: Composition, seed: int = SEED) -> tuple[Passage, ...]:
    """Return the passages that RGB supplies, in its order; ``seed`` is not used, RGB's is fixed.

    A record with counterfactual passages is assembled as RGB's counterfactual files are, one with groups of
    positives as its integration files, any other as its base files, whatever the ability.

    Raises:
        DataError: no evidence is wanted of a record with groups, of which RGB always supplies some; or correct
            passages are asked for and the counterfactual ones have no twins.
    """
    if asked.passages == 0:
        return ()
    pools = Pools.of(instance)
    generator = random.Random(SEED)  # noqa: S311
    if pools.falsehoods:
        supplied = _counterfactual(instance, pools, asked, generator)
    elif pools.groups:
        if asked.evidence == "":
            problem = "passages: found positives in groups, of which rgb-compat always supplies some; use balanced"
            raise DataError(instance.origin, problem)
        supplied = _integration(pools, asked, generator)
    else:
        supplied = _base(pools, asked)
    generator.shuffle(supplied)
    return tuple(supplied)


def _base(pools: Pools, asked: Composition) -> list[Passage]:
    """Return the heads of both pools; one pool too short is filled from the other, both too short are not."""
    noise = float_count(asked.passages, asked.noise_rate)
    positives = asked.passages - noise
    if asked.noise_rate != 1:
        if noise > len(pools.negatives):
            noise = len(pools.negatives)
            positives = asked.passages - noise
        elif positives > len(pools.positives):
            positives = len(pools.positives)
            noise = asked.passages - positives
    return [*pools.positives[:positives], *pools.negatives[:noise]]


def _integration(pools: Pools, asked: Composition, generator: random.Random) -> list[Passage]:
    """Return at least the first of each shuffled group, then by turns; negatives fill what is left."""
    groups = [list(group) for group in pools.groups]
    for group in groups:
        generator.shuffle(group)
    turns = [passage for turn in zip_longest(*groups) for passage in turn if passage is not None]
    positives = asked.passages - float_count(asked.passages, asked.noise_rate)
    supplied = turns[: max(positives, len(groups))]
    return supplied + list(pools.negatives[: max(asked.passages - len(supplied), 0)])


def _counterfactual(instance: Instance, pools: Pools, asked: Composition, generator: random.Random) -> list[Passage]:
    """Return a sample of false passages, then one of the true ones among the rest, then the head of the noise."""
    noise = float_count(asked.passages, asked.noise_rate)
    correct = float_count(asked.passages, asked.correct_rate)
    wrong = asked.passages - noise - correct
    indices = list(range(len(pools.falsehoods)))
    chosen = generator.sample(indices, min(len(indices), wrong))
    supplied = [pools.falsehoods[index] for index in chosen]
    rest = [index for index in indices if index not in chosen]
    if correct and rest:
        twins = pools.twins(instance, asked.correct_rate)
        supplied += [twins[index] for index in generator.sample(rest, min(len(rest), correct))]
    return supplied + list(pools.negatives[:noise])
