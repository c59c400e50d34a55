"""Ask a local judge for verdicts; one batch judges the answers of several cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rageval.local_judges.features import JudgeInput
from pytest_rageval.local_judges.local_judge import BATCH, Judgement, LocalJudge
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

if TYPE_CHECKING:
    from asyncio import Lock, Task

__all__ = ["LocalVerdicts"]

WAIT_S = 0.005
"""Seconds that a batch waits for the answers of other cases."""

_DIGITS = 4  # of a confidence; further digits depend on the batch


class LocalVerdicts:
    """Judges answers on the session's loop: those that come within a few milliseconds form one batch, in a thread.

    Args:
        judge: the trained judge.
    """

    def __init__(self, judge: LocalJudge) -> None:
        self._judge = judge
        self._open_batch: _Batch | None = None
        self._lock: Lock | None = None

    async def __call__(self, sample: Sample) -> Verdict:
        """Return the verdict on an answer; its problem is "judge_error: ..." if a feature is not finite."""
        from asyncio import create_task, shield

        batch = self._open_batch
        if batch is None or len(batch.answers) >= BATCH:
            batch = self._open_batch = _Batch()
            batch.task = create_task(self._judge_batch(batch))
            batch.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        instance, at = sample.case.instance, len(batch.answers)
        batch.answers.append(JudgeInput(instance.question, instance.gold, sample.answer.text, instance.language))
        return _verdict((await shield(batch.task))[at])

    async def _judge_batch(self, batch: _Batch) -> list[Judgement]:
        from asyncio import Lock, sleep, to_thread

        await sleep(WAIT_S)
        if self._lock is None:
            self._lock = Lock()
        async with self._lock:  # while one batch is judged, the next one gathers
            if self._open_batch is batch:
                self._open_batch = None
            return await to_thread(self._judge.judge_batch, batch.answers)


def _verdict(judgement: Judgement) -> Verdict:
    decision = judgement.decision
    if decision is None:
        return Verdict(problem=judgement.problem, by="local", unlike=judgement.unlike)
    return Verdict(decision.label, by="local", confidence=round(decision.confidence, _DIGITS), unlike=judgement.unlike)


class _Batch:
    """Answers that are judged together."""

    def __init__(self) -> None:
        self.answers: list[JudgeInput] = []
        self.task: Task[list[Judgement]]
