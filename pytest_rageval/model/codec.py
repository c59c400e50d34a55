"""Values to plain builtins and back: what crosses processes and stands in results.json.

What a user's system, metric or loader made is brought to builtins here: numbers of numpy, subclasses of
str, halves of surrogate pairs and NaN would each end the session where it is written down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Gold, Instance, Passage, Turn
from pytest_rageval.model.facts import Facts
from pytest_rageval.model.judging import Verdict, Vote
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = [
    "decode_instance",
    "decode_outcome",
    "encode_facts",
    "encode_instance",
    "encode_outcome",
    "without_texts",
]

Plain = dict[str, Any]


def encode_outcome(outcome: Outcome) -> Plain:
    """Return an outcome as builtins, as results.json has it."""
    plain: Plain = {
        "nodeid": outcome.nodeid,
        "testbed": outcome.testbed,
        "case_id": outcome.case_id,
        "facets": {_text(key): _text(value) for key, value in outcome.facets.items()},
        "system": outcome.system,
        "status": outcome.status,
        "answer": None if outcome.answer is None else _encode_answer(outcome.answer),
        "scores": {name: _encode_score(score) for name, score in outcome.scores.items()},
        "supplied": [_text(name) for name in outcome.supplied],
        "error": None if outcome.error is None else _text(outcome.error),
        "error_type": outcome.error_type,
        "calls": None if outcome.calls is None else _encode_calls(outcome.calls),
    }
    return plain if outcome.history is None else plain | {"history": _turns(outcome.history)}


def decode_outcome(plain: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `encode_outcome` wrote."""
    answer, calls = plain.get("answer"), plain.get("calls")
    return Outcome(
        nodeid=plain["nodeid"],
        case_id=plain["case_id"],
        testbed=plain["testbed"],
        facets=dict(plain["facets"]),
        system=plain["system"],
        status=plain["status"],
        answer=None if answer is None else _decode_answer(answer),
        scores={
            name: _judged(score) if "label" in score else _score(score["value"], score.get("reason"))
            for name, score in plain["scores"].items()
        },
        supplied=tuple(plain["supplied"]),
        error=plain["error"],
        error_type=plain["error_type"],
        calls=None if calls is None else Calls(**calls),
        history=tuple(Turn(**turn) for turn in plain["history"]) if "history" in plain else None,
    )


def encode_instance(instance: Instance) -> Plain:
    """Return an instance, with its whole passage pool, as results.json has it."""
    passages: Plain = {
        _text(p.id): {"text": _text(p.text), "role": p.role}
        | {key: _text(value) for key, value in (("title", p.title), ("page", p.page)) if value}
        for p in instance.passages or ()
    }
    plain: Plain = {
        "question": _text(instance.question),
        "gold": _slots(instance.gold),
        "history": _turns(instance.history),
        "passages": passages,
    }
    if instance.fake:
        plain["fake"] = _slots(instance.fake)
    if instance.qrels:
        plain["qrels"] = {_text(name): int(grade) for name, grade in instance.qrels.items()}
    if instance.provenance:
        plain["provenance"] = _slots(instance.provenance)
    return plain


def decode_instance(name: str, plain: Mapping[str, Any], facets: Mapping[str, str]) -> Instance:
    """Return what `encode_instance` wrote of an instance; its language is that of the facets.

    Raises:
        KeyError: its texts were left out.
    """
    passages = (
        Passage(key, each["text"], each.get("title", ""), each["role"], page=each.get("page", ""))
        for key, each in plain["passages"].items()
    )
    return Instance(
        name,
        plain["question"],
        tuple(map(tuple, plain["gold"])),
        tuple(passages),
        tuple(map(tuple, plain.get("fake", ()))),
        plain.get("qrels", {}),
        tuple(Turn(each["question"], each["answer"]) for each in plain["history"]),
        language=facets.get("language", "en"),
        facets=facets,
        provenance=tuple(map(tuple, plain.get("provenance", ()))),
    )


def encode_facts(facts: Facts) -> Plain:
    """Return what a retriever tells of itself as builtins; an absolute path, as of a model, as its last part."""
    return {_text(key): _without_folder(_scalar(value)) for key, value in facts.items()}


def without_texts(plain: Plain) -> Plain:
    """Return an encoded instance or outcome without any text of the data, of an answer or of a judge's reply."""
    if "passages" in plain:
        passages = {name: {k: p[k] for k in ("role", "page") if k in p} for name, p in plain["passages"].items()}
        return {"passages": passages} | {key: plain[key] for key in ("qrels", "provenance") if key in plain}
    answer = plain["answer"]
    if answer is not None:
        ranking = answer["ranking"]
        known = ("doc_id", "score", "page")
        bare = None if ranking is None else [{key: d[key] for key in known if key in d} for d in ranking]
        answer = {**answer, "text": None, "ranking": bare, "trace": _times(answer["trace"])}
    scores = {name: _bare(score) if "label" in score else score for name, score in plain["scores"].items()}
    kept = {key: value for key, value in plain.items() if key != "history"}
    return {**kept, "answer": answer, "scores": scores, "error": None}


def _times(trace: list[Plain]) -> list[Plain]:
    """Return the steps of a trace that tell how long they took, without what else they tell."""
    timed = [step for step in trace if isinstance(step["detail"].get("seconds"), int | float)]
    kept = ("seconds", "retriever")
    return [{**step, "detail": {key: step["detail"][key] for key in kept if key in step["detail"]}} for step in timed]


def _turns(history: tuple[Turn, ...]) -> list[Plain]:
    return [{"question": _text(turn.question), "answer": _text(turn.answer)} for turn in history]


def _slots(gold: Gold) -> list[list[str]]:
    return [[_text(alias) for alias in slot] for slot in gold]


def _encode_score(score: Score) -> Plain:
    plain: Plain = {"value": _number(score.value)}
    if score.reason is not None:
        plain["reason"] = _text(score.reason)
    return plain if score.verdict is None else plain | _encode_verdict(score.verdict, score.reason)


def _encode_verdict(verdict: Verdict, reason: str | None) -> Plain:
    """Return a verdict as what stands beside a score's value; its problem only where that is not the score's reason."""
    label = _scalar(verdict.label)
    plain: Plain = {
        "label": label,
        "rationale": _text(verdict.rationale),
        "replies": [_text(reply) for reply in verdict.replies],
    }
    problem = verdict.problem or ("not_finite" if label is None else None)
    if problem is not None and problem != reason:
        plain["problem"] = _text(problem)
    if verdict.votes:
        plain["votes"] = [_encode_vote(vote) for vote in verdict.votes]
    if verdict.by != "judge":
        plain["by"] = verdict.by
    return plain


def _encode_vote(vote: Vote) -> Plain:
    plain: Plain = {"model": _text(vote.model), "repeat": int(vote.repeat), "swapped": bool(vote.swapped)}
    return plain | _encode_verdict(vote.verdict, None)


def _encode_calls(calls: Calls) -> Plain:
    return {
        "calls": int(calls.calls),
        "replayed": int(calls.replayed),
        "attempts": int(calls.attempts),
        "prompt_tokens": _count(calls.prompt_tokens),
        "completion_tokens": _count(calls.completion_tokens),
        "cost_usd": _number(calls.cost_usd),
        "spent_usd": _number(calls.spent_usd),
    }


def _encode_answer(answer: Answer) -> Plain:
    return {
        "text": _text(answer.text),
        "abstained": None if answer.abstained is None else bool(answer.abstained),
        "ranking": None if answer.ranking is None else [_encode_scored(item) for item in answer.ranking],
        "trace": [
            {"kind": _text(step.kind), "detail": {_text(key): _scalar(value) for key, value in step.detail.items()}}
            for step in answer.trace
        ],
        "usage": None if answer.usage is None else _encode_usage(answer.usage),
    }


def _encode_usage(usage: Usage) -> Plain:
    return {
        "prompt_tokens": _count(usage.prompt_tokens),
        "completion_tokens": _count(usage.completion_tokens),
        "cost_usd": _number(usage.cost_usd),
        "latency_s": _number(usage.latency_s),
    }


def _encode_scored(item: ScoredPassage) -> Plain:
    plain: Plain = {"doc_id": _text(item.doc_id), "score": _number(item.score)}
    if item.text:
        plain["text"] = _text(item.text)
    if item.title:
        plain["title"] = _text(item.title)
    if item.page:
        plain["page"] = _text(item.page)
    return plain


def _without_folder(value: str | float | bool | None) -> str | float | bool | None:
    """Return the last part of an absolute path, which would tell whose machine it is, and any other value as it is."""
    return PurePath(value).name if isinstance(value, str) and PurePath(value).is_absolute() else value


def _text(value: object) -> str:
    """Return a plain str that can be written as UTF-8: half of a surrogate pair becomes its escape."""
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _number(value: float | None) -> float | None:
    """Return a plain finite number, or None for one that is unknown."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _count(value: int | None) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _scalar(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return _number(value) if isinstance(value, float) else _text(value)


@lru_cache(maxsize=1024)  # most are 0, 1 or not applicable
def _score(value: float | None, reason: str | None) -> Score:
    return Score(value, reason)


def _judged(plain: Mapping[str, Any]) -> Score:
    return Score(plain["value"], plain.get("reason"), _verdict(plain))


def _verdict(plain: Mapping[str, Any]) -> Verdict:
    label = plain["label"]
    problem = plain.get("problem", plain.get("reason")) if label is None else None
    votes = tuple(Vote(v["model"], _verdict(v), v["repeat"], v["swapped"]) for v in plain.get("votes", ()))
    replies = tuple(plain.get("replies", ()))
    return Verdict(label, plain.get("rationale", ""), replies, problem, votes, plain.get("by", "judge"))


def _bare(judged: Plain) -> Plain:
    """Return a judged score or vote without the judge's words; of a reason or problem, which may quote, its kind."""
    kept = {key: value for key, value in judged.items() if key not in ("rationale", "replies")}
    kept |= {key: kept[key].partition(": ")[0] or "unscored" for key in ("reason", "problem") if key in kept}
    return kept | {"votes": [_bare(vote) for vote in kept["votes"]]} if "votes" in kept else kept


def _decode_answer(plain: Mapping[str, Any]) -> Answer:
    ranking = plain["ranking"]
    usage = plain["usage"]
    return Answer(
        text=plain["text"] or "",
        ranking=None if ranking is None else Ranking(tuple(ScoredPassage(**item) for item in ranking)),
        abstained=plain["abstained"],
        trace=tuple(Step(step["kind"], dict(step["detail"])) for step in plain["trace"]),
        usage=None if usage is None else Usage(**usage),
    )
