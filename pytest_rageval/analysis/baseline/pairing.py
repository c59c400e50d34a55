"""Match the cases of two runs by id or, for renamed cases, by content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.baseline.snapshot import Measured

__all__ = ["Pair", "Pairing", "pair_up"]


@dataclass(frozen=True, slots=True)
class Pair:
    """The same case in two runs."""

    before: Measured
    after: Measured

    @property
    def same_answer(self) -> bool:
        """Whether the system's generated answers have the same texts in both runs."""
        return set(self.before.said) == set(self.after.said)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The matched cases of two runs. Each case is in one attribute, except that ``renamed`` repeats some ``pairs``.

    Attributes:
        pairs: comparable cases: same content, scored in both runs.
        renamed: the ``pairs`` matched by content, because their id, facets or testbed changed.
        changed: cases with the same id and different content.
        failed: cases that one of the runs did not score.
        new: cases of the later run only.
        removed: cases of the earlier run only.
    """

    pairs: tuple[Pair, ...] = ()
    renamed: tuple[Pair, ...] = ()
    changed: tuple[Pair, ...] = ()
    failed: tuple[Pair, ...] = ()
    new: tuple[Measured, ...] = ()
    removed: tuple[Measured, ...] = ()


def pair_up(before: Sequence[Measured], after: Sequence[Measured]) -> Pairing:
    """Match the cases of ``before`` with those of ``after``.

    The following keys are tried in this order. Two cases match if they are the only ones in their runs with this key:

    1. testbed, id, system, facets and content;
    2. key 1 without the id (a renamed case);
    3. key 1 without the facets;
    4. key 2 without the testbed, if neither testbed is in both runs;
    5. key 1 without the content, which changed or is unknown.

    If each run has only one system, the systems are compared even if their names differ.
    """
    one_system_each = all(len({case.system for case in run}) == 1 for run in (before, after))
    rest_before, rest_after = list(before), list(after)
    pairs: list[Pair] = []
    renamed: list[Pair] = []
    in_one_run = {case.testbed for case in before} ^ {case.testbed for case in after}
    for key, new_name in _keys(in_one_run, by_system=not one_system_each):
        matched, rest_before, rest_after = _match(rest_before, rest_after, key)
        pairs += matched
        renamed += matched if new_name else []
    changed = [pair for pair in pairs if _differs(pair)]
    failed = [pair for pair in pairs if not _differs(pair) and (pair.before.failed or pair.after.failed)]
    not_comparable = {id(pair) for pair in (*changed, *failed)}
    return Pairing(
        tuple(pair for pair in pairs if id(pair) not in not_comparable),
        tuple(pair for pair in renamed if id(pair) not in not_comparable),
        tuple(changed),
        tuple(failed),
        tuple(rest_after),
        tuple(rest_before),
    )


_Key = Callable[[Measured], Hashable]


def _keys(testbeds_in_one_run: Collection[str], *, by_system: bool) -> Iterator[tuple[_Key, bool]]:
    """Yield (key function, whether a match is a renamed case), in the order of `pair_up`.

    A key function returns None for a case that it cannot match.
    """

    def system(case: Measured) -> str:
        return case.system if by_system else ""

    def facets(case: Measured) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(case.facets.items()))

    yield lambda case: (case.testbed, case.case, case.data, system(case), facets(case)) if case.data else None, False
    yield lambda case: (case.testbed, case.data, system(case), facets(case)) if case.data else None, True
    yield lambda case: (case.testbed, case.data, system(case), case.case) if case.data else None, True
    yield (
        lambda case: (
            (case.data, system(case), facets(case)) if case.data and case.testbed in testbeds_in_one_run else None
        ),
        True,
    )
    yield lambda case: (case.testbed, case.case, system(case), facets(case)), False


def _match(
    before: Sequence[Measured], after: Sequence[Measured], key: _Key
) -> tuple[list[Pair], list[Measured], list[Measured]]:
    """Return the pairs whose key is unique on both sides, and the remaining cases of both sides."""
    old, new = _by_key(before, key), _by_key(after, key)
    pairs = [Pair(old[k][0], cases[0]) for k, cases in new.items() if len(cases) == len(old.get(k, ())) == 1]
    matched = {id(case) for pair in pairs for case in (pair.before, pair.after)}
    rest_before = [case for case in before if id(case) not in matched]
    return pairs, rest_before, [case for case in after if id(case) not in matched]


def _by_key(cases: Iterable[Measured], key: _Key) -> dict[Hashable, list[Measured]]:
    by_key: dict[Hashable, list[Measured]] = {}
    for case in cases:
        if (at := key(case)) is not None:
            by_key.setdefault(at, []).append(case)
    return by_key


def _differs(pair: Pair) -> bool:
    """Return whether the content is known in both runs and differs."""
    return bool(pair.before.data and pair.after.data) and pair.before.data != pair.after.data
