"""Find the answers of an earlier run to the cases of a later one."""

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
    "HOW_TO_STORE",
    "AnswerSource",
    "OldAnswers",
    "StoredAnswer",
    "answer_now",
    "answers_of",
    "find_old_answers",
    "texts_digest",
    "with_old_answers",
]  # fmt: skip

HOW_TO_STORE = (
    "the old answers are not stored; keep them with rag_baseline_answers = true and --rag-update-baseline, or name the "
    "old run's results.json with --rag-against"
)
"""Advice in every report that lacks the old answers."""

_Key = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer of an earlier run with the key of its case; one line of an answers file.

    Attributes:
        testbed: the testbed's node id.
        case: the case's id.
        system: the system's name.
        facets: the case's facets, as in the baseline.
        said: digest of the answer's text before secrets were masked, as the baseline stores it.
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


class AnswerSource(NamedTuple):
    """The run or file that provides old answers.

    Attributes:
        name: name of the run or file in messages; "" without a source.
        answers: its answers, to any cases.
    """

    name: str = ""
    answers: Sequence[StoredAnswer] = ()


@dataclass(frozen=True, slots=True)
class OldAnswers:
    """The old answers of a run's cases.

    Attributes:
        answers: node id of an outcome -> the answer of the same case in the earlier run.
        unknown: number of compared outcomes whose answer changed and whose old answer is unknown.
        foreign: number of the source's answers that the baseline did not score; they are not used.
    """

    answers: Mapping[str, OldAnswer] = field(default_factory=dict)
    unknown: int = 0
    foreign: int = 0

    def of(self, outcome: Outcome) -> OldAnswer | None:
        """Return the old answer to an outcome's case; it equals the current answer if that did not change.

        None if the case is new or changed, if the earlier run has no answer to it, or if the answer was not stored.
        """
        return self.answers.get(outcome.nodeid)

    @property
    def how(self) -> str:
        """Advice on how to store old answers; "" if none is missing."""
        return HOW_TO_STORE if self.unknown else ""


def answers_of(outcomes: Iterable[Outcome]) -> list[StoredAnswer]:
    """Return the answers of a run, sorted by case and repeat; outcomes have masked secrets already."""
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
    """Return an answer of an outcome in the form of an old answer, to compare the two."""
    return OldAnswer(answer.text, answer.abstained, outcome.seen, texts_digest(answer))


def texts_digest(answer: Answer) -> str:
    """Return the digest of the texts in an answer's ranking, see `OldAnswer.texts`; "" if it has none.

    The ranking has no texts of the case's own passages.
    """
    ranking = () if answer.ranking is None else answer.ranking.items
    texts = sorted((item.doc_id, item.text) for item in ranking)
    return text_digest("\0".join(chain.from_iterable(texts))) if any(text for _, text in texts) else ""


def find_old_answers(pairing: Pairing, outcomes: Mapping[str, Outcome], source: AnswerSource) -> OldAnswers:
    """Return the old answers of outcomes.

    A repeat has the answer of the same repeat, else that of the first one. An answer of the source counts only if the
    earlier run scored it: its digest is one of the case's in the baseline. Without a source, ``Outcome.was`` is the old
    answer, and an answer that did not change is its own old answer.

    Args:
        pairing: pairs of the same case in the earlier run, such as a baseline, and in the later one.
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
        scored_answers = {repeat: each for repeat, each in stored_answers.items() if each.said in pair.before.said}
        foreign += len(stored_answers) - len(scored_answers)
        for nodeid in pair.after.nodes:
            old = _old_answer(outcomes[nodeid], pair, scored_answers, has_stored=has_stored)
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


def _old_answer(
    outcome: Outcome, pair: Pair, answers: Mapping[str, StoredAnswer], *, has_stored: bool
) -> OldAnswer | None:
    """Return the old answer of an outcome; None if it is unknown.

    Args:
        outcome: the outcome.
        pair: its case in both runs.
        answers: repeat -> answer of the source.
        has_stored: whether any outcome of the run stores its old answer; an outcome without one then did not change.
    """
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
