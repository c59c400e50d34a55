"""Read the verdicts of judged metrics from recordings, without any model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_rageval.engine.case_executor import NO_INPUTS, Inputs
from pytest_rageval.engine.loop import NoLoop
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import ModelError, SettingError, ascii_safe, short_repr
from pytest_rageval.llm.client.usage_meter import current
from pytest_rageval.model.chat import CHAT_DEFAULTS, Completion, Message
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample

__all__ = ["RecordedJudge", "VerdictReader", "find_recorded_judge", "judged_metrics"]

JUDGE, VERDICTS, NOT_RECORDED = "judge", "verdicts", "not_recorded"


@dataclass(frozen=True)
class RecordedJudge:
    """A model whose verdicts are recorded.

    Attributes:
        model: its name.
        params: its parameters that are part of the key of each recording.
        folder: the folder of the recordings.
        digest: sha256 of its recordings.
    """

    model: str
    params: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""
    digest: str = ""


def find_recorded_judge(model: str, params: Mapping[str, Any], folder: Path) -> RecordedJudge:
    """Return a judge whose verdicts are recorded in a folder.

    Args:
        model: its name, like ``rag_judge_model``.
        params: its parameters, like ``rag_judge_params``.
        folder: the folder of the recordings, like ``rag_cassettes``.

    Raises:
        SettingError: the folder has no recordings of the judge, or a parameter is not a JSON value.
        DataError: a recording is malformed, or the file cannot be read.
    """
    from pytest_rageval.llm.recordings.cassette import read
    from pytest_rageval.llm.recordings.cassettes import file_name, recording_files
    from pytest_rageval.llm.recordings.request import Request

    request = Request(JUDGE, model, {**CHAT_DEFAULTS, **params}, [], 1)
    name = file_name(JUDGE, model)
    if name not in recording_files(folder):
        problem = f"the folder {ascii_safe(str(folder))} has no recordings of the judge {short_repr(model)}"
        raise SettingError(
            f"{problem}; record them with pytest --rag-record-mode once, or name their folder with --cassettes"
        )
    read(folder / name)  # raise here for malformed recordings, not once for each answer
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    return RecordedJudge(model, request.params, str(folder.absolute()), digest)


def judged_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that read verdicts."""
    return [metric for metric in metrics if metric.judge is not None]


class VerdictReader:
    """Reads the verdicts of judges from recordings; see `RecordedJudge`.

    The modules of judges and models are imported here, because most scores need none.
    """

    def __init__(self, judge: RecordedJudge) -> None:
        from pytest_rageval.engine.inputs.scoring_input import Context, Sources
        from pytest_rageval.engine.inputs.verdicts import ask_verdicts

        self._loop, self._context, self._ask = NoLoop(), Context, ask_verdicts
        self._replies = _RecordedModel(judge)
        self._sources = Sources(loop=self._loop, judge=self._replies)

    def read(self, task: Task, sample: Sample) -> Inputs:
        """Return the verdicts on an answer; a judge without a recorded reply has no verdict.

        Raises:
            CaseError: a recorded reply cannot be read.
        """
        if not sample.answer.generated:
            return NO_INPUTS
        verdicts: dict[str, Any] = {}
        by_judge = {metric.judge.name: metric for metric in task.metrics if metric.judge is not None}
        for metric in by_judge.values():
            context = self._context(replace(task, metrics=(metric,)), sample, self._sources)
            try:
                verdicts |= self._loop.run(self._ask(context))
            except ModelError as error:
                if error.kind != NOT_RECORDED:
                    raise
        return {VERDICTS: verdicts}

    def take_miss(self) -> str:
        """Return and reset how the first missing request differs from the nearest recording; "" if none is missing."""
        miss, self._replies.miss = self._replies.miss, ""
        return miss


class _RecordedModel:
    """A chat model that only has recorded replies.

    Attributes:
        miss: the message about the first request without a recorded reply; "" if there is none. There is only one,
            because each message compares all recordings.
    """

    def __init__(self, judge: RecordedJudge) -> None:
        from pytest_rageval.llm.client.clients import Client
        from pytest_rageval.llm.client.rate_limiter import Limiter
        from pytest_rageval.llm.client.retry import RetryPolicy
        from pytest_rageval.llm.recordings.cassettes import Cassettes

        self.name, self.miss = judge.model, ""
        self._client = Client(
            self, name=judge.model, kind=JUDGE, params=judge.params, limiter=Limiter(1), retry=RetryPolicy(1),
            cassettes=Cassettes(Path(judge.folder)),
        )  # fmt: skip

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the recorded reply.

        Raises:
            ModelError: kind "not_recorded"; the reply is not recorded.
        """
        if self.miss and not self._client.replays(messages, current().repeat, params):
            raise ModelError(NOT_RECORDED, self.miss, attempts=0)
        try:
            return await self._client.complete(messages, **params)
        except ModelError as error:
            if error.kind == NOT_RECORDED:
                self.miss = str(error)
            raise
