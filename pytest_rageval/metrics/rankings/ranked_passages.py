"""Order the passages of a ranking like trec_eval, and return their scores and texts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import cast

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["NO_QRELS", "NO_RANKING", "NO_TEXTS", "STALE_LABELS", "by_rank", "passage_with_text", "scores_by_id"]

NO_QRELS = Score.not_applicable("no_qrels")
NO_RANKING = Score(reason="no_ranking")
"""The reason if the case has labels, but the answer has no ranking."""
NO_TEXTS = Score(reason="no_texts")
"""The reason if the text of a retrieved passage is unknown."""
STALE_LABELS = Score(reason="stale_labels")
"""The reason if the ids of the qrels name other texts than in the baseline, so the qrels are invalid."""


def scores_by_id(ranking: Ranking) -> dict[str, float]:
    """Return document id -> score.

    If a passage has no score, all scores are replaced by numbers that fall from the first passage to the last.

    Raises:
        CaseError: the ranking has a duplicate document, or a score is not finite.
    """
    run = {item.doc_id: item.score for item in ranking.items}
    if len(run) != len(ranking):
        raise CaseError("bad_ranking", _duplicate_message(ranking.doc_ids))
    try:
        total = sum(cast("Iterable[float]", run.values()))
    except TypeError:  # a score is None
        return dict(zip(run, map(float, range(len(run), 0, -1)), strict=True))
    scores = cast("dict[str, float]", run)
    if type(total) is float and math.isfinite(total):
        return scores
    scores = {name: float(score) for name, score in scores.items()}
    for name, score in scores.items():
        if not math.isfinite(score):
            raise CaseError(
                "bad_ranking", f"the score of {short_repr(name)} is {score}, wanted a finite number or None"
            )
    return scores


def by_rank(ranking: Ranking) -> list[ScoredPassage]:
    """Return the passages best first, in trec_eval's order.

    It compares scores in single precision. For equal scores, the greater document id comes first.
    """
    run = scores_by_id(ranking)
    keys = zip(array("f", run.values()), run, ranking, strict=True)
    return [item for _, _, item in sorted(keys, key=lambda key: key[:2], reverse=True)]


def passage_with_text(item: ScoredPassage, instance: Instance) -> Passage | None:
    """Return the record's passage with the id of an item, else a passage with the item's text; None without a text."""
    of_record = next((passage for passage in instance.passages or () if passage.id == item.doc_id), None)
    if of_record is not None and item.text in ("", of_record.text):
        return of_record
    return Passage(item.doc_id, item.text, item.title) if item.text else None


def _duplicate_message(ids: tuple[str, ...]) -> str:
    """Return a message about the first duplicate document of a ranking, with its ranks."""
    first: dict[str, int] = {}
    for rank, name in enumerate(ids, 1):
        if first.setdefault(name, rank) != rank:
            return (
                f"the ranking has the document {short_repr(name)} at ranks {first[name]} and {rank}, wanted each once"
            )
    raise AssertionError("the ranking has no duplicate document")
