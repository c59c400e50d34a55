"""Match the cases of two runs: by id, else by content, to keep the history of renamed cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.baseline.measured import Measured

__all__ = ["Pair", "Pairing", "pair_up"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A case in two runs."""

    before: Measured
    after: Measured

    @property
    def same_answer(self) -> bool:
        """Whether both runs gave the same answers, as far as known."""
        return set(self.before.said) == set(self.after.said)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The cases of two runs, each in one attribute; ``renamed`` repeats some of ``pairs``.

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

    Cases match by the following keys, one after the other, if exactly one case of each run has the key:

    1. testbed, id, system, facets and content;
    2. the same without the id (a renamed case);
    3. the same as 1 without the facets;
    4. the same as 2 without the testbed, if each of the two testbeds is in one run only;
    5. the same as 1 without the content: it changed or is unknown.

    If each run has only one system, the systems are compared even if their names differ.
    """
    one_each = all(len({case.system for case in side}) == 1 for side in (before, after))
    rest, others = list(before), list(after)
    pairs: list[Pair] = []
    renamed: list[Pair] = []
    moved = {case.testbed for case in before} ^ {case.testbed for case in after}
    for key, new_name in _keys(moved, by_system=not one_each):
        matched, rest, others = _matched(rest, others, key)
        pairs += matched
        renamed += matched if new_name else []
    changed = [pair for pair in pairs if _differs(pair)]
    failed = [pair for pair in pairs if not _differs(pair) and (pair.before.failed or pair.after.failed)]
    apart = {id(pair) for pair in (*changed, *failed)}
    return Pairing(
        tuple(pair for pair in pairs if id(pair) not in apart),
        tuple(pair for pair in renamed if id(pair) not in apart),
        tuple(changed),
        tuple(failed),
        tuple(others),
        tuple(rest),
    )


_Key = Callable[[Measured], Hashable]


def _keys(moved: Collection[str], *, by_system: bool) -> Iterator[tuple[_Key, bool]]:
    """Yield the keys of `pair_up` in order, and whether a match by it is a renamed case; a None key matches nothing."""

    def system(case: Measured) -> str:
        return case.system if by_system else ""

    def facets(case: Measured) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(case.facets.items()))

    yield lambda case: (case.testbed, case.case, case.data, system(case), facets(case)) if case.data else None, False
    yield lambda case: (case.testbed, case.data, system(case), facets(case)) if case.data else None, True
    yield lambda case: (case.testbed, case.data, system(case), case.case) if case.data else None, True
    yield lambda case: (case.data, system(case), facets(case)) if case.data and case.testbed in moved else None, True
    yield lambda case: (case.testbed, case.case, system(case), facets(case)), False


def _matched(
    before: Sequence[Measured], after: Sequence[Measured], key: _Key
) -> tuple[list[Pair], list[Measured], list[Measured]]:
    """Return the pairs whose key is unique on both sides, and the remaining cases of both sides."""
    mine, theirs = _by_key(before, key), _by_key(after, key)
    pairs = [Pair(mine[k][0], cases[0]) for k, cases in theirs.items() if len(cases) == len(mine.get(k, ())) == 1]
    paired = {id(case) for pair in pairs for case in (pair.before, pair.after)}
    left = [case for case in before if id(case) not in paired]
    return pairs, left, [case for case in after if id(case) not in paired]


def _by_key(cases: Iterable[Measured], key: _Key) -> dict[Hashable, list[Measured]]:
    by_key: dict[Hashable, list[Measured]] = {}
    for case in cases:
        if (at := key(case)) is not None:
            by_key.setdefault(at, []).append(case)
    return by_key


def _differs(pair: Pair) -> bool:
    """Return whether the two are known to have different content."""
    return bool(pair.before.data and pair.after.data) and pair.before.data != pair.after.data
