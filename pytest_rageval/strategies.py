"""Strategies of Hypothesis for property tests of RAG systems: cases, contexts, answers.

Needs the extra ``properties``. Importing the module registers the profile ``rag``: 25 examples, no deadline, and the
same examples in each run if ``CI`` is set. Load it with ``hypothesis.settings.load_profile("rag")``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.errors import MissingDependencyError, SettingError, short_repr
from pytest_rageval.generation.example_answers import right_answers, wrong_answers
from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.irrelevant_passage import is_irrelevant
from pytest_rageval.generation.relations.records import NO_RECORDS, Records
from pytest_rageval.generation.relations.relation import Relation, Variant, as_case, relation_named
from pytest_rageval.generation.sources import Dataset, cases_of, passages_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage

try:
    from hypothesis import HealthCheck, assume, settings
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ModuleNotFoundError:
    raise MissingDependencyError("pytest_rageval.strategies", "properties") from None

__all__ = ["answers", "cases", "contexts", "distractors", "documents", "questions", "variants"]

MAX_VARIANTS = 60
"""Maximum number of variants per case and relation from which a property test draws."""

MAX_TRIED_CASES = 200
"""Maximum number of cases that are tried to find one that a relation can change."""

settings.register_profile(
    "rag",
    max_examples=25,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)


def cases(dataset: Dataset, where: Mapping[str, object] | None = None) -> SearchStrategy[Case]:
    """Generate cases of a dataset, with all passages of their records; they shrink to the first case.

    Args:
        dataset: ``format:path``, relative to the calling file, else to the current folder; or a list of `Instance`.
        where: facets that a case must have, such as ``{"topic": "Funds"}``.

    Raises:
        SettingError: the format is unknown, or ``where`` matches no case.
        DataError: the file is missing, or a record is invalid.
    """
    return st.sampled_from(cases_of(dataset, where, _caller(), "rag.cases"))


def contexts(case: Case | Instance, min_size: int = 0) -> SearchStrategy[tuple[Passage, ...]]:
    """Generate passages to supply for a case: subsets of its passages, in any order.

    They shrink to fewer passages, to the first ones, and to the order of the record.

    Args:
        case: the case, or a record.
        min_size: the smallest number of passages.

    Raises:
        SettingError: the case has fewer passages than ``min_size``.
    """
    original = as_case(case)
    pool = original.supplied or original.instance.passages or ()
    if len(pool) < min_size:
        raise SettingError(f"rag.contexts: case {original.id!r} has {len(pool)} passages, wanted at least {min_size}")
    return _contexts(pool, min_size)


def variants(
    dataset: Dataset, relations: Sequence[str] | None = None, where: Mapping[str, object] | None = None
) -> SearchStrategy[Variant]:
    """Generate cases with one change whose effect is known: `Variant` has ``.case``, ``.original`` and ``.expected``.

    They shrink to the first case, the first relation and the smallest change.

    Args:
        dataset: as in `cases`.
        relations: names of relations; by default those after which the answer must be the same.
        where: as in `cases`.

    Raises:
        SettingError: a relation is unknown or changes no case; or see `cases`.
    """
    matching = cases_of(dataset, where, _caller(), "rag.variants")
    selected = _relations(relations, "rag.variants")
    cache = _VariantCache(matching, selected)
    n_tried = min(len(matching), MAX_TRIED_CASES)
    if not any(cache.variants(at, relation) for at in range(n_tried) for relation in selected):
        names = ", ".join(relation.name for relation in selected)
        raise SettingError(f"rag.variants: no case can be changed by {names}")
    return _variants(cache)


def questions(case: Case | Instance, relations: Sequence[str] | None = None) -> SearchStrategy[str]:
    """Generate other wordings of a case's question; they shrink to the question itself.

    Args:
        case: the case, or a record.
        relations: names of relations that change the question; by default all of them.

    Raises:
        SettingError: a relation is unknown, or changes the passages.
    """
    original = as_case(case)
    selected = _relations(relations, "rag.questions")
    for relation in selected:
        if relation.target != "question" and relations is not None:
            raise SettingError(f"rag.questions: {relation.name} changes the passages; use rag.variants")
    reworded = [
        variant
        for relation in selected
        if relation.target == "question"
        for variant in _sorted_variants(relation, original, NO_RECORDS)
    ]
    return st.sampled_from([original.instance.question, *(each.case.instance.question for each in reworded)])


def distractors(
    dataset_or_corpus: str | Sequence[Passage], case: Case | Instance | None = None
) -> SearchStrategy[Passage]:
    """Generate passages to distract a system, from a corpus or a dataset; only negative ones if passages have roles.

    Args:
        dataset_or_corpus: ``format:path`` of a dataset, a line as in ``rag_corpus`` (``docs/**/*.md``), or a list.
        case: leave out passages that could help to answer this case: those about its subject or with an answer.

    Raises:
        SettingError: the source has no passage; or see `cases`.
    """
    passages = passages_of(dataset_or_corpus, _caller(), "rag.distractors")
    if case is None:
        return st.sampled_from(passages)
    instance = as_case(case).instance
    case_texts = {passage.text for passage in instance.passages or ()}
    return st.sampled_from(passages).filter(lambda each: each.text not in case_texts and is_irrelevant(instance, each))


def answers(case: Case | Instance, right: bool | None = None) -> SearchStrategy[Answer]:
    """Generate answers to a case that are right or wrong by rule, to test your own metric or judge.

    Args:
        case: the case, or a record; it needs a gold answer.
        right: True for right answers only, False for wrong ones only, as the metric `accuracy` decides; None for both.

    Raises:
        SettingError: the case has no gold answer.
    """
    instance = as_case(case).instance
    if not instance.gold:
        raise SettingError(f"rag.answers: case {instance.id!r} has no gold answer, so no answer is right or wrong")
    texts = (*(right_answers(instance) if right is not False else ()), *(wrong_answers(instance) if not right else ()))
    return st.sampled_from(texts).map(Answer)


def documents(language: str = "en") -> SearchStrategy[Document]:
    """Generate documents with headings, sentences, numbers and dates, to test chunking and retrieval.

    They shrink to one short sentence.

    Args:
        language: "en" or "zh".

    Raises:
        SettingError: ``language`` is neither.
    """
    if language not in _WORDS:
        raise SettingError(f"rag.documents: found {short_repr(language)}, wanted 'en' or 'zh'")
    subjects, verbs, objects, heading = _WORDS[language]
    space, stop = (" ", ".") if language == "en" else ("", "。")
    value = st.sampled_from(objects) | st.integers(0, 100_000).map(str) | st.dates().map(str)
    sentence = st.tuples(st.sampled_from(subjects), st.sampled_from(verbs), value)
    paragraph = st.lists(sentence.map(lambda parts: space.join(parts) + stop), min_size=1, max_size=5).map(space.join)
    section = st.tuples(st.booleans(), st.sampled_from(subjects), paragraph)
    texts = st.lists(
        section.map(lambda part: f"{heading.format(part[1])}{part[2]}" if part[0] else part[2]), min_size=1, max_size=6
    ).map("\n\n".join)
    names = st.integers(0, 999).map(lambda number: f"d{number}")
    return st.builds(Document, id=names, text=texts, title=st.sampled_from(["", *subjects]))


_WORDS = {
    "en": (
        ("The museum", "The library", "The ferry", "The mayor", "Bo Ek"),
        ("opens at", "costs", "was founded in", "is near"),
        ("the harbour", "the old town hall", "noon"),
        "# {}\n\n",
    ),
    "zh": (
        ("博物馆", "图书馆", "渡轮", "市长"),
        ("开放于", "价格是", "建于", "位于"),
        ("港口", "老市政厅", "中午"),
        "# {}\n\n",
    ),
}  # fmt: skip


def _caller() -> Path:
    """Return the folder of the user's file that calls a function of this module."""
    return Path(str(sys._getframe(2).f_globals.get("__file__", "."))).parent


def _relations(names: Sequence[str] | None, user: str) -> list[Relation]:
    if isinstance(names, str) or (names is not None and not names):
        raise SettingError(f"{user}: relations: found {short_repr(names)}, wanted a list of names")
    relations = [relation_named(name, user) for name in (BUILTIN if names is None else names)]
    return [each for each in relations if names is not None or each.expected == "same"]


@st.composite
def _contexts(draw: st.DrawFn, pool: Sequence[Passage], min_size: int) -> tuple[Passage, ...]:
    in_subset = [draw(st.booleans()) for _ in pool]
    for at in range(len(pool)):  # drawing a list of distinct indexes would shrink less
        if sum(in_subset) < min_size:
            in_subset[at] = True
    order: list[Passage] = []
    for passage, is_drawn in zip(pool, in_subset, strict=True):
        if is_drawn:  # insert it at the end, or some places before the end
            order.insert(len(order) - draw(st.integers(0, len(order))), passage)
    return tuple(order)


class _VariantCache:
    """Makes the variants of cases on first use, and caches them."""

    def __init__(self, cases: Sequence[Case], relations: Sequence[Relation]) -> None:
        self.cases = cases
        self.relations = relations
        self._records = Records.of(case.instance for case in cases)
        self._variants: dict[tuple[int, str], tuple[Variant, ...]] = {}  # (index of the case, relation) -> variants

    def variants(self, at: int, relation: Relation) -> tuple[Variant, ...]:
        """Return the variants of the case with the index ``at``, the smallest change first."""
        key = at, relation.name
        if key not in self._variants:
            self._variants[key] = _sorted_variants(relation, self.cases[at], self._records)
        return self._variants[key]


@st.composite
def _variants(draw: st.DrawFn, cache: _VariantCache) -> Variant:
    at = draw(st.sampled_from(range(len(cache.cases))))
    first = draw(st.sampled_from(range(len(cache.relations))))
    rotated = (*cache.relations[first:], *cache.relations[:first])  # use the first one that changes the case
    variants = next((variants for relation in rotated if (variants := cache.variants(at, relation))), ())
    assume(variants)
    return draw(st.sampled_from(variants))


def _sorted_variants(relation: Relation, case: Case, records: Records) -> tuple[Variant, ...]:
    """Return the variants of a case by one relation, the smallest change first."""
    return tuple(sorted(relation.variants(case, 0, MAX_VARIANTS, records), key=_size_of_change))


def _size_of_change(variant: Variant) -> int:
    """Return the number of different passages, by position, plus that of different characters of the question."""
    before, after = variant.original.supplied or (), variant.case.supplied or ()
    old, new = variant.original.instance.question, variant.case.instance.question
    return _n_differences(before, after) + _n_differences(old, new)


def _n_differences(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the number of positions at which two sequences differ."""
    return sum(1 for left, right in zip_longest(one, other) if left != right)
