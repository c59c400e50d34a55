"""Make counterfactual twins: copies of passages that state a false value of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random
from typing import Any

from pytest_rageval.generation.abilities.answer import Answer
from pytest_rageval.generation.abilities.answer_reading import is_decided, read_answer
from pytest_rageval.generation.abilities.edit import Drop, Edit, apply_edits
from pytest_rageval.generation.abilities.name_answers import Names
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.case import NOTHING, Gold, Instance, Passage
from pytest_rageval.testbeds.ids import digest

__all__ = ["Counterfactual", "make_counterfactual", "make_twin"]

_MAX_TRIES = 48
"""Maximum number of false answers to try for one record."""

_REASONS_OF_VALUES = frozenset({"fake_already_there", "other_form"})
"""Reasons that depend on the false value: another one may avoid them."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The false answer to one record, with the passages that state it.

    Attributes:
        fake: the false answer, as slots of aliases; empty if there is none.
        twins: id of a positive passage -> its twin with the role counterfactual.
        dropped: id of a positive passage without a twin -> why.
        reason: why there is no false answer; None if there is one.
    """

    fake: Gold = ()
    twins: Mapping[str, Passage] = field(default_factory=dict)
    dropped: Mapping[str, Drop] = field(default_factory=dict)
    reason: Drop | None = None


FalseValues = tuple[tuple[Answer[Any], Any], ...]
"""The gold answer and the false value of each slot."""


def make_counterfactual(
    instance: Instance, positives: Sequence[Passage], seed: int = 0, names: Names = ()
) -> Counterfactual:
    """Return a false answer to a record, with a twin of each positive passage that a rule can change.

    The result depends only on the arguments: the seed and the record's id decide the values.

    Args:
        instance: the record with its question and gold answer.
        positives: the passages that state the answer.
        seed: decides the value.
        names: lists of names of one kind; another name of its list replaces a gold name.
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
    random = Random(int.from_bytes(digest(seed, instance.id), "big"))  # noqa: S311
    for false_values in _false_values(instance, answers, random):
        candidate = _with_twins(positives, false_values)
        if best is None or len(candidate.twins) > len(best.twins):
            best = candidate
        if all(drop.reason not in _REASONS_OF_VALUES for drop in candidate.dropped.values()):
            break
    if best is None:
        return Counterfactual(reason=Drop("no_other_value", "no rule knows another value to be false"))
    if not best.twins:
        reasons = Counter(drop.reason for drop in best.dropped.values())
        first = next(drop for drop in best.dropped.values() if drop.reason == reasons.most_common(1)[0][0])
        return Counterfactual(reason=first, dropped=best.dropped)
    return best


def make_twin(passage: Passage, false_values: FalseValues) -> Passage | Drop:
    """Return the passage with the false answer and the role counterfactual, or why a rule cannot change it.

    Only the spans that state the answer change, in the text and in the title.
    """
    original = f"{passage.title}\n{passage.text}"
    edits: list[Edit] = []
    for answer, value in false_values:
        edits_of_slot = answer.edits(original, value)
        if isinstance(edits_of_slot, Drop):
            return edits_of_slot
        edits += edits_of_slot
    if any(one.start < other.end and other.start < one.end for one, other in combinations(edits, 2)):
        return Drop("ambiguous_value", "one span states two slots")
    if not edits:
        return Drop("answer_not_in_passage")
    for answer, value in false_values:
        if _states(answer, original, value):
            return Drop("fake_already_there", f"{answer.fakes(value)[0]} is in the passage")
    title_length = len(passage.title)
    title = apply_edits(passage.title, [edit for edit in edits if edit.end <= title_length])
    text = apply_edits(
        passage.text,
        [Edit(e.start - title_length - 1, e.end - title_length - 1, e.text) for e in edits if e.start > title_length],
    )
    for answer, value in false_values:
        if answer.gold_is_in(f"{title}\n{text}"):
            return Drop("old_value_left", "the passage states the answer in another form, too")
        fakes = answer.fakes(value)
        if answer.gold_is_in(original) and not any(contains(f"{title}\n{text}", fake) for fake in fakes):
            return Drop("other_form", "the passage writes the answer in another form")
    name = f"{passage.id}-counterfactual"
    return replace(
        passage, id=name, text=text, title=title, role="counterfactual", page="", span=None, metadata=NOTHING
    )


def _states(answer: Answer[Any], text: str, value: Any) -> bool:
    """Return whether a text states a value: it contains its words, or the rules of its kind read it."""
    return answer.value_is_in(text, value) or any(contains(text, fake) for fake in answer.fakes(value))


def _with_twins(positives: Sequence[Passage], false_values: FalseValues) -> Counterfactual:
    """Return the false answer with the twins of all positive passages, and the reasons of missing twins."""
    results = {passage.id: make_twin(passage, false_values) for passage in positives}
    return Counterfactual(
        tuple(answer.fakes(value) for answer, value in false_values),
        {name: each for name, each in results.items() if isinstance(each, Passage)},
        {name: each for name, each in results.items() if isinstance(each, Drop)},
    )


def _false_values(instance: Instance, answers: Sequence[Answer[Any]], random: Random) -> Iterator[FalseValues]:
    """Yield false values of all slots; a rule knows that they are false, and the question states none of them.

    A slot that runs out of values keeps its last one.
    """
    iterators = [
        _false_values_of_slot(instance.question, slot, each, random)
        for slot, each in zip(instance.gold, answers, strict=True)
    ]
    values: list[Any] = []
    for iterator in iterators:
        first = next(iterator, None)
        if first is None:
            return
        values.append(first)
    for _ in range(_MAX_TRIES):
        yield tuple(zip(answers, values, strict=True))
        new_values = [next(iterator, None) for iterator in iterators]
        if not any(each is not None for each in new_values):
            return
        values = [old if new is None else new for old, new in zip(values, new_values, strict=True)]


def _false_values_of_slot(question: str, slot: tuple[str, ...], answer: Answer[Any], random: Random) -> Iterator[Any]:
    """Yield the different values of a slot that a rule knows to be false."""
    seen = set()
    for value in answer.others(random):
        if value in seen or _states(answer, question, value):
            continue
        seen.add(value)
        if is_decided(question, slot, answer.fakes(value), answer.kind):
            yield value
