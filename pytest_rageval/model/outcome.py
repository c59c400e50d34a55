"""The outcome of a case: scores, or an error with its cause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pytest_rageval.model.answer import Answer, OldAnswer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.storage import ALWAYS, NEEDED, UNSTORED, Bounds, Share, stored
from pytest_rageval.model.verdict import Verdict

__all__ = ["Diagnosis", "DiagnosisType", "EarlierLabel", "Grounded", "Outcome", "Score", "Status"]

Status = Literal["scored", "error", "skipped"]

DiagnosisType = Literal["EM", "AM", "A?", "GE", "RE", "TE", "ME", "W?"]

Grounded = Literal["yes", "no", "unknown"]

Digest = Annotated[str, Bounds(pattern="^([0-9a-f]{16})?$")]


@dataclass(frozen=True, slots=True)
class EarlierLabel:
    """The values that people and the judge gave to an earlier answer of the same system to the same case.

    Attributes:
        people: the mean value of people's labels.
        judged: the judge's value of that answer.
    """

    people: Share
    judged: Share


@dataclass(frozen=True, slots=True)
class Score:
    """Either a finite value or the reason why there is none.

    Attributes:
        value: the score, in its metric's range; None if unscored.
        reason: why there is no value ("not_applicable", "judge_unavailable", ...).
        verdict: the judge's verdict, for a judged metric.
        withheld: the value that does not count because the judge is not trusted; None if none is withheld.
        earlier: for ``people:METRIC``, the label of an earlier answer if this answer has no label.
    """

    value: float | None = field(default=None, metadata=NEEDED)
    reason: Annotated[str, Bounds(items=1)] | None = field(default=None, metadata=stored(private="kind"))
    verdict: Verdict | None = field(default=None, metadata=stored(inline=True))
    withheld: float | None = None
    earlier: EarlierLabel | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (not self.reason):
            raise ValueError("a Score has either a value or a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a Score's value is a finite number, not {self.value}")

    @staticmethod
    def _shared(plain: Mapping[str, Any]) -> Score | None:
        """Return the shared object for a score of 0 or 1 without other fields; None for any other score."""
        value = plain["value"]
        return _SHARED_SCORES.get(value) if len(plain) == 1 and value.__class__ is float else None

    def _adapt_written(self, plain: dict[str, Any]) -> None:
        if self.reason is not None and plain.get("problem") == plain["reason"]:
            del plain["problem"]

    @property
    def judged(self) -> float | None:
        """The judge's value, even if it is withheld; it is compared with people's labels."""
        return self.withheld if self.value is None else self.value

    @classmethod
    def not_applicable(cls, why: str = "") -> Score:
        """Return a score without a value: the metric does not apply to this case."""
        return cls(reason=f"not_applicable: {why}" if why else "not_applicable")


_SHARED_SCORES = {value: Score(value) for value in (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The type of a right or wrong answer, with the reason for it.

    Attributes:
        type: EM right, retrieved; AM right, from memory; A? right, not known from where; GE wrong, although retrieved;
            RE wrong: searched badly; TE wrong: tools failed; ME wrong: model failed; W? wrong, not known why.
        right: whether the answer is right.
        grounded: whether the evidence or the gold answer was retrieved or supplied.
        end: why the run ended, such as "finished" or "step_limit".
        why: the reason for the type in a few words, without any text of the data.
    """

    type: DiagnosisType
    right: bool
    grounded: Grounded
    end: str
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one case under one system.

    Attributes:
        nodeid: the pytest node id of the test item.
        case_id: the case's id, the key into ``instances`` of results.json.
        testbed: node id of the test function or suite entry, without parameters.
        facets: the case's facets.
        system: the name of the system that answered.
        status: "scored", "error" (no answer or no score; with its cause) or "skipped".
        answer: the system's answer, if any.
        scores: metric name -> score.
        supplied: ids of the supplied passages, in the order the system saw them.
        error: for status "error" or "skipped", one sentence and the shortest useful traceback; else None.
        error_type: the kind of error.
        calls: its model calls; None if the session called no model.
        history: the earlier turns with the system's own answers; None if they are those of its record.
        data: digest of the content of the case: what was asked and judged; "" if unknown.
        said: digest of the answer's text; "" if there is no answer.
        evidence: share in 0..1 of the evidence for the gold answer that the system had; None if unknown.
        answer_seen: if the evidence is unknown, the share in 0..1 of the gold slots that occur in the passages that
            the system saw; None if their texts are unknown, too.
        diagnosis: the type of right or wrong answer; None if the case has no diagnosis.
        question: the question of a variant; None for a case as its record has it.
        added: the supplied passages of a variant that its record does not have.
        was: the answer to the same case in the earlier run of a comparison, if it is known and differs in text,
            abstention or passages.
        cluster: the facet whose value dependent cases share. It is not stored, because the plan contains it.
        length: number of characters of the answer's text; None if there is no answer.
        declined: whether the system declined to answer, by its own report or by the rejection markers.
        missed: whether the case missed, which the terminal shows as ``m``.
    """

    nodeid: str
    case_id: str
    testbed: str = field(metadata=stored(before="case_id"))
    facets: Mapping[str, str]
    system: str
    status: Status
    answer: Answer | None = field(default=None, metadata=ALWAYS)
    scores: Mapping[str, Score] = field(default_factory=dict, metadata=NEEDED)
    supplied: tuple[str, ...] = field(default=(), metadata=NEEDED)
    error: str | None = field(default=None, metadata=stored(always=True, needed=True, private="null"))
    error_type: str | None = field(default=None, metadata=NEEDED)
    calls: Calls | None = field(default=None, metadata=ALWAYS)
    data: Digest = field(default="", metadata=ALWAYS)
    said: Digest = field(default="", metadata=ALWAYS)
    evidence: Share | None = field(default=None, metadata=ALWAYS)
    answer_seen: Share | None = None
    history: tuple[Turn, ...] | None = field(default=None, metadata=stored(private="removed"))
    diagnosis: Diagnosis | None = None
    question: str | None = field(default=None, metadata=stored(private="removed"))
    added: tuple[Passage, ...] = field(default=(), metadata=stored(private="removed"))
    was: OldAnswer | None = field(default=None, metadata=stored(private="removed"))
    cluster: str = field(default=DIALOGUE, metadata=UNSTORED)
    length: Annotated[int, Bounds(0)] | None = None
    declined: bool = False
    missed: bool = False

    @property
    def seen(self) -> tuple[str, ...] | None:
        """Ids of the passages that the system saw: retrieved or, without a ranking, supplied; None if unknown."""
        if self.answer is not None and self.answer.ranking is not None:
            return self.answer.ranking.doc_ids
        return self.supplied or None
