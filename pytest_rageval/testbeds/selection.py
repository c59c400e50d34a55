"""Select the cases of a testbed: by facets, by limit, or by a stratified sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.model.case import Case
from pytest_rageval.model.facets import FACETS, matches
from pytest_rageval.testbeds.ids import digest

__all__ = ["select", "stratified"]

K = TypeVar("K")


def select(
    entries: Sequence[Case],
    where: Mapping[str, str],
    limit: int | None,
    sample: int | None,
    seed: int,
    origin: str = "",
) -> list[int]:
    """Return the indices of the selected cases, in order: apply ``where``, then ``limit``, then ``sample``.

    Raises:
        UnknownNameError: ``where`` names an unknown facet that no case has; the message starts with ``origin``.
    """
    if entries and where:
        known = set(FACETS).union(*(case.facets for case in entries))
        for name in where:
            if name not in known:
                raise UnknownNameError("facet", name, known, origin)
    indices = [index for index, case in enumerate(entries) if not where or matches(case.facets, where)][:limit]
    if sample is None:
        return indices
    chosen = stratified([entries[index] for index in indices], sample, seed)
    return [index for place, index in enumerate(indices) if place in chosen]


def stratified(cases: Sequence[Case], n: int, seed: int) -> set[int]:
    """Return the indices of a sample of ``n`` cases, stratified by topic and task; all cases if there are fewer.

    Strata are sampled proportionally (largest remainder), with at least one case per stratum if ``n`` allows it. Within
    a stratum, cases are ranked by a hash of the seed and the id. So a new record changes the sample little, and all
    settings of an instance stay together.
    """
    if n >= len(cases):
        return set(range(len(cases)))
    strata: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, case in enumerate(cases):
        strata[case.facets.get("topic", ""), case.facets.get("task", "")].append(index)
    shares = _shares({stratum: len(members) for stratum, members in sorted(strata.items())}, n)
    chosen: set[int] = set()
    for stratum, members in strata.items():
        ranked = sorted(members, key=lambda index: digest(seed, cases[index].id))
        chosen.update(ranked[: shares[stratum]])
    return chosen


def _shares(sizes: Mapping[K, int], n: int) -> dict[K, int]:
    """Divide ``n`` in proportion to ``sizes`` by largest remainder, with at least 1 each if ``n`` allows it."""
    shares: dict[K, int] = {}
    rest = dict(sizes)
    if n >= len(rest):
        while small := _below_one(rest, n):
            shares.update(dict.fromkeys(small, 1))
            rest = {key: size for key, size in rest.items() if key not in shares}
            n -= len(small)
    total = sum(rest.values())
    shares.update({key: size * n // total for key, size in rest.items()})
    remaining = n - sum(shares[key] for key in rest)
    for key in sorted(rest, key=lambda key: -(rest[key] * n % total))[:remaining]:
        shares[key] += 1
    return shares


def _below_one(sizes: Mapping[K, int], n: int) -> list[K]:
    total = sum(sizes.values())
    return [key for key, size in sizes.items() if size * n < total]
