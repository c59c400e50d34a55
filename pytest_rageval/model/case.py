"""Passages, instances (records of a dataset), queries, and cases (test items)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from pytest_rageval.model.evidence import Evidence, LocatedEvidence
from pytest_rageval.model.storage import NEEDED, UNSTORED, stored

__all__ = ["Case", "Gold", "Instance", "Passage", "Query", "Relevance", "Role", "Turn"]

Gold = tuple[tuple[str, ...], ...]
"""Gold answers: slots of aliases. An answer must match every slot; any alias matches its slot."""

Role = Literal["", "positive", "negative", "counterfactual"]

Relevance = Literal["ids", "overlap", "answers"]
"""Why a retrieved passage is relevant: its id is in the qrels, it overlaps a gold passage, or it holds an answer."""

NOTHING: Mapping[str, str] = MappingProxyType({})

_TEXT = stored(always=True, needed=True, private="removed")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text the system may read.

    Attributes:
        id: unique within its instance or corpus.
        text: the passage itself.
        title: the title of its page, or "".
        role: the passage's role in its instance; always "" in what a system receives.
        group: number (0..n-1) of the sub-question that a positive passage belongs to, or None.
        page: the id of its source document, or "" if unknown.
        span: its start and end in that document's text, in characters; None if it is not a part of a document.
        metadata: other fields of the corpus.
    """

    id: str = field(metadata=stored(is_key=True))
    text: str = field(metadata=_TEXT)
    title: str = field(default="", metadata=stored(private="removed"))
    role: Role = field(default="", metadata=NEEDED)
    group: int | None = field(default=None, metadata=UNSTORED)
    page: str = ""
    span: tuple[int, int] | None = field(default=None, metadata=UNSTORED)
    metadata: Mapping[str, object] = field(default_factory=lambda: NOTHING, hash=False, metadata=UNSTORED)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the id and the text, in Hypothesis and IPython."""
        printer.text(f"Passage({self.id!r}, {self.text!r})")


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of a conversation: a question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One record of a dataset.

    Attributes:
        id: unique within its dataset and stable over additions to the file.
        question: the question.
        gold: the gold answers: slots (all must match) of aliases (any may match); empty if the record has none.
        passages: all passages of the record, with roles; None if the record supplies no passages.
        fake: the false answer in counterfactual passages, as slots of aliases.
        qrels: passage id -> graded relevance; below 1 is not relevant, as in trec_eval.
        history: earlier turns, oldest first.
        answerable: False if the system should not answer; None if the record does not say.
        language: BCP 47 primary tag, "en" or "zh".
        facets: every other named property, as strings.
        origin: ``file:line`` of the record.
        provenance: alternative sets of page ids; each set is the whole evidence. Empty if the record has none.
        evidence: alternative lists of quotes or spans; each list is the whole evidence. Empty if the record has none.
    """

    id: str = field(metadata=stored(is_key=True))
    question: str = field(metadata=_TEXT)
    gold: Gold = field(default=(), metadata=_TEXT)
    passages: tuple[Passage, ...] | None = field(default=None, metadata=NEEDED)
    fake: Gold = field(default=(), metadata=stored(private="removed"))
    qrels: Mapping[str, int] = field(default_factory=dict)
    history: tuple[Turn, ...] = field(
        default=(), metadata=stored(always=True, needed=True, before="passages", private="removed")
    )
    answerable: bool | None = field(default=None, metadata=UNSTORED)
    language: str = field(default="en", metadata=UNSTORED)
    facets: Mapping[str, str] = field(default_factory=lambda: NOTHING, metadata=UNSTORED)
    origin: str = ""
    provenance: tuple[tuple[str, ...], ...] = field(default=(), metadata=stored(before="origin"))
    evidence: Evidence = field(default=(), metadata=stored(before="origin"))


@dataclass(frozen=True, slots=True)
class Query:
    """The input of a system. It holds no gold answer and no role of a passage.

    Passages keep their ids because rankings name them. RGB's ids reveal the pool (``p0`` or ``n0``); a fair system
    ignores them.

    Attributes:
        question: the question.
        passages: the passages that the testbed supplies, in order; None if the system must retrieve.
        history: earlier turns, oldest first.
        language: "en" or "zh".
        instructions: the testbed's instructions for the answer, such as RGB's protocol sentences.
    """

    question: str
    passages: tuple[Passage, ...] | None = None
    history: tuple[Turn, ...] = ()
    language: str = "en"
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One instance under one setting; becomes a test item.

    Attributes:
        id: the instance's id, unique in the session.
        instance: the record, with its gold answers.
        supplied: the supplied passages, in the order the system sees them, with their roles;
            None if the system must retrieve.
        facets: every facet of the instance and of the setting, as strings.
        instructions: the testbed's instructions for the answer.
        relevance: what makes a retrieved passage relevant.
        earlier: the cases of the earlier turns, if the history consists of the system's own answers to them; None if
            the history is that of the instance.
        located: the places of the evidence in the corpus; None if no corpus was read.
        stale: whether the text of an id in its qrels differs from the baseline; metrics by ids are then unscored.
    """

    id: str
    instance: Instance
    supplied: tuple[Passage, ...] | None
    facets: Mapping[str, str]
    instructions: str = ""
    relevance: Relevance = "ids"
    earlier: tuple[Case, ...] | None = None
    located: LocatedEvidence | None = field(default=None, repr=False, compare=False)
    stale: bool = False

    @property
    def query(self) -> Query:
        """The input of the system: the question and the passages without their roles."""
        supplied = self.supplied
        return Query(
            question=self.instance.question,
            passages=None if supplied is None else tuple(Passage(p.id, p.text, p.title) for p in supplied),
            history=self.instance.history,
            language=self.instance.language,
            instructions=self.instructions,
        )

    @property
    def qrels(self) -> Mapping[str, int]:
        """Relevance judgements: document id -> grade; empty if nothing was judged.

        The record's own qrels come first. If it has none and the system must retrieve, the source documents of its
        positive passages are relevant.
        """
        if self.instance.qrels or self.supplied is not None:
            return self.instance.qrels
        return {p.page: 1 for p in self.instance.passages or () if p.role == "positive" and p.page}

    @property
    def evidence(self) -> bool | None:
        """Whether the evidence for the gold answer was supplied; None if unknown.

        True if a positive passage is supplied, or one of every group if positive passages have groups. False if the
        record is unanswerable or no positive passage is supplied.
        """
        if self.instance.answerable is False:
            return False
        if self.supplied is None or not any(p.role for p in self.instance.passages or ()):
            return None
        groups = {p.group for p in self.instance.passages or () if p.role == "positive"}
        supplied_groups = {p.group for p in self.supplied if p.role == "positive"}
        return bool(supplied_groups) and groups <= supplied_groups

    def with_facets(self, **facets: str) -> Case:
        """Return this case with facets added or replaced."""
        return self.with_shared({**self.facets, **facets})

    def with_shared(self, facets: Mapping[str, str]) -> Case:
        """Return this case with its facets replaced by a mapping that several cases may share."""
        rest = self.instructions, self.relevance, self.earlier, self.located, self.stale
        return Case(self.id, self.instance, self.supplied, facets, *rest)

    def with_history(self, history: tuple[Turn, ...]) -> Case:
        """Return this case with its earlier turns replaced."""
        return replace(self, instance=replace(self.instance, history=history))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the id and the question, in Hypothesis and IPython, instead of the whole record."""
        printer.text(f"Case({self.id!r}, {self.instance.question!r})")

    def renamed(self, case_id: str) -> Case:
        """Return this case under another id."""
        return replace(self, id=case_id)
