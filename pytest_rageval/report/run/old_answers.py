"""The answers of an earlier run, looked up by the outcomes of a later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from pytest_rageval.analysis.baseline.pairing import Pair, Pairing
from pytest_rageval.analysis.baseline.snapshot import facets_of_case
from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.model.answer import Answer, OldAnswer
from pytest_rageval.model.digests import text_digest
from pytest_rageval.model.outcome import Digest, Outcome
from pytest_rageval.model.storage import stored

__all__ = [
    "HOW", "OldAnswers", "Source", "StoredAnswer", "answer_now", "answers_of", "old_answers", "texts_digest",
    "with_old_answers",
]  # fmt: skip

HOW = (
    "the old answers are not stored; keep them with rag_baseline_answers = true and --rag-update-baseline, or name the "
    "old run's results.json with --rag-against"
)
"""How to have the old answers, for every report that lacks them."""

_Key = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer of an earlier run, with what identifies its case; one line of an answers file.

    Attributes:
        testbed: the testbed's node id.
        case: the case's id.
        system: the system's name.
        facets: the case's facets, as in the baseline.
        said: digest of the answer's text before secrets were masked; the baseline has the same.
        repeat: which repeat of the case it is, from "1"; "" if the case ran once.
        answer: the answer.
    """

    testbed: str
    case: str
    system: str
    facets: Mapping[str, str]
    said: Digest
    answer: OldAnswer = field(metadata=stored(inline=True))
    repeat: str = ""

    @property
    def key(self) -> _Key:
        """The key of its case, like `Measured.key`."""
        return self.testbed, self.case, self.system, tuple(sorted(self.facets.items()))

    @property
    def place(self) -> tuple[_Key, int, str]:
        """Its place among sorted answers: by case, then by repeat."""
        return self.key, len(self.repeat), self.repeat


class Source(NamedTuple):
    """Where old answers come from.

    Attributes:
        name: its name in messages.
        answers: the answers of a run, of any cases.
    """

    name: str = ""
    answers: Sequence[StoredAnswer] = ()


@dataclass(frozen=True, slots=True)
class OldAnswers:
    """The old answers of a run's cases.

    Attributes:
        answers: node id of an outcome -> the answer of the same case in the earlier run.
        unknown: number of compared outcomes with another answer than before, whose old answer is unknown.
        foreign: number of the source's answers that differ from those that the baseline scored; they are not used.
    """

    answers: Mapping[str, OldAnswer] = field(default_factory=dict)
    unknown: int = 0
    foreign: int = 0

    def of(self, outcome: Outcome) -> OldAnswer | None:
        """Return the old answer of an outcome's case.

        It equals the answer now if that did not change. None if the case is new or changed, if the earlier run has no
        answer to it, or if the old answer was not stored.
        """
        return self.answers.get(outcome.nodeid)

    @property
    def how(self) -> str:
        """A sentence on how to have the old answers, or "" if none is missing."""
        return HOW if self.unknown else ""


def answers_of(outcomes: Iterable[Outcome]) -> list[StoredAnswer]:
    """Return the answers of a run, sorted by case and repeat; secrets are masked in outcomes already."""
    answers = [
        StoredAnswer(
            testbed=each.testbed,
            case=each.case_id,
            system=each.system,
            facets=facets_of_case(each.facets),
            said=each.said,
            answer=answer_now(each, each.answer),
            repeat=each.facets.get(REPEAT, ""),
        )
        for each in outcomes
        if each.answer is not None and each.said
    ]
    return sorted(answers, key=lambda each: each.place)


def answer_now(outcome: Outcome, answer: Answer) -> OldAnswer:
    """Return an outcome's own answer in the form of an old one."""
    return OldAnswer(answer.text, answer.abstained, outcome.seen, texts_digest(answer))


def texts_digest(answer: Answer) -> str:
    """Return `OldAnswer.texts` of an answer. Texts of the case's own passages do not stand in its ranking."""
    ranking = () if answer.ranking is None else answer.ranking.items
    found = sorted((item.doc_id, item.text) for item in ranking)
    return text_digest("\0".join(chain.from_iterable(found))) if any(text for _, text in found) else ""


def old_answers(pairing: Pairing, outcomes: Mapping[str, Outcome], source: Source) -> OldAnswers:
    """Return the old answers of outcomes, paired like the cases of the comparison with the baseline.

    A repeat is paired with the same repeat, else with the first one. An answer of the source counts only if its digest
    is among those that the earlier run scored for the case. Without a source, the answers come from ``Outcome.was``,
    and an answer that did not change is its own old answer.

    Args:
        pairing: the cases of the earlier run, such as a baseline's, with those of the outcomes.
        outcomes: node id -> outcome.
        source: the answers of the earlier run.
    """
    pairs = (*pairing.pairs, *pairing.failed)
    known: dict[_Key, dict[str, StoredAnswer]] = {}
    for each in source.answers:
        known.setdefault(each.key, {})[each.repeat] = each
    has_stored = any(outcome.was is not None for outcome in outcomes.values())
    answers: dict[str, OldAnswer] = {}
    unknown = foreign = 0
    for pair in pairs:
        stored_answers = known.get(pair.before.key, {})
        mine = {repeat: each for repeat, each in stored_answers.items() if each.said in pair.before.said}
        foreign += len(stored_answers) - len(mine)
        for nodeid in pair.after.nodes:
            old = _old(outcomes[nodeid], pair, mine, has_stored=has_stored)
            if old is not None:
                answers[nodeid] = old
            elif pair.before.said:
                unknown += 1
    return OldAnswers(answers, unknown, foreign)


def with_old_answers(outcomes: Iterable[Outcome], old: OldAnswers) -> Iterator[Outcome]:
    """Yield the outcomes whose answer, abstention or passages differ from the old ones, with their old answer."""
    for outcome in outcomes:
        was = old.of(outcome)
        if was is not None and (outcome.answer is None or was != answer_now(outcome, outcome.answer)):
            yield replace(outcome, was=was)


def _old(outcome: Outcome, pair: Pair, answers: Mapping[str, StoredAnswer], *, has_stored: bool) -> OldAnswer | None:
    """Return the old answer of an outcome; None if it is unknown."""
    if answers:
        first = next(iter(answers.values()))
        return answers.get(outcome.facets.get(REPEAT, ""), first).answer
    if outcome.was is not None:
        return outcome.was
    if outcome.answer is None or outcome.said not in pair.before.said:
        return None
    if has_stored:
        return answer_now(outcome, outcome.answer)
    return OldAnswer(outcome.answer.text, outcome.answer.abstained)
