"""Which case of one run is which of another: by id, else by content, so that a new name loses no history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.measured import Measured

__all__ = ["Pair", "Pairing", "pair_up"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A case in two runs."""

    before: Measured
    after: Measured

    @property
    def same_answer(self) -> bool:
        """Whether both gave the same answers, as far as these are known."""
        return set(self.before.said) == set(self.after.said)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The cases of two runs, each in one of these but for ``renamed``.

    Attributes:
        pairs: what can be compared: of the same content, and scored in both runs.
        renamed: those of ``pairs`` that were found by their content, as their id, facets or testbed are new.
        changed: cases of one id whose content is no longer the same.
        failed: cases that one of the runs did not score.
        new: cases of the later run alone.
        gone: cases of the earlier run alone.
    """

    pairs: tuple[Pair, ...] = ()
    renamed: tuple[Pair, ...] = ()
    changed: tuple[Pair, ...] = ()
    failed: tuple[Pair, ...] = ()
    new: tuple[Measured, ...] = ()
    gone: tuple[Measured, ...] = ()


def pair_up(before: Sequence[Measured], after: Sequence[Measured]) -> Pairing:
    """Return which cases of ``before`` are which of ``after``.

    Cases are one by testbed, id, system, facets and content; what is left, by content: with the same facets under
    another id, with the same id under other facets, and with the same facets in another testbed where only one of the
    runs knows either testbed, each time if just one on either side can be meant. Last comes what has the same id,
    whose content then is another or is not known. Where each run has one system, these are compared, whatever their
    names.
    """
    one_each = all(len({case.system for case in side}) == 1 for side in (before, after))
    rest, others = list(before), list(after)
    found: list[Pair] = []
    renamed: list[Pair] = []
    moved = {case.testbed for case in before} ^ {case.testbed for case in after}
    for key, new_name in _keys(moved, named=not one_each):
        matched, rest, others = _matched(rest, others, key)
        found += matched
        renamed += matched if new_name else []
    changed = [pair for pair in found if _differs(pair)]
    failed = [pair for pair in found if not _differs(pair) and (pair.before.failed or pair.after.failed)]
    apart = {id(pair) for pair in (*changed, *failed)}
    return Pairing(
        tuple(pair for pair in found if id(pair) not in apart),
        tuple(pair for pair in renamed if id(pair) not in apart),
        tuple(changed),
        tuple(failed),
        tuple(others),
        tuple(rest),
    )


_Key = Callable[[Measured], Hashable]


def _keys(moved: Collection[str], *, named: bool) -> Iterator[tuple[_Key, bool]]:
    """Yield by what cases are found, one after the other, and whether they then have a new name; None is no key."""

    def system(case: Measured) -> str:
        return case.system if named else ""

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
    """Return the pairs of one key, where it is one case's on either side, and what is left of both sides."""
    mine, theirs = _by_key(before, key), _by_key(after, key)
    pairs = [Pair(mine[k][0], cases[0]) for k, cases in theirs.items() if len(cases) == len(mine.get(k, ())) == 1]
    taken = {id(case) for pair in pairs for case in (pair.before, pair.after)}
    left = [case for case in before if id(case) not in taken]
    return pairs, left, [case for case in after if id(case) not in taken]


def _by_key(cases: Iterable[Measured], key: _Key) -> dict[Hashable, list[Measured]]:
    found: dict[Hashable, list[Measured]] = {}
    for case in cases:
        if (at := key(case)) is not None:
            found.setdefault(at, []).append(case)
    return found


def _differs(pair: Pair) -> bool:
    """Return whether the two are known to be of other contents."""
    return bool(pair.before.data and pair.after.data) and pair.before.data != pair.after.data
