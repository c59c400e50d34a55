"""Encode values as JSON builtins for results.json and other processes, and decode them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Instance
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.facts import Facts
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.plain import Plain, plain_scalar, plain_text
from pytest_rageval.model.private_fields import without_private

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
"""Number of characters of an answer that are stored; the scores are computed from the whole text."""

_TEXT_FREE_KEYS = (
    "parent", "seconds", "retriever", "name", "model", "reason", "invalid", "path", "depth", "outcome",
    "prompt_tokens", "completion_tokens", "attempts", "replayed", "finish_reason",
)  # fmt: skip
"""The keys of a step whose values never contain texts of the data or of the model."""

_EXCEPTION_CLASS = re.compile(r"[A-Za-z_][\w.]*(?=:|$)")
"""The exception's class in an error such as "ValueError: no such page"."""


def encode_outcome(outcome: Outcome) -> Plain:
    """Return an outcome as builtins, in the form of results.json."""
    answer, calls = outcome.answer, outcome.calls
    if answer is not None and len(answer.text) > MAX_ANSWER:
        outcome = replace(outcome, answer=_shorten(answer))
    if calls is not None and calls.on_their_way:
        outcome = replace(outcome, calls=calls.exact)
    return encoder(Outcome)(outcome)


def decode_outcome(plain: Mapping[str, Any], facets: Mapping[str, str] | None = None) -> Outcome:
    """Return the outcome that `encode_outcome` encoded; if its facets equal ``facets``, it shares that mapping."""
    outcome: Outcome = decoder(Outcome)(plain)
    if facets == outcome.facets:
        _set_facets(outcome, facets)
    return outcome


_set_facets = vars(Outcome)["facets"].__set__  # a slot, as in `derived_codec`


def encode_answer(answer: Answer) -> Plain:
    """Return an answer as builtins, in the form of an encoded outcome."""
    return encoder(Answer)(answer)


def decode_answer(plain: Mapping[str, Any]) -> Answer:
    """Return the answer that `encode_answer` encoded."""
    answer: Answer = decoder(Answer)(plain)
    return answer


def encode_calls(calls: Calls) -> Plain:
    """Return calls as builtins; sums that are only lower bounds are None."""
    return encoder(Calls)(calls.exact)


def encode_instance(instance: Instance) -> Plain:
    """Return an instance with all its passages, in the form of results.json."""
    return encoder(Instance)(instance)


def decode_instance(name: str, plain: Mapping[str, Any], facets: Mapping[str, str]) -> Instance:
    """Return the instance that `encode_instance` encoded; its language comes from the facets.

    Raises:
        KeyError: its texts were removed, see `without_texts`.
    """
    instance: Instance = decoder(Instance)(plain, name, language=facets.get("language", "en"), facets=facets)
    return instance


def encode_facts(facts: Facts) -> Plain:
    """Return a retriever's facts as builtins; an absolute path, such as that of a model, is cut to its last part."""
    return {plain_text(key): _without_folder(plain_scalar(value)) for key, value in facts.items()}


def without_texts(plain: Plain) -> Plain:
    """Return an encoded instance or outcome without the texts of the data, of answers and of judges' replies."""
    if "passages" in plain:
        public = without_private(Instance, plain)
        if "evidence" in public:
            public["evidence"] = public.pop("evidence")  # stays the last key, as in older files
        return public
    public = without_private(Outcome, plain)
    if public["answer"] is not None:
        public["answer"]["trace"] = [_step_without_texts(step) for step in public["answer"]["trace"]]
    return public


def _shorten(answer: Answer) -> Answer:
    """Return the answer with its text cut to `MAX_ANSWER` characters and a note of how many are missing."""
    excess = len(answer.text) - MAX_ANSWER
    return replace(answer, text=f"{answer.text[:MAX_ANSWER]}\n[{excess:,} more characters are not stored]")


def _step_without_texts(step: Plain) -> Plain:
    """Return a step without texts: only names, numbers, and the ids and scores of its passages."""
    detail = step["detail"]
    public = _scalars(detail, _TEXT_FREE_KEYS)
    if detail.get("error"):
        match = _EXCEPTION_CLASS.match(str(detail["error"]))
        public["error"] = match[0] if match else "error"
    if isinstance(detail.get("passages"), list):
        public["passages"] = [_scalars(each, ("id", "score")) for each in detail["passages"] if isinstance(each, dict)]
    return {**step, "detail": public}


def _scalars(values: Plain, keys: Iterable[str]) -> Plain:
    return {key: values[key] for key in keys if key in values and not isinstance(values[key], dict | list)}


def _without_folder(value: str | float | bool | None) -> str | float | bool | None:
    """Return the last part of an absolute path, because the other parts reveal the user's machine; else the value."""
    return PurePath(value).name if isinstance(value, str) and PurePath(value).is_absolute() else value
