"""Decide whether the evidence for the gold answer was retrieved or supplied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_rageval.metrics.answers.squad import normalize
from pytest_rageval.metrics.diagnosis.seen import Seen
from pytest_rageval.metrics.rankings.evidence_share import evidence_share
from pytest_rageval.metrics.rankings.relevance import by_evidence
from pytest_rageval.metrics.shared.whole_words import contains_whole
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Grounded, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

__all__ = ["grounded"]

_LABELS = frozenset(
    {"yes", "no", "true", "false", "supports", "refutes", "not enough info", "是", "否", "对", "错", "真", "假"}
)
"""Answers that are labels. A text has them by chance or never; that it does says nothing."""


def grounded(case: Case, seen: Seen) -> Grounded:
    """Return whether a system saw the evidence for the gold answer: "yes", "no" or "unknown".

    The first rule that applies decides:

    1. If nothing was retrieved or supplied: no.
    2. If the record names its evidence and one alternative of it was seen as a whole: yes. This is all units of its
       ``evidence``, all pages of one set of its ``provenance``, or one relevant document of its qrels.
    3. If every gold slot is in the texts that were seen, as whole words: yes. This is not asked if the gold answer is a
       label such as yes or SUPPORTS, or if no text was recorded.
    4. If one of 2 and 3 could be asked: no. Otherwise unknown.
    """
    if seen.is_nothing:
        return "no"
    labelled = _has_labelled_evidence(case, seen)
    if labelled:
        return "yes"
    contained = _contains_gold(case, seen)
    if contained:
        return "yes"
    return "unknown" if labelled is None and contained is None else "no"


def _has_labelled_evidence(case: Case, seen: Seen) -> bool | None:
    """Return whether one whole alternative of the evidence was seen; None if that is unknown."""
    if by_evidence(case):
        return _has_units(case, seen)
    named = [passage for passage in seen.passages if passage.doc_id or passage.page]
    if not named:
        return None
    sets = [frozenset(pages) for pages in case.instance.provenance if pages]
    if sets:
        pages = {passage.page_id for passage in named}
        return any(pages >= each for each in sets)
    relevant = {name for name, grade in case.qrels.items() if grade > 0}
    if not relevant or case.stale or case.relevance != "ids":
        return None
    return any(passage.doc_id in relevant or passage.page_id in relevant for passage in named)


def _has_units(case: Case, seen: Seen) -> bool | None:
    """Return whether what was seen holds every unit of one alternative; None if unknown."""
    items = _distinct([*seen.passages, *(ScoredPassage("", None, text) for text in seen.results)])
    with_text = tuple(item for item in items if item.text)
    for known in (items, with_text):
        share = evidence_share(Sample(case, Answer("", Ranking(known))))
        if not isinstance(share, Score):
            return True if share == 1 else (None if known is not items else False)
    return None


def _distinct(items: Iterable[ScoredPassage]) -> tuple[ScoredPassage, ...]:
    """Return the items under distinct ids; another text of the same id keeps its page."""
    by_id: dict[str, ScoredPassage] = {}
    for item in items:
        same = by_id.get(item.doc_id)
        if same is None and item.doc_id:
            by_id[item.doc_id] = replace(item, score=None)
        elif item.text and (same is None or item.text != same.text):
            doc_id = f"{item.doc_id}\0{len(by_id)}"
            by_id[doc_id] = replace(item, doc_id=doc_id, score=None, page=item.page_id)
    return tuple(by_id.values())


def _contains_gold(case: Case, seen: Seen) -> bool | None:
    """Return whether the seen texts contain every gold slot; None if that cannot be asked."""
    texts = seen.texts
    slots = [[alias for alias in slot if not _is_label(alias)] for slot in case.instance.gold]
    if not texts or not all(slots) or case.facets.get("gold_kind") == "label":
        return None
    return all(any(contains_whole(text, alias) for alias in slot for text in texts) for slot in slots)


def _is_label(alias: str) -> bool:
    """Return whether an alias says nothing if a text contains it: a label, or a text without any word."""
    plain = normalize(alias)
    return not plain or plain in _LABELS
