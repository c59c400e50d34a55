"""Score one chunk: some cases and all their answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import islice

from pytest_rageval.engine.case_executor import NO_INPUTS, CaseResponses
from pytest_rageval.engine.outages import answer_before
from pytest_rageval.engine.recorded_answers import RecordedAnswerer, RecordedAnswers
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.case import Instance
from pytest_rageval.model.facets import matches, workflow_and_model
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.phrases import DEFAULT_MARKERS
from pytest_rageval.model.sample import Sample
from pytest_rageval.scoring.engines.function import ChunkFunction
from pytest_rageval.scoring.input_lines import read_chunk
from pytest_rageval.scoring.job import Job, ScoredTestbed
from pytest_rageval.scoring.recorded_judge import VerdictReader
from pytest_rageval.scoring.rows import LineEncoder, pack
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.ids import safe

__all__ = ["FIRST", "Leftovers", "chunk_scorer", "leftovers_of", "rows_of", "score_chunk"]

BATCH = 32
"""Number of cases that go through each step together, because batches are faster than single cases."""

FIRST = 20
"""Maximum number of ids in each list of leftovers."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Answers without a case, cases without an answer, and verdicts without a recording.

    Attributes:
        n_unused: number of ids of answers without a case.
        unused: the first of these ids, sorted.
        n_unanswered: number of pairs of a case and a system without an answer.
        unanswered: the first of these pairs, as (id, system), sorted.
        n_long: number of answers that are longer than reports store.
        miss: how the first request without a recording differs from the nearest recording; "" if none is missing.
    """

    n_unused: int = 0
    unused: tuple[str, ...] = ()
    n_unanswered: int = 0
    unanswered: tuple[tuple[str, str], ...] = ()
    n_long: int = 0
    miss: str = ""

    def __add__(self, other: Leftovers) -> Leftovers:
        return Leftovers(
            self.n_unused + other.n_unused,
            tuple(sorted((*self.unused, *other.unused))[:FIRST]),
            self.n_unanswered + other.n_unanswered,
            tuple(sorted((*self.unanswered, *other.unanswered))[:FIRST]),
            self.n_long + other.n_long,
            self.miss or other.miss,
        )


def chunk_scorer(job: Job) -> ChunkFunction:
    """Return the function that scores a chunk; it can be sent to any process."""
    return ChunkFunction(f"{__name__}:score_chunk", job.encode())


def score_chunk(job: bytes, chunk: bytes) -> bytes:
    """Return the result of a chunk: a line with its leftovers, then its rows, compressed.

    Args:
        job: the job, encoded.
        chunk: the lines of the chunk.

    Raises:
        DataError: a line is invalid, or a duplicate.
    """
    return _score(_job(job), chunk)


@lru_cache(maxsize=1)
def _job(encoded: bytes) -> Job:
    return Job.decode(encoded)


def _score(job: Job, chunk: bytes) -> bytes:
    cases, rows = read_chunk(job, chunk)
    answers = RecordedAnswers(rows, job.systems)
    answers.limit_facets(job.facets)
    runner, reader, encoder = Runner(DEFAULT_MARKERS), _AnswerReader(job.verdicts), LineEncoder()
    lines: list[tuple[str, str, bytes]] = []  # encoded, because outcomes need much more memory
    leftovers = Leftovers()
    names: set[str] = set()
    for testbed in job.testbeds:
        axes = testbed.settings.multiplied
        tasks = _tasks(job, testbed, cases.get(testbed.file, ()), answers)
        while batch := list(islice(tasks, BATCH)):
            replies = [reader.read(task, RecordedAnswerer(answers, task.system, name, axes)) for task, name in batch]
            outcomes = [runner.run(task, each) for (task, _), each in zip(batch, replies, strict=True)]
            lines += [(outcome.testbed, outcome.nodeid, encoder.encode(outcome)) for outcome in outcomes]
            names.update(name for task, name in batch)
            names.update(task.case.id for task, name in batch)
            for each in filter(None, map(_leftovers, outcomes)):
                leftovers += each
    lines.sort()
    unused = answers.unused(names)
    miss = "" if job.verdicts is None else job.verdicts.take_miss()
    head = json.dumps(asdict(leftovers + Leftovers(len(unused), tuple(unused[:FIRST]), miss=miss)))
    return head.encode() + b"\n" + pack(line for _, _, line in lines)


def _leftovers(outcome: Outcome) -> Leftovers | None:
    """Return what an outcome adds to the leftovers of its chunk; None if nothing."""
    missing = outcome.error_type == "no_recorded_answer"
    if not missing and (outcome.length or 0) <= LONG:
        return None
    unanswered = ((outcome.case_id, outcome.system),) if missing else ()
    return Leftovers(n_unanswered=len(unanswered), unanswered=unanswered, n_long=int((outcome.length or 0) > LONG))


def leftovers_of(result: bytes) -> Leftovers:
    """Return the leftovers of a chunk's result."""
    plain = json.loads(result[: result.index(b"\n")])
    pairs = tuple((case, system) for case, system in plain["unanswered"])
    return Leftovers(**{**plain, "unused": tuple(plain["unused"]), "unanswered": pairs})


def rows_of(result: bytes) -> bytes:
    """Return the packed rows of a chunk's result."""
    return result[result.index(b"\n") + 1 :]


class _AnswerReader:
    """Reads recorded answers and verdicts instead of calling systems and judges.

    Args:
        verdicts: reads the recorded verdicts; None if no metric is judged.
    """

    def __init__(self, verdicts: VerdictReader | None) -> None:
        self._verdicts = verdicts
        self._scope = Scope(Meter())

    def read(self, task: Task, answerer: RecordedAnswerer) -> CaseResponses:
        """Return the recorded answer to a task, with the calls that its usage counts."""
        outer = SCOPE.set(self._scope)
        answer, fault, inputs = None, None, NO_INPUTS
        try:
            answer = answerer(task.case)
            if self._verdicts is not None:
                inputs = self._verdicts.read(task, Sample(task.case, answer, DEFAULT_MARKERS))
        except CaseError as error:
            answer, fault = answer or answer_before(error), error
        finally:
            SCOPE.reset(outer)
        calls = self._scope.meter.calls
        if calls.calls:  # otherwise the next case reuses the meter, which is slow to create
            self._scope = Scope(Meter())
        return CaseResponses(answer, fault, inputs, calls if calls.calls or self._verdicts is not None else None)


def _tasks(
    job: Job, testbed: ScoredTestbed, instances: Sequence[Instance], answers: RecordedAnswers
) -> Iterator[tuple[Task, str]]:
    """Yield each case under each system, with the case's name in the testbed."""
    settings = testbed.settings
    prefix = f"{testbed.nodeid}::" if len(job.testbeds) > 1 else ""
    several = len(job.systems) > 1
    systems = [(system, f"-system={safe(system)}" if several else "") for system in job.systems]
    for name, case in expand(settings, instances, settings.seed or 0):
        if settings.where and not matches(case.facets, settings.where):
            continue
        if case.instance.evidence and case.supplied is None:
            case = replace(case, located=job.evidence)
        base_name = prefix + _report_name(name, case.id)
        for system, suffix in systems:
            labels = answers.labels(system, case, name)
            answered = case.with_shared({**case.facets, "system": system, **labels, **workflow_and_model(case.facets)})
            yield (
                Task(base_name + suffix, testbed.nodeid, system, answered, testbed.computed, testbed.correctness),
                name,
            )


def _report_name(name: str, case_id: str) -> str:
    """Return the name of a case in reports: its id with its setting, which is unique in all chunks."""
    if name == case_id:
        return name
    plain = safe(case_id)
    return case_id + name.removeprefix(plain) if name.startswith(plain) else f"{case_id}-{name}"


LONG = 2**20
"""Maximum number of characters of an answer that reports store."""
