"""Counterfactual twins: passages that state another value than the gold answer, and differ in nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random
from typing import Any

from pytest_rageval.generation.abilities.answer import Answer
from pytest_rageval.generation.abilities.edit import Drop, Edit, edited
from pytest_rageval.generation.abilities.lies import is_decided, read_answer
from pytest_rageval.generation.abilities.name_answers import Names
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.case import NOTHING, Gold, Instance, Passage
from pytest_rageval.testbeds.ids import digest

__all__ = ["Counterfactual", "counterfactual", "twin"]

_TRIES = 48
_OF_THE_VALUE = frozenset({"fake_already_there", "other_form"})
"""Reasons that another value may avoid."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The lie about one record.

    Attributes:
        fake: the false answer, as slots of aliases; empty if there is none.
        twins: id of a positive passage -> its twin with the role counterfactual.
        dropped: id of a positive passage without a twin -> why.
        reason: why there is no lie at all; None if there is one.
    """

    fake: Gold = ()
    twins: Mapping[str, Passage] = field(default_factory=dict)
    dropped: Mapping[str, Drop] = field(default_factory=dict)
    reason: Drop | None = None


Lie = tuple[tuple[Answer[Any], Any], ...]
"""For each slot of the gold its answer and another value."""


def counterfactual(
    instance: Instance, positives: Sequence[Passage], seed: int = 0, names: Names = ()
) -> Counterfactual:
    """Return one lie about a record, with a twin of each positive passage that a rule can change.

    The result depends on nothing but the arguments; the values are drawn by the seed and the record's id.

    Args:
        instance: the record with its question and gold answer.
        positives: the passages that state the answer.
        seed: decides the value.
        names: lists of names of one kind; a gold name becomes another one of its list.
    """
    if not instance.gold or not positives:
        return Counterfactual(reason=Drop("no_positive" if instance.gold else "no_gold"))
    answers: list[Answer[Any]] = []
    for slot in instance.gold:
        answer = read_answer(slot, names)
        if isinstance(answer, Drop):
            return Counterfactual(reason=answer)
        answers.append(answer)
    best: Counterfactual | None = None
    for lie in _lies(instance, answers, Random(int.from_bytes(digest(seed, instance.id), "big"))):  # noqa: S311
        made = _with_twins(positives, lie)
        if best is None or len(made.twins) > len(best.twins):
            best = made
        if all(drop.reason not in _OF_THE_VALUE for drop in made.dropped.values()):
            break
    if best is None:
        return Counterfactual(reason=Drop("no_other_value", "no other value is decided by a rule"))
    if not best.twins:
        reasons = Counter(drop.reason for drop in best.dropped.values())
        first = next(drop for drop in best.dropped.values() if drop.reason == reasons.most_common(1)[0][0])
        return Counterfactual(reason=first, dropped=best.dropped)
    return best


def twin(passage: Passage, lie: Lie) -> Passage | Drop:
    """Return the passage with another answer, as a counterfactual one, or why a rule cannot change it.

    All spans that state the answer change, in the text and in the title, and nothing else.
    """
    whole = f"{passage.title}\n{passage.text}"
    edits: list[Edit] = []
    for answer, value in lie:
        more = answer.edits(whole, value)
        if isinstance(more, Drop):
            return more
        edits += more
    if any(one.start < other.end and other.start < one.end for one, other in combinations(edits, 2)):
        return Drop("ambiguous_value", "two slots are stated by one span")
    if not edits:
        return Drop("answer_not_in_passage")
    for answer, value in lie:
        if _states(answer, whole, value):
            return Drop("fake_already_there", f"{answer.fakes(value)[0]} is in the passage")
    cut = len(passage.title)
    title = edited(passage.title, [edit for edit in edits if edit.end <= cut])
    text = edited(passage.text, [Edit(e.start - cut - 1, e.end - cut - 1, e.text) for e in edits if e.start > cut])
    for answer, value in lie:
        if answer.left_in(f"{title}\n{text}"):
            return Drop("old_value_left", "the passage states the answer in another form, too")
        fakes = answer.fakes(value)
        if answer.left_in(whole) and not any(contains(f"{title}\n{text}", fake) for fake in fakes):
            return Drop("other_form", "the passage writes the answer in another form")
    name = f"{passage.id}-counterfactual"
    return replace(
        passage, id=name, text=text, title=title, role="counterfactual", page="", span=None, metadata=NOTHING
    )


def _states(answer: Answer[Any], text: str, value: Any) -> bool:
    """Return whether a text holds a value, as words or read by the rules of its kind."""
    return answer.states(text, value) or any(contains(text, fake) for fake in answer.fakes(value))


def _with_twins(positives: Sequence[Passage], lie: Lie) -> Counterfactual:
    results = {passage.id: twin(passage, lie) for passage in positives}
    return Counterfactual(
        tuple(answer.fakes(value) for answer, value in lie),
        {name: each for name, each in results.items() if isinstance(each, Passage)},
        {name: each for name, each in results.items() if isinstance(each, Drop)},
    )


def _lies(instance: Instance, answers: Sequence[Answer[Any]], random: Random) -> Iterator[Lie]:
    """Yield lies that a rule decides: every slot has another value, and none is in the question.

    A slot without further values keeps its last one.
    """
    waiting = [
        _decided(instance.question, slot, each, random) for slot, each in zip(instance.gold, answers, strict=True)
    ]
    values: list[Any] = []
    for drawn in waiting:
        first = next(drawn, None)
        if first is None:
            return
        values.append(first)
    for _ in range(_TRIES):
        yield tuple(zip(answers, values, strict=True))
        further = [next(drawn, None) for drawn in waiting]
        if not any(each is not None for each in further):
            return
        values = [old if new is None else new for old, new in zip(values, further, strict=True)]


def _decided(question: str, slot: tuple[str, ...], answer: Answer[Any], random: Random) -> Iterator[Any]:
    """Yield the other values of a slot that a rule decides, each once."""
    seen = set()
    for value in answer.others(random):
        if value in seen or _states(answer, question, value):
            continue
        seen.add(value)
        if is_decided(question, slot, answer.fakes(value), answer.kind):
            yield value
