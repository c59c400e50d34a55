"""Encode values as builtins for results.json and for other processes, and decode them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Gold, Instance, Passage, Turn
from pytest_rageval.model.evidence_codec import bare_evidence, decode_evidence, encode_evidence
from pytest_rageval.model.facts import Facts
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.plain import Plain, plain_count, plain_number, plain_scalar, plain_text
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.score_codec import bare_score, decode_score, encode_score

__all__ = [
    "decode_answer",
    "decode_instance",
    "decode_outcome",
    "encode_answer",
    "encode_calls",
    "encode_facts",
    "encode_instance",
    "encode_outcome",
    "without_texts",
]


MAX_ANSWER = 2**20
"""Characters of an answer's text that are stored; the whole text is scored."""


def encode_outcome(outcome: Outcome) -> Plain:
    """Return an outcome as builtins, in the form of results.json."""
    plain: Plain = {
        "nodeid": outcome.nodeid,
        "testbed": outcome.testbed,
        "case_id": outcome.case_id,
        "facets": {plain_text(key): plain_text(value) for key, value in outcome.facets.items()},
        "system": outcome.system,
        "status": outcome.status,
        "answer": None if outcome.answer is None else encode_answer(_shorten(outcome.answer)),
        "scores": {name: encode_score(score) for name, score in outcome.scores.items()},
        "supplied": [plain_text(name) for name in outcome.supplied],
        "error": None if outcome.error is None else plain_text(outcome.error),
        "error_type": outcome.error_type,
        "calls": None if outcome.calls is None else encode_calls(outcome.calls),
        "data": outcome.data,
        "said": outcome.said,
        "evidence": plain_number(outcome.evidence),
    }
    if outcome.answer_seen is not None:
        plain["answer_seen"] = plain_number(outcome.answer_seen)
    return plain if outcome.history is None else plain | {"history": _turns(outcome.history)}


def _shorten(answer: Answer) -> Answer:
    """Return the answer with its text cut to `MAX_ANSWER` characters and a note of how many are missing."""
    excess = len(answer.text) - MAX_ANSWER
    if excess <= 0:
        return answer
    return replace(answer, text=f"{answer.text[:MAX_ANSWER]}\n[{excess:,} more characters are not stored]")


def decode_outcome(plain: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `encode_outcome` wrote."""
    answer, calls = plain.get("answer"), plain.get("calls")
    if not all(isinstance(plain[name], str) for name in ("nodeid", "case_id", "testbed", "system")):
        raise TypeError("a name of an outcome is not a text")
    return Outcome(
        nodeid=plain["nodeid"],
        case_id=plain["case_id"],
        testbed=plain["testbed"],
        facets=_texts(plain["facets"]),
        system=plain["system"],
        status=plain["status"],
        answer=None if answer is None else decode_answer(answer),
        scores={name: decode_score(score) for name, score in plain["scores"].items()},
        supplied=tuple(plain["supplied"]),
        error=plain["error"],
        error_type=plain["error_type"],
        calls=None if calls is None else Calls(**calls),
        history=tuple(Turn(**turn) for turn in plain["history"]) if "history" in plain else None,
        data=plain.get("data", ""),
        said=plain.get("said", ""),
        evidence=plain.get("evidence"),
        answer_seen=plain.get("answer_seen"),
    )


def _texts(plain: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in plain.values()):
        raise TypeError("a facet is not a text")
    return dict(plain)


def encode_instance(instance: Instance) -> Plain:
    """Return an instance with its whole passage pool, in the form of results.json."""
    passages: Plain = {
        plain_text(p.id): {"text": plain_text(p.text), "role": p.role}
        | {key: plain_text(value) for key, value in (("title", p.title), ("page", p.page)) if value}
        for p in instance.passages or ()
    }
    plain: Plain = {
        "question": plain_text(instance.question),
        "gold": _slots(instance.gold),
        "history": _turns(instance.history),
        "passages": passages,
    }
    if instance.fake:
        plain["fake"] = _slots(instance.fake)
    if instance.qrels:
        plain["qrels"] = {plain_text(name): int(grade) for name, grade in instance.qrels.items()}
    if instance.provenance:
        plain["provenance"] = _slots(instance.provenance)
    if instance.evidence:
        plain["evidence"] = encode_evidence(instance.evidence)
    if instance.origin:
        plain["origin"] = plain_text(instance.origin)
    return plain


def decode_instance(name: str, plain: Mapping[str, Any], facets: Mapping[str, str]) -> Instance:
    """Return the instance that `encode_instance` wrote; its language comes from the facets.

    Raises:
        KeyError: its texts were removed, see `without_texts`.
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
        evidence=decode_evidence(plain.get("evidence", ())),
        origin=plain.get("origin", ""),
    )


def encode_facts(facts: Facts) -> Plain:
    """Return a retriever's facts as builtins; of an absolute path (of a model), return the last part."""
    return {plain_text(key): _without_folder(plain_scalar(value)) for key, value in facts.items()}


def without_texts(plain: Plain) -> Plain:
    """Return an encoded instance or outcome without the texts of the data, of answers and of judges' replies."""
    if "passages" in plain:
        passages = {name: {k: p[k] for k in ("role", "page") if k in p} for name, p in plain["passages"].items()}
        evidence = {"evidence": bare_evidence(plain["evidence"])} if "evidence" in plain else {}
        return (
            {"passages": passages}
            | {key: plain[key] for key in ("qrels", "provenance", "origin") if key in plain}
            | evidence
        )
    answer = plain["answer"]
    if answer is not None:
        ranking = answer["ranking"]
        keys = ("doc_id", "score", "page")
        bare = None if ranking is None else [{key: d[key] for key in keys if key in d} for d in ranking]
        answer = {**answer, "text": None, "ranking": bare, "trace": _times(answer["trace"])}
    scores = {name: bare_score(score) for name, score in plain["scores"].items()}
    rest = {key: value for key, value in plain.items() if key != "history"}
    return {**rest, "answer": answer, "scores": scores, "error": None}


def _times(trace: list[Plain]) -> list[Plain]:
    """Return the steps of a trace that have a duration, with only their duration and retriever."""
    timed = [step for step in trace if isinstance(step["detail"].get("seconds"), int | float)]
    keys = ("seconds", "retriever")
    return [{**step, "detail": {key: step["detail"][key] for key in keys if key in step["detail"]}} for step in timed]


def _turns(history: tuple[Turn, ...]) -> list[Plain]:
    return [{"question": plain_text(turn.question), "answer": plain_text(turn.answer)} for turn in history]


def _slots(gold: Gold) -> list[list[str]]:
    return [[plain_text(alias) for alias in slot] for slot in gold]


def encode_calls(calls: Calls) -> Plain:
    """Return calls as builtins; unknown sums are None."""
    calls = calls.exact
    return {
        "calls": int(calls.calls),
        "replayed": int(calls.replayed),
        "attempts": int(calls.attempts),
        "prompt_tokens": plain_count(calls.prompt_tokens),
        "completion_tokens": plain_count(calls.completion_tokens),
        "cost_usd": plain_number(calls.cost_usd),
        "spent_usd": plain_number(calls.spent_usd),
    }


def encode_answer(answer: Answer) -> Plain:
    """Return an answer as builtins, in the form of an encoded outcome."""
    return {
        "text": plain_text(answer.text),
        "abstained": None if answer.abstained is None else bool(answer.abstained),
        "ranking": None if answer.ranking is None else [_encode_scored(item) for item in answer.ranking],
        "trace": [
            {
                "kind": plain_text(step.kind),
                "detail": {plain_text(key): plain_scalar(value) for key, value in step.detail.items()},
            }
            for step in answer.trace
        ],
        "usage": None if answer.usage is None else _encode_usage(answer.usage),
    }


def _encode_usage(usage: Usage) -> Plain:
    return {
        "prompt_tokens": plain_count(usage.prompt_tokens),
        "completion_tokens": plain_count(usage.completion_tokens),
        "cost_usd": plain_number(usage.cost_usd),
        "latency_s": plain_number(usage.latency_s),
    }


def _encode_scored(item: ScoredPassage) -> Plain:
    plain: Plain = {"doc_id": plain_text(item.doc_id), "score": plain_number(item.score)}
    if item.text:
        plain["text"] = plain_text(item.text)
    if item.title:
        plain["title"] = plain_text(item.title)
    if item.page:
        plain["page"] = plain_text(item.page)
    return plain


def _without_folder(value: str | float | bool | None) -> str | float | bool | None:
    """Return the last part of an absolute path, because the rest reveals the user's machine; else the value."""
    return PurePath(value).name if isinstance(value, str) and PurePath(value).is_absolute() else value


def decode_answer(plain: Mapping[str, Any]) -> Answer:
    """Return the answer that `encode_answer` wrote."""
    ranking = plain["ranking"]
    usage = plain["usage"]
    return Answer(
        text=plain["text"] or "",
        ranking=None if ranking is None else Ranking(tuple(ScoredPassage(**item) for item in ranking)),
        abstained=plain["abstained"],
        trace=tuple(Step(step["kind"], dict(step["detail"])) for step in plain["trace"]),
        usage=None if usage is None else Usage(**usage),
    )
