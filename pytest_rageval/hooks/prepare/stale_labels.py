"""Find stale labels: ids in qrels whose text has changed since the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_rageval.errors import short_repr
from pytest_rageval.model.digests import text_digest

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.model.case import Case, Passage

__all__ = ["digest_labels"]


def digest_labels(collected: Collected, entries: Iterable[Entry], passages: Sequence[Passage]) -> None:
    """Store a digest of each judged passage, and mark the cases whose judged texts changed since the baseline.

    A run that updates the baseline marks no case, but its summary still warns of stale labels.

    Args:
        collected: the session; receives the digests, the stale cases and the warnings.
        entries: the cases whose system searches ``passages``.
        passages: the corpus.
    """
    judged = {entry.ordinal: (entry, ids) for entry in entries if (ids := _judged_ids(entry.case))}
    judged_ids = {name for _, ids in judged.values() for name in ids}
    collected.passages = {each.id: text_digest(each.text) for each in passages if each.id in judged_ids}
    updates, baseline = collected.options.baseline.update, collected.baseline
    if baseline is None:
        return
    if baseline.passages is None:
        if collected.passages and not updates:
            problem = f"the baseline {baseline.path} has no digests of judged passages, so stale labels cannot be found"
            collected.notes.append(f"{problem}; write it anew with --rag-update-baseline")
        return
    digests, baseline_digests = collected.passages, baseline.passages
    changed = {name for name in judged_ids if name in baseline_digests and digests.get(name) != baseline_digests[name]}
    stale = {ordinal: entry for ordinal, (entry, ids) in judged.items() if not changed.isdisjoint(ids)}
    collected.stale = frozenset() if updates else frozenset(stale)
    _warn(collected, [entry for entry, _ in judged.values()], list(stale.values()), changed)


def _warn(collected: Collected, judged: Sequence[Entry], stale: Sequence[Entry], changed: set[str]) -> None:
    """Warn in the summary of each testbed's stale cases, with what to do."""
    for testbed in dict.fromkeys(entry.testbed for entry in stale):
        stale_here = [entry for entry in stale if entry.testbed is testbed]
        first = next(name for name in _judged_ids(stale_here[0].case) if name in changed)
        counts = f"{_n_cases(stale_here)} of {_n_cases(each for each in judged if each.testbed is testbed)}"
        problem = f"stale labels in {counts} judged cases: {short_repr(first)} names other text than in the baseline"
        how = "turn ids into quotes with rageval anchor and the chunking that was labelled"
        how += "" if collected.options.baseline.update else ", or accept the new text with --rag-update-baseline"
        collected.notes.append(f"{testbed.nodeid}: {problem}; {how}")


def _n_cases(entries: Iterable[Entry]) -> int:
    """Return the number of cases; the repeats and systems of a case count once."""
    return len({entry.name for entry in entries})


def _judged_ids(case: Case) -> tuple[str, ...]:
    """Return the ids that the qrels judge relevant to a case; () if its ranking is not judged by ids."""
    if case.supplied is not None or case.relevance != "ids" or case.instance.evidence:
        return ()
    return tuple(name for name, grade in case.qrels.items() if grade > 0)
