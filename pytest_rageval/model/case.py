"""What is asked: passages, instances (records read from disk), queries and cases (test items)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from pytest_rageval.model.evidence import Evidence, LocatedEvidence

__all__ = ["Case", "Gold", "Instance", "Passage", "Query", "Relevance", "Role", "Turn"]

Gold = tuple[tuple[str, ...], ...]
"""Gold answers: every slot must be met (all), each by one of its aliases (any)."""

Role = Literal["", "positive", "negative", "counterfactual"]

Relevance = Literal["ids", "overlap", "answers"]
"""What makes a retrieved passage relevant: its id in the qrels, a gold passage that it overlaps, an answer in it."""

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Passage:
    """A text the system may read.

    Attributes:
        id: unique within its instance or corpus.
        text: the passage itself.
        title: the title of its page, or "".
        role: what the passage is to its instance; always "" in what a system receives.
        group: the sub-question (0..n-1) a positive passage belongs to, or None.
        page: the id of the document it was taken from, or "" where none is known.
        span: where it begins and ends in that document's text, in characters; None where it is not cut from one.
        metadata: what else a corpus says of it.
    """

    id: str
    text: str
    title: str = ""
    role: Role = ""
    group: int | None = None
    page: str = ""
    span: tuple[int, int] | None = None
    metadata: Mapping[str, object] = field(default_factory=lambda: NOTHING, hash=False)


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange of a conversation."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One record of a dataset.

    Attributes:
        id: unique within its dataset and stable over additions to the file.
        question: what is asked.
        gold: slots (all) of aliases (any); empty when the record has none.
        passages: the whole pool, with roles; None when the record supplies no passages.
        fake: the false answer that counterfactual passages tell, as slots of aliases.
        qrels: passage id -> graded relevance; below 1 is not relevant, as trec_eval has it.
        history: earlier turns, oldest first.
        answerable: False when no answer should be given; None when the record does not say.
        language: BCP 47 primary tag, "en" or "zh".
        facets: every other named property, as strings.
        origin: ``file:line`` of the record.
        provenance: alternative sets of page ids, each of them the whole evidence; empty when the record has none.
        evidence: alternative lists of quotes or spans, each the whole evidence; empty when the record has none.
    """

    id: str
    question: str
    gold: Gold = ()
    passages: tuple[Passage, ...] | None = None
    fake: Gold = ()
    qrels: Mapping[str, int] = field(default_factory=dict)
    history: tuple[Turn, ...] = ()
    answerable: bool | None = None
    language: str = "en"
    facets: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    origin: str = ""
    provenance: tuple[tuple[str, ...], ...] = ()
    evidence: Evidence = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What a system receives. Nothing reachable from it holds a gold answer, and no passage its role.

    Passages keep their ids, so that a ranking can name them; RGB's ids tell the pool (``p0`` or ``n0``), which an
    honest system does not look at.

    Attributes:
        question: what is asked.
        passages: what the testbed supplies, in order; None when the system must retrieve.
        history: earlier turns, oldest first.
        language: "en" or "zh".
        instructions: what the testbed asks of the answer (for instance RGB's protocol sentences).
    """

    question: str
    passages: tuple[Passage, ...] | None = None
    history: tuple[Turn, ...] = ()
    language: str = "en"
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One instance under one setting: what becomes a test item.

    Attributes:
        id: the instance's id, unique in the session.
        instance: the record, with its gold answers.
        supplied: the passages given, in the order the system sees them, with their roles;
            None when the system must retrieve.
        facets: every facet of the instance and of the setting, as strings.
        instructions: what the testbed asks of the answer.
        relevance: what makes a retrieved passage relevant.
        earlier: the turns before it in its conversation, where the system's own answers to them are its history; None
            where its history is the instance's.
        located: where the corpus holds the evidence; None where no corpus was read.
        stale: whether an id of its qrels names other text than in the baseline; metrics by ids are then unscored.
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
        """What the system receives: the question and the passages, stripped of their roles."""
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
        """The judgements of what is retrieved: document id -> grade; empty where nothing was judged.

        Those of the record; where it has none and the system must retrieve, the documents that its positive passages
        were taken from are the relevant ones.
        """
        if self.instance.qrels or self.supplied is not None:
            return self.instance.qrels
        return {p.page: 1 for p in self.instance.passages or () if p.role == "positive" and p.page}

    @property
    def evidence(self) -> bool | None:
        """Whether the evidence for the gold answer was supplied; None when that is unknown.

        True when a positive passage is supplied (of every group, where positives have groups);
        False when the record is marked unanswerable or passages were supplied without one.
        """
        if self.instance.answerable is False:
            return False
        if self.supplied is None or not any(p.role for p in self.instance.passages or ()):
            return None
        wanted = {p.group for p in self.instance.passages or () if p.role == "positive"}
        there = {p.group for p in self.supplied if p.role == "positive"}
        return bool(there) and wanted <= there

    def with_facets(self, **facets: str) -> Case:
        """Return this case with facets added or replaced."""
        return replace(self, facets={**self.facets, **facets})

    def with_history(self, history: tuple[Turn, ...]) -> Case:
        """Return this case after other turns than its record tells."""
        return replace(self, instance=replace(self.instance, history=history))

    def renamed(self, case_id: str) -> Case:
        """Return this case under another id."""
        return replace(self, id=case_id)
