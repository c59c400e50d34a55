"""Score files of recorded answers: split them, score the chunks, merge their rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.gates import PSEUDO_METRICS, check_gate, parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.usage import CALLS
from pytest_rageval.errors import SettingError, UnknownNameError, did_you_mean, short_repr
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.model.facets import FACETS, in_slice
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.text.lines import counted
from pytest_rageval.scoring.chunk import Leftovers, chunk_scorer, leftovers_of, rows_of
from pytest_rageval.scoring.corpus import CorpusLines, locate_evidence
from pytest_rageval.scoring.engines import Engine
from pytest_rageval.scoring.folder import ScoreFolder, write_errors
from pytest_rageval.scoring.job import Job, ScoredTestbed
from pytest_rageval.scoring.merge import clusters_of, figures_of, outcomes_of, plan_of, unrecorded
from pytest_rageval.scoring.parts import format_of
from pytest_rageval.scoring.recorded_judge import RecordedJudge
from pytest_rageval.scoring.scores import Scores
from pytest_rageval.scoring.split import InputFile, SplitData, ignored_keys, split
from pytest_rageval.scoring.summary import summary_of, text_of
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.versions import versions

__all__ = ["ScoreOrder", "score_files"]


@dataclass(frozen=True, slots=True)
class ScoreOrder:
    """The inputs and settings of one call of `score_files`.

    Attributes:
        testbeds: the testbeds; `ScoredTestbed.file` is an index of ``cases``.
        cases: the files of cases, with their names in messages.
        answers: the files of answers, with their names in messages.
        out: the folder to write.
        engine: scores the chunks.
        facets: facets; the summary has a mean for each of their values.
        matrix: the matrix; None for no matrix.
        baseline: what baseline gates compare with.
        corpus: the corpus with the evidence of cases; None for none.
        keep: whether the scores keep the outcomes; False frees their memory before files are written.
        judge: judged metrics read its recorded verdicts; None if no metric is judged.
    """

    testbeds: tuple[ScoredTestbed, ...]
    cases: tuple[tuple[Path, str], ...]
    answers: tuple[tuple[Path, str], ...]
    out: Path
    engine: Engine
    facets: tuple[str, ...] = ()
    matrix: MatrixChoice | None = None
    baseline: Snapshot | None = None
    corpus: CorpusLines | None = None
    keep: bool = True
    judge: RecordedJudge | None = None


def score_files(order: ScoreOrder) -> Scores:
    """Score recorded answers and write the folder of the order.

    Raises:
        DataError: a line is invalid or a duplicate.
        SettingError: a gate, a metric or the folder cannot be used.
    """
    clock = _Clock()
    _check_gates(order)
    folder = ScoreFolder(order.out)
    folder.prepare()
    data = _split(order, folder)
    folder.check(data.digest)
    job = _job(order, data)
    located, warnings = locate_evidence(order.corpus, data.evidence) if order.corpus else ("", ())
    job = replace(job, located=located)
    clock.lap("split")
    results, leftovers = _score(order, folder, job, data)
    clock.lap("score")
    outcomes = outcomes_of(_parts(results), clusters_of(job), details=order.keep or order.baseline is not None)
    clock.lap("merge")
    plan = plan_of(job.testbeds, outcomes)
    _check_slices(plan, outcomes)
    figures = figures_of(plan, outcomes, order.baseline, order.facets, order.matrix)
    notes = (*warnings, *_notes(data, job, leftovers), *unrecorded(order.testbeds, outcomes, leftovers.miss))
    clock.lap("figures")
    form = format_of(outcomes, tuple(plan.metrics))
    if not order.keep:
        outcomes = []
    scores = Scores(outcomes, figures, leftovers, order.out, notes)
    manifest = _manifest(data, job, plan, clock, len(results), order.engine.addresses)
    parts = map(form.part, _parts(results))
    folder.finish(parts, form.suffix, summary_of(figures, leftovers), text_of(scores), manifest)
    return scores


def _parts(results: Sequence[Path]) -> Iterator[bytes]:
    """Yield the packed rows of each result."""
    return (rows_of(path.read_bytes()) for path in results)


class _Clock:
    """Measures the seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.started = datetime.now(timezone.utc)
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 3)
        self._last = now


def _split(order: ScoreOrder, folder: ScoreFolder) -> SplitData:
    cases = [InputFile(path, name, *_dataset(order, at)) for at, (path, name) in enumerate(order.cases)]
    answers = [InputFile(path, name) for path, name in order.answers]
    try:
        with write_errors(order.out):
            return split(cases, answers, folder.chunks, evidence=order.corpus is not None)
    except BaseException:
        folder.discard_chunks()
        raise


def _dataset(order: ScoreOrder, file: int) -> tuple[str, str]:
    """Return the facet ``dataset`` and the format of a file of cases."""
    return next((testbed.dataset, testbed.form) for testbed in order.testbeds if testbed.file == file)


def _job(order: ScoreOrder, data: SplitData) -> Job:
    """Return the job; before scoring, check the gates against the facets of sample cases."""
    facets = set(FACETS)
    for testbed in order.testbeds:
        case_facets = set(FACETS)
        for instance in data.samples.get(testbed.file, ()):
            for _, case in expand(testbed.settings, [instance], testbed.settings.seed or 0):
                case_facets.update(case.facets)
        _check_testbed(testbed, case_facets)
        facets |= case_facets
    matrix = order.matrix or MatrixChoice()
    for option, name in (*(("--by", name) for name in order.facets), ("--rows", matrix.rows), ("--cols", matrix.cols)):
        if name is not None and name not in facets:
            raise SettingError(
                f"{option} names {short_repr(name)}, a facet that no case has; {did_you_mean(name, facets)}"
            )
    files = tuple(name for _, name in (*order.cases, *order.answers))
    systems = {name: tuple(labels) for name, labels in data.systems.items()}
    return Job(order.testbeds, files, systems, frozenset(facets), judge=order.judge)


def _check_testbed(testbed: ScoredTestbed, facets: set[str]) -> None:
    where = testbed.settings.origin
    for text in testbed.settings.gates:
        check_gate(parse_gate(text, where), testbed.metrics, facets, where)
    if testbed.settings.cluster is not None and testbed.cluster not in facets:
        raise SettingError(f"{where}: cluster is {short_repr(testbed.cluster)}, a facet that no case has")


def _check_gates(order: ScoreOrder) -> None:
    """Raise for a matrix or a gate that cannot be computed, before any file is read."""
    metrics = {name for testbed in order.testbeds for name in testbed.metrics}
    if order.matrix is not None and order.matrix.metric not in (None, *metrics, *PSEUDO_METRICS):
        raise UnknownNameError("metric", order.matrix.metric, metrics, "--matrix")
    for testbed in order.testbeds:
        for gate in (parse_gate(text, testbed.settings.origin) for text in testbed.settings.gates):
            if gate.baseline and order.baseline is None:
                raise SettingError(f"gate {short_repr(str(gate))} compares with a baseline; name it with --baseline")
            if gate.metric in CALLS:
                raise SettingError(f"gate {short_repr(str(gate))} counts steps of traces; run pytest --rag-answers")


def _score(order: ScoreOrder, folder: ScoreFolder, job: Job, data: SplitData) -> tuple[list[Path], Leftovers]:
    """Score the chunks without a result; return all results in order."""
    results = {chunk: folder.result(chunk, job.digest) for chunk in data.chunks}
    missing = [chunk for chunk, result in results.items() if not result.is_file()]
    for chunk, result in order.engine.map(missing, chunk_scorer(job)):
        folder.store(results[chunk], result)
    leftovers = Leftovers()
    for path in results.values():
        leftovers += leftovers_of(path.read_bytes())
    return list(results.values()), leftovers


def _check_slices(plan: Plan, outcomes: Sequence[Outcome]) -> None:
    """Raise for a gate that no case matches, because it would look green without a check."""
    for testbed in plan.testbeds.values():
        for gate in map(parse_gate, testbed.gates):
            cases = (outcome for outcome in outcomes if outcome.testbed == testbed.nodeid)
            if not any(in_slice(outcome.facets, gate.static_slice) for outcome in cases):
                raise SettingError(f"gate {short_repr(str(gate))} matches no case; correct its facets", code="RAG112")


def _notes(data: SplitData, job: Job, leftovers: Leftovers) -> tuple[str, ...]:
    notes = []
    if ignored := ignored_keys(data, job.facets):
        notes.append(f"recorded answers have the keys {', '.join(ignored)}, which are facets of no case")
    if n := leftovers.n_unused:
        are = "is" if n == 1 else "are"
        notes.append(f"{counted(n, 'recorded answer')} {are} for no case: {_few(leftovers.unused)}")
    if n := leftovers.n_unanswered:
        pairs = [f"{case} ({system})" for case, system in leftovers.unanswered]
        notes.append(f"{counted(n, 'case')} {'has' if n == 1 else 'have'} no answer: {_few(pairs)}")
    if n := leftovers.n_long:
        notes.append(f"{counted(n, 'answer')} of more than 1 MiB; all of the text was scored")
    return tuple(notes)


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(short_repr, names))


def _manifest(
    data: SplitData, job: Job, plan: Plan, clock: _Clock, n_parts: int, nodes: Sequence[str]
) -> dict[str, Any]:
    return {
        "started": clock.started.isoformat(timespec="seconds"),
        "data": data.digest,
        "job": job.digest,
        "files": list(job.files),
        "systems": list(job.systems),
        "versions": versions(),
        "chunks": n_parts,
        "cases": sum(data.n_cases.values()),
        "answers": data.n_answers,
        "nodes": list(nodes),
        **({} if job.judge is None else {"judge": {"model": job.judge.model, "recordings": job.judge.digest}}),
        "seconds": clock.seconds,
        "testbeds": {key: encoder(TestbedPlan)(replace(each, where="")) for key, each in plan.testbeds.items()},
        "metrics": {key: encoder(MetricInfo)(each) for key, each in plan.metrics.items()},
    }
