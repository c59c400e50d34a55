"""The relation ``irrelevant_passage``: add a passage of another record that does not help."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pytest_rageval.generation.relations.invariants import values_of
from pytest_rageval.generation.relations.passages import inserted, is_without
from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import Relation
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.case import Case, Instance, Passage, Role
from pytest_rageval.text.stems import STOP_WORDS, stem
from pytest_rageval.text.words import cached_per_text, words

__all__ = ["IRRELEVANT_PASSAGE", "content_words", "is_irrelevant"]

MAX_SHARED = 0.2
"""A passage with at least this share of the question's content words may be relevant."""

_WORDS = (
    "how many much what where which who whom whose why"
    " 什么 哪个 哪些 哪里 哪 谁 多少 几 怎么 怎样 如何 为什么 是 的 了 吗 呢 在 有 和 与 及 或 对 从 到 把 被 为 中"
    " 请问"
)
_STOP_WORDS = STOP_WORDS.union(_WORDS.split())


def is_irrelevant(instance: Instance, passage: Passage) -> bool:
    """Return whether a passage cannot help to answer a record's question.

    It has less than a fifth of the question's content words, no alias of a gold or fake answer, and no quantity of
    such an alias. Without content words in the question, nothing can decide this, so no passage is irrelevant.
    """
    question_words = content_words(instance.question)
    text = f"{passage.title}\n{passage.text}"
    if not question_words or len(question_words & content_words(text)) >= MAX_SHARED * len(question_words):
        return False
    aliases = [alias for slot in (*instance.gold, *instance.fake) for alias in slot]
    if any(contains(text, alias) for alias in aliases):
        return False
    quantities = {value for alias in aliases for value in values_of(alias)}
    return not quantities or quantities.isdisjoint(values_of(text))


@cached_per_text
def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words without stop words and question words."""
    stems = (stem(word.lower()) for word in words(text) if word.lower() not in _STOP_WORDS)
    return frozenset(stems)


def _add_passage(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    """Yield the case with a random passage of another record at a random position."""
    passages = case.supplied
    if not passages:
        return
    role: Role = "negative" if any(passage.role for passage in passages) else ""
    for source in records.others(case.instance, chance):
        passage = chance.choice(source.passages or ())
        new_passage = Passage(f"{source.id}:{passage.id}", passage.text, passage.title, role)
        yield inserted(case, new_passage, chance.randrange(len(passages) + 1))


def _keeps(original: Case, each: Case) -> bool:
    ids, texts = {p.id for p in original.supplied or ()}, {p.text for p in original.supplied or ()}
    added = [passage for passage in each.supplied or () if passage.id not in ids]
    if len(added) != 1 or added[0].text in texts or not is_irrelevant(original.instance, added[0]):
        return False
    return is_without(each, original, added)


IRRELEVANT_PASSAGE = Relation("irrelevant_passage", "passages", "same", _add_passage, _keeps)
