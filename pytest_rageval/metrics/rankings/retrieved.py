"""What was retrieved and what was judged: the ranking of an answer, ordered as trec_eval orders it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import cast

from pytest_rageval.errors import CaseError, found
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["NO_QRELS", "NO_RANKING", "NO_TEXTS", "STALE_LABELS", "by_rank", "scored", "supplied_of"]

NO_QRELS = Score.not_applicable("no_qrels")
NO_RANKING = Score.not_applicable("no_ranking")
NO_TEXTS = Score(reason="no_texts")
"""What was retrieved is known by its ids alone."""
STALE_LABELS = Score(reason="stale_labels")
"""The qrels name other text than in the baseline, so that they judge nothing."""


def scored(ranking: Ranking) -> dict[str, float]:
    """Return the score of each document of a ranking.

    The order of a ranking is that of its scores where each passage has one, else the order that it is in; the scores
    are then those of the places. A document that stands there twice, or a score that is not finite, is a `CaseError`.
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
            raise CaseError("bad_ranking", f"the score of {found(name)} is {score}, wanted a finite number or None")
    return scores


def by_rank(ranking: Ranking) -> list[ScoredPassage]:
    """Return the passages best first, as trec_eval ranks them.

    It compares scores in single precision, and of equal ones the greater document id comes first.
    """
    run = scored(ranking)
    keys = zip(array("f", run.values()), run, ranking, strict=True)
    return [item for _, _, item in sorted(keys, key=lambda key: key[:2], reverse=True)]


def supplied_of(item: ScoredPassage, instance: Instance) -> Passage | None:
    """Return what was retrieved as a passage that can be read: the instance's own, where it is one of these.

    None where its text is not known.
    """
    own = next((passage for passage in instance.passages or () if passage.id == item.doc_id), None)
    if own is not None and item.text in ("", own.text):
        return own
    return Passage(item.doc_id, item.text, item.title) if item.text else None


def _twice(ids: tuple[str, ...]) -> str:
    """Return which document of a ranking stands there twice, and where."""
    first: dict[str, int] = {}
    for rank, name in enumerate(ids, 1):
        if first.setdefault(name, rank) != rank:
            return f"the ranking has the document {found(name)} at ranks {first[name]} and {rank}, wanted each once"
    raise AssertionError("no document stands there twice")
