"""Encode and decode scores with their judges' verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pytest_rageval.model.outcome import Score
from pytest_rageval.model.plain import Plain, plain_number, plain_scalar, plain_text
from pytest_rageval.model.verdict import Verdict, Vote

__all__ = ["bare_score", "decode_score", "encode_score"]


def encode_score(score: Score) -> Plain:
    """Return a score in the form of results.json."""
    plain: Plain = {"value": plain_number(score.value)}
    if score.reason is not None:
        plain["reason"] = plain_text(score.reason)
    if score.withheld is not None:
        plain["withheld"] = plain_number(score.withheld)
    return plain if score.verdict is None else plain | _encode_verdict(score.verdict, score.reason)


def decode_score(plain: Mapping[str, Any]) -> Score:
    """Return the score that `encode_score` wrote."""
    if "label" in plain or "withheld" in plain:
        verdict = _decode_verdict(plain) if "label" in plain else None
        return Score(plain["value"], plain.get("reason"), verdict, plain.get("withheld"))
    return _score(plain["value"], plain.get("reason"))


def bare_score(plain: Plain) -> Plain:
    """Return a score or vote without the judge's words; a reason or problem is cut to its kind, as it may quote."""
    bare = {key: value for key, value in plain.items() if key not in ("rationale", "replies")}
    bare |= {key: bare[key].partition(": ")[0] or "unscored" for key in ("reason", "problem") if key in bare}
    return bare | {"votes": [bare_score(vote) for vote in bare["votes"]]} if "votes" in bare else bare


def _encode_verdict(verdict: Verdict, reason: str | None) -> Plain:
    """Return a verdict as additional keys of its score; without its problem if that is the score's reason."""
    label = plain_scalar(verdict.label)
    plain: Plain = {
        "label": label,
        "rationale": plain_text(verdict.rationale),
        "replies": [plain_text(reply) for reply in verdict.replies],
    }
    problem = verdict.problem or ("not_finite" if label is None else None)
    if problem is not None and problem != reason:
        plain["problem"] = plain_text(problem)
    if verdict.votes:
        plain["votes"] = [_encode_vote(vote) for vote in verdict.votes]
    if verdict.by != "judge":
        plain["by"] = verdict.by
    return plain


def _encode_vote(vote: Vote) -> Plain:
    plain: Plain = {"model": plain_text(vote.model), "repeat": int(vote.repeat), "swapped": bool(vote.swapped)}
    return plain | _encode_verdict(vote.verdict, None)


@lru_cache(maxsize=1024)  # most are 0, 1 or not applicable
def _score(value: float | None, reason: str | None) -> Score:
    return Score(value, reason)


def _decode_verdict(plain: Mapping[str, Any]) -> Verdict:
    label = plain["label"]
    problem = plain.get("problem", plain.get("reason")) if label is None else None
    votes = tuple(Vote(v["model"], _decode_verdict(v), v["repeat"], v["swapped"]) for v in plain.get("votes", ()))
    replies = tuple(plain.get("replies", ()))
    return Verdict(label, plain.get("rationale", ""), replies, problem, votes, plain.get("by", "judge"))
