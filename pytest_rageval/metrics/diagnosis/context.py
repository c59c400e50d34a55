"""Collect the context of an answer: the passages and tool results that its system had."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.metrics.rankings.ranked_passages import passage_with_text
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case
from pytest_rageval.model.facts import RETRIEVE
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.trace.steps import BRANCH, PROGRAM, THOUGHT, TOOL

__all__ = ["Context", "context_of"]

_KINDS_OF_FULL_TRACES = frozenset({RETRIEVE, TOOL, PROGRAM, THOUGHT, BRANCH})
"""Kinds of steps that only the trace of a whole run has; a trace of model calls alone does not show retrieval."""

_MAX_DEPTH = 50
"""Maximum depth of a JSON result; a deeper value is read as one text."""


@dataclass(slots=True)
class Context:
    """The passages and tool results that a system had when it answered.

    Attributes:
        passages: the retrieved and supplied passages, with an empty text if it is unknown.
        results: the texts of tool results.
        is_recorded: whether trace, ranking or case show what the system retrieved or received.
        n_unknown: number of successful calls without a recorded result.
    """

    passages: list[ScoredPassage] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    is_recorded: bool = False
    n_unknown: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it is known that nothing was retrieved or supplied."""
        return self.is_recorded and not (self.passages or self.results or self.n_unknown)

    @property
    def texts(self) -> list[str]:
        """All known texts: of passages with their titles, and of tool results."""
        # joined as in `answer_seen`, so both share one cache entry
        passages = (f"{passage.title}\n{passage.text}" for passage in self.passages if passage.title or passage.text)
        return [*passages, *filter(None, self.results)]


def context_of(case: Case, answer: Answer) -> Context:
    """Return the context of an answer: passages and results of successful calls, ranking, supplied passages.

    It excludes prompts, thoughts, arguments, programs and their output, which may contain the model's own guess.
    """
    context = Context(is_recorded=any(step.kind in _KINDS_OF_FULL_TRACES for step in answer.trace))
    for step in answer.trace:
        if step.kind in (RETRIEVE, TOOL) and not (step.detail.get("error") or step.detail.get("invalid")):
            _add_call(context, step, has_ranking=answer.ranking is not None)
    if answer.ranking is not None:
        context.is_recorded = True
        context.passages += [_with_text(item, case) for item in answer.ranking]
    if case.supplied is not None:
        context.is_recorded = True
        context.passages += [ScoredPassage(p.id, None, p.text, p.title, p.page, p.span) for p in case.supplied]
    return context


def _add_call(context: Context, step: Step, *, has_ranking: bool) -> None:
    passages, result = step.detail.get("passages"), step.detail.get("result")
    if isinstance(passages, Sequence) and not isinstance(passages, str):
        context.passages += [_passage(each) for each in passages if isinstance(each, Mapping)]
    if result is not None:
        context.results += _texts(result)
    is_known = bool({"passages", "result", "supplied"} & step.detail.keys()) or step.detail.get("found") is False
    if not is_known and not (step.kind == RETRIEVE and has_ranking):
        context.n_unknown += 1


def _passage(fields: Mapping[str, Any]) -> ScoredPassage:
    doc_id, text, title, page = (str(fields.get(key) or "") for key in ("id", "text", "title", "page"))
    return ScoredPassage(doc_id, None, text, title, page)


def _with_text(item: ScoredPassage, case: Case) -> ScoredPassage:
    """Return a ranked passage, with the text of the record if the system returned none."""
    passage = None if item.text else passage_with_text(item, case.instance)
    return item if passage is None else replace(item, text=passage.text, title=item.title or passage.title)


def _texts(result: object) -> Iterable[str]:
    """Return the texts of a tool result; for JSON, parsed or as a string, also each text and number in it."""
    if not isinstance(result, str):
        return list(_leaves(result, 0))
    if result.lstrip()[:1] in ("{", "["):
        try:
            return [result, *_leaves(json.loads(result), 0)]  # parsed, because escapes hide letters: "Orl\\u00e9ans"
        except (ValueError, RecursionError):
            pass
    return [result]


def _leaves(value: object, depth: int) -> Iterator[str]:
    """Yield the keys, texts and numbers of a JSON value."""
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        for key, each in value.items():
            yield str(key)
            yield from _leaves(each, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth < _MAX_DEPTH:
        for each in value:
            yield from _leaves(each, depth + 1)
    elif value is not None:
        yield str(value)
