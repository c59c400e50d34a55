"""Ask a judge which of two systems' answers is better, for many pairs at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from pytest_rageval.engine.tracebacks import or_case_error
from pytest_rageval.errors import CaseError
from pytest_rageval.judges.pairwise import BothOrders, in_both_orders
from pytest_rageval.judges.panel import Panel
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.llm.client.journal import CaseJournal, Journal
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.sample import Sample

__all__ = ["NOT_ASKED", "JudgedPair", "PairOfAnswers", "PairVote", "decided_value", "judged_pairs"]

FATAL = ("auth", "not_found", "budget")
"""Kinds of errors after which no further pair is asked, because each would fail in the same way."""

NOT_ASKED = "not_asked"
"""Kind of the problem of a pair that was not asked because of such an error."""


@dataclass(frozen=True, slots=True)
class PairOfAnswers:
    """Two systems' answers to one case.

    Attributes:
        name: identifies the pair, for the journal.
        case: the id of the case.
        unit: the independent unit of the case.
        systems: the names of the two systems.
        samples: the case with the answer of each.
    """

    name: str
    case: str
    unit: Hashable
    systems: tuple[str, str]
    samples: tuple[Sample, Sample]

    @property
    def same(self) -> bool:
        """Whether both answers are equal, ignoring white space. Such a pair is a tie, and no model is asked."""
        one, other = (" ".join(sample.answer.text.split()) for sample in self.samples)
        return one == other


@dataclass(frozen=True, slots=True)
class PairVote:
    """A model's verdicts on a pair, in both orders."""

    model: str
    repeat: int
    orders: BothOrders


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair with its verdict.

    Attributes:
        pair: the answers.
        value: 1 if the first system's answer is better, 0 if the second one's, 0.5 for a tie; a mean of votes may lie
            between. None with a problem.
        votes: the votes; empty for equal answers.
        problem: why there is no value, as ``kind: message``; None with a value.
    """

    pair: PairOfAnswers
    value: float | None
    votes: tuple[PairVote, ...] = ()
    problem: str | None = None


async def judged_pairs(
    pairs: Sequence[PairOfAnswers],
    judge: PromptedJudge,
    panel: Panel,
    models: Mapping[str, ChatModel],
    *,
    at_once: int,
    meter: Meter,
    journal: Journal,
    done: Callable[[], object] = lambda: None,
) -> list[JudgedPair]:
    """Return the judged pairs in their order; each vote is asked in both orders.

    A failed call leaves its pair without a value. After a refused key, an unknown model or a spent budget, no further
    pair is asked.

    Args:
        pairs: the pairs.
        judge: a judge of pairs.
        panel: the models that vote, and the rule; see `decided_value`.
        models: name of a panel's model -> the model.
        at_once: number of pairs in progress.
        meter: charged with the calls.
        journal: stores each reply when it arrives; calls that it already contains are reused.
        done: called after each pair.
    """
    import asyncio

    slots = asyncio.Semaphore(at_once)
    fatal_errors: list[str] = []

    async def judge_pair(pair: PairOfAnswers) -> JudgedPair:
        async with slots:
            if pair.same:
                result = JudgedPair(pair, 0.5)
            elif fatal_errors:
                result = JudgedPair(pair, None, problem=f"{NOT_ASKED}: {fatal_errors[0]}")
            else:
                SCOPE.set(Scope(meter, journal=CaseJournal(journal, pair.name)))
                try:
                    result = await _ask_panel(pair, judge, panel, models)
                except CaseError as error:
                    result = JudgedPair(pair, None, problem=f"{error.kind}: {error}")
                    if error.kind in FATAL:
                        fatal_errors.append(str(error))
            done()
            return result

    return list(await asyncio.gather(*map(judge_pair, pairs)))


def decided_value(votes: Sequence[PairVote], panel: Panel) -> float | None:
    """Return the value of votes; None unless more than half of the votes are readable.

    "majority" returns the value of more than half of the readable votes, else a tie. "mean" returns their mean.
    """
    values = [value for vote in votes if (value := vote.orders.value) is not None]
    if 2 * len(values) <= len(votes):
        return None
    if panel.rule == "mean":
        return fmean(values)
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > len(values) else 0.5


async def _ask_panel(
    pair: PairOfAnswers, judge: PromptedJudge, panel: Panel, models: Mapping[str, ChatModel]
) -> JudgedPair:
    scope = SCOPE.get()
    votes = []
    for name, repeat, _ in panel.ballots():
        if scope is not None:
            SCOPE.set(replace(scope, repeat=repeat))  # each repeat has its own recordings
        problem = f"judge {judge.name!r} failed on {pair.name}"
        orders = await or_case_error(in_both_orders(judge, *pair.samples, models[name]), "judge_error", problem)
        votes.append(PairVote(name, repeat, orders))
    value = decided_value(votes, panel)
    problems = [vote.orders.problem for vote in votes if vote.orders.problem is not None]
    return JudgedPair(pair, value, tuple(votes), problems[0] if value is None and problems else None)
