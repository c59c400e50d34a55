"""Order the ranking of an answer like trec_eval, and read its passages."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import cast

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["NO_QRELS", "NO_RANKING", "NO_TEXTS", "STALE_LABELS", "by_rank", "passage_with_text", "scored"]

NO_QRELS = Score.not_applicable("no_qrels")
NO_RANKING = Score(reason="no_ranking")
"""The case has labels, but the answer does not report what was retrieved."""
NO_TEXTS = Score(reason="no_texts")
"""Only the ids of the retrieved passages are known."""
STALE_LABELS = Score(reason="stale_labels")
"""The ids of the qrels name other text than in the baseline, so the qrels are invalid."""


def scored(ranking: Ranking) -> dict[str, float]:
    """Return the score of each document of a ranking.

    If a passage has no score, the order of the ranking counts, and the scores are made from the places.

    Raises:
        CaseError: a document is listed twice, or a score is not finite.
    """
    run = {item.doc_id: item.score for item in ranking.items}
    if len(run) != len(ranking):
        raise CaseError("bad_ranking", _twice(ranking.doc_ids))
    try:
        total = sum(cast("Iterable[float]", run.values()))
    except TypeError:  # there is a None
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

    It compares scores in single precision; of equal scores, the greater document id comes first.
    """
    run = scored(ranking)
    keys = zip(array("f", run.values()), run, ranking, strict=True)
    return [item for _, _, item in sorted(keys, key=lambda key: key[:2], reverse=True)]


def passage_with_text(item: ScoredPassage, instance: Instance) -> Passage | None:
    """Return a retrieved item as a passage with text, the instance's own if it is one; None if its text is unknown."""
    own = next((passage for passage in instance.passages or () if passage.id == item.doc_id), None)
    if own is not None and item.text in ("", own.text):
        return own
    return Passage(item.doc_id, item.text, item.title) if item.text else None


def _twice(ids: tuple[str, ...]) -> str:
    """Return a message with the document that a ranking lists twice, and its ranks."""
    first: dict[str, int] = {}
    for rank, name in enumerate(ids, 1):
        if first.setdefault(name, rank) != rank:
            return (
                f"the ranking has the document {short_repr(name)} at ranks {first[name]} and {rank}, wanted each once"
            )
    raise AssertionError("no document stands there twice")
