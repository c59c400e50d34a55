"""Decide whether the evidence for the gold answer was retrieved or supplied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_rageval.metrics.answers.squad import normalize
from pytest_rageval.metrics.diagnosis.context import Context
from pytest_rageval.metrics.rankings.evidence_share import evidence_share
from pytest_rageval.metrics.rankings.relevance import by_evidence
from pytest_rageval.metrics.shared.whole_words import contains_whole
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Grounded, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

__all__ = ["grounding_of"]

_LABELS = frozenset(
    {"yes", "no", "true", "false", "supports", "refutes", "not enough info", "是", "否", "对", "错", "真", "假"}
)
"""Answers that are labels: a text that contains one is no evidence for it."""


def grounding_of(case: Case, context: Context) -> Grounded:
    """Return whether a context contains the evidence for the gold answer: "yes", "no" or "unknown".

    The first rule that applies decides:

    1. If nothing was retrieved or supplied: no.
    2. If the context contains one whole alternative of the evidence that the record names: yes. An alternative is all
       units of its ``evidence``, all pages of one set of its ``provenance``, or one relevant document of its qrels.
    3. If the texts of the context contain every gold slot as whole words: yes. This rule does not apply if the gold
       answer is a label such as yes or SUPPORTS, or if no text was recorded.
    4. If rule 2 or rule 3 could be checked: no. Otherwise: unknown.
    """
    if context.is_empty:
        return "no"
    labelled = _has_labelled_evidence(case, context)
    if labelled:
        return "yes"
    contained = _contains_gold(case, context)
    if contained:
        return "yes"
    return "unknown" if labelled is None and contained is None else "no"


def _has_labelled_evidence(case: Case, context: Context) -> bool | None:
    """Return whether a context contains one whole alternative of the evidence; None if that is unknown."""
    if by_evidence(case):
        return _has_units(case, context)
    with_ids = [passage for passage in context.passages if passage.doc_id or passage.page]
    if not with_ids:
        return None
    sets = [frozenset(pages) for pages in case.instance.provenance if pages]
    if sets:
        pages = {passage.page_id for passage in with_ids}
        return any(pages >= each for each in sets)
    relevant = {name for name, grade in case.qrels.items() if grade > 0}
    if not relevant or case.stale or case.relevance != "ids":
        return None
    return any(passage.doc_id in relevant or passage.page_id in relevant for passage in with_ids)


def _has_units(case: Case, context: Context) -> bool | None:
    """Return whether a context contains every unit of one alternative; None if that is unknown."""
    items = _distinct([*context.passages, *(ScoredPassage("", None, text) for text in context.results)])
    with_text = tuple(item for item in items if item.text)
    for ranking in (items, with_text):  # if the share is unknown, try again without items of unknown text
        share = evidence_share(Sample(case, Answer("", Ranking(ranking))))
        if not isinstance(share, Score):
            return True if share == 1 else (None if ranking is not items else False)
    return None


def _distinct(items: Iterable[ScoredPassage]) -> tuple[ScoredPassage, ...]:
    """Return the items with distinct ids; a second text with the same id gets a new id and keeps its page."""
    by_id: dict[str, ScoredPassage] = {}
    for item in items:
        same = by_id.get(item.doc_id)
        if same is None and item.doc_id:
            by_id[item.doc_id] = replace(item, score=None)
        elif item.text and (same is None or item.text != same.text):
            doc_id = f"{item.doc_id}\0{len(by_id)}"
            by_id[doc_id] = replace(item, doc_id=doc_id, score=None, page=item.page_id)
    return tuple(by_id.values())


def _contains_gold(case: Case, context: Context) -> bool | None:
    """Return whether the texts of a context contain every gold slot; None if that would prove nothing."""
    texts = context.texts
    slots = [[alias for alias in slot if not _is_label(alias)] for slot in case.instance.gold]
    if not texts or not all(slots) or case.facets.get("gold_kind") == "label":
        return None
    return all(any(contains_whole(text, alias) for alias in slot for text in texts) for slot in slots)


def _is_label(alias: str) -> bool:
    """Return whether an alias is a label, or has no word, so that a text with it proves nothing."""
    plain = normalize(alias)
    return not plain or plain in _LABELS
