"""Values to plain builtins and back: what crosses processes and stands in results.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Instance
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["decode_outcome", "encode_instance", "encode_outcome", "without_texts"]

Plain = dict[str, Any]


def encode_outcome(outcome: Outcome) -> Plain:
    """Return an outcome as builtins, as results.json has it."""
    return {
        "nodeid": outcome.nodeid,
        "testbed": outcome.testbed,
        "case_id": outcome.case_id,
        "facets": dict(outcome.facets),
        "system": outcome.system,
        "status": outcome.status,
        "answer": None if outcome.answer is None else _encode_answer(outcome.answer),
        "scores": {name: _encode_score(score) for name, score in outcome.scores.items()},
        "supplied": list(outcome.supplied),
        "error": outcome.error,
        "error_type": outcome.error_type,
    }


def decode_outcome(plain: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `encode_outcome` wrote."""
    answer = plain.get("answer")
    return Outcome(
        nodeid=plain["nodeid"],
        case_id=plain["case_id"],
        testbed=plain["testbed"],
        facets=dict(plain["facets"]),
        system=plain["system"],
        status=plain["status"],
        answer=None if answer is None else _decode_answer(answer),
        scores={name: Score(score["value"], score.get("reason")) for name, score in plain["scores"].items()},
        supplied=tuple(plain["supplied"]),
        error=plain["error"],
        error_type=plain["error_type"],
    )


def encode_instance(instance: Instance) -> Plain:
    """Return an instance, with its whole passage pool, as results.json has it."""
    passages: Plain = {
        p.id: {"text": p.text, "role": p.role} | ({"title": p.title} if p.title else {})
        for p in instance.passages or ()
    }
    plain: Plain = {
        "question": instance.question,
        "gold": [list(slot) for slot in instance.gold],
        "history": [{"question": t.question, "answer": t.answer} for t in instance.history],
        "passages": passages,
    }
    if instance.fake:
        plain["fake"] = [list(slot) for slot in instance.fake]
    return plain


def without_texts(plain: Plain) -> Plain:
    """Return an encoded instance or outcome without any text of the data or of an answer."""
    if "passages" in plain:
        return {"passages": {name: {"role": p["role"]} for name, p in plain["passages"].items()}}
    answer = plain["answer"]
    if answer is not None:
        ranking = answer["ranking"]
        bare = None if ranking is None else [{"doc_id": d["doc_id"], "score": d["score"]} for d in ranking]
        answer = {**answer, "text": None, "ranking": bare, "trace": []}
    return {**plain, "answer": answer, "error": None}


def _encode_score(score: Score) -> Plain:
    return {"value": score.value} if score.reason is None else {"value": None, "reason": score.reason}


def _encode_answer(answer: Answer) -> Plain:
    return {
        "text": answer.text,
        "abstained": answer.abstained,
        "ranking": None if answer.ranking is None else [_encode_scored(item) for item in answer.ranking],
        "trace": [{"kind": step.kind, "detail": dict(step.detail)} for step in answer.trace],
        "usage": None if answer.usage is None else _encode_usage(answer.usage),
    }


def _encode_usage(usage: Usage) -> Plain:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
        "latency_s": usage.latency_s,
    }


def _encode_scored(item: ScoredPassage) -> Plain:
    plain: Plain = {"doc_id": item.doc_id, "score": item.score}
    if item.text:
        plain["text"] = item.text
    if item.title:
        plain["title"] = item.title
    return plain


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
