"""What a system saw: the passages and tool results of a run, from its trace, its ranking and the supplied passages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.metrics.rankings.retrieved import supplied_of
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Case
from pytest_rageval.model.facts import RETRIEVE
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.trace.steps import BRANCH, PROGRAM, THOUGHT, TOOL

__all__ = ["Seen", "seen_of"]

_SHOWS_SEARCHES = frozenset({RETRIEVE, TOOL, PROGRAM, THOUGHT, BRANCH})
"""Kinds of steps that only a record of a whole run has. Model calls alone do not show what the code around them
retrieved."""

_DEEPEST = 50


@dataclass(slots=True)
class Seen:
    """The evidence that a run had.

    Attributes:
        passages: the passages, each with its id, and its text if that is known.
        results: texts of tool results.
        is_recorded: whether the run's record shows what was retrieved.
        n_unknown: number of successful calls whose results were not recorded.
    """

    passages: list[ScoredPassage] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    is_recorded: bool = False
    n_unknown: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether the record shows that nothing was retrieved."""
        return self.is_recorded and not (self.passages or self.results or self.n_unknown)

    @property
    def texts(self) -> list[str]:
        """All known texts, those of passages with their titles; in the form of `answer_seen`, so they fold once."""
        passages = (f"{passage.title}\n{passage.text}" for passage in self.passages if passage.title or passage.text)
        return [*passages, *filter(None, self.results)]


def seen_of(case: Case, answer: Answer) -> Seen:
    """Return what a system saw: results and passages of successful calls, its ranking, the supplied passages.

    Prompts, thoughts, arguments, programs and what they print are no evidence: they may hold the model's own guess.
    """
    seen = Seen(is_recorded=any(step.kind in _SHOWS_SEARCHES for step in answer.trace))
    for step in answer.trace:
        if step.kind in (RETRIEVE, TOOL) and not (step.detail.get("error") or step.detail.get("invalid")):
            _add_call(seen, step, has_ranking=answer.ranking is not None)
    if answer.ranking is not None:
        seen.is_recorded = True
        seen.passages += [_with_text(item, case) for item in answer.ranking]
    if case.supplied is not None:
        seen.is_recorded = True
        seen.passages += [ScoredPassage(p.id, None, p.text, p.title, p.page, p.span) for p in case.supplied]
    return seen


def _add_call(seen: Seen, step: Step, *, has_ranking: bool) -> None:
    passages, result = step.detail.get("passages"), step.detail.get("result")
    if isinstance(passages, Sequence) and not isinstance(passages, str):
        seen.passages += [_passage(each) for each in passages if isinstance(each, Mapping)]
    if result is not None:
        seen.results += _texts(result)
    is_known = bool({"passages", "result", "supplied"} & step.detail.keys()) or step.detail.get("found") is False
    if not is_known and not (step.kind == RETRIEVE and has_ranking):
        seen.n_unknown += 1


def _passage(plain: Mapping[str, Any]) -> ScoredPassage:
    doc_id, text, title, page = (str(plain.get(key) or "") for key in ("id", "text", "title", "page"))
    return ScoredPassage(doc_id, None, text, title, page)


def _with_text(item: ScoredPassage, case: Case) -> ScoredPassage:
    """Return a ranked passage; if the record has its text and the system left it out, with the record's text."""
    own = None if item.text else supplied_of(item, case.instance)
    return item if own is None else replace(item, text=own.text, title=item.title or own.title)


def _texts(result: object) -> Iterable[str]:
    """Return the texts of a tool's result; of JSON, also as a string, each of its texts and numbers."""
    if not isinstance(result, str):
        return list(_leaves(result, 0))
    if result.lstrip()[:1] in ("{", "["):
        try:
            return [result, *_leaves(json.loads(result), 0)]  # its escapes hide letters: "Orl\\u00e9ans"
        except (ValueError, RecursionError):
            pass
    return [result]


def _leaves(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for key, each in value.items():
            yield str(key)
            yield from _leaves(each, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth < _DEEPEST:
        for each in value:
            yield from _leaves(each, depth + 1)
    elif value is not None:
        yield str(value)
