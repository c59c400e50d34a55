"""``rag.score``: score recorded answers without a pytest session."""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.llm.parameters import check_parameters
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.scoring.baseline import baseline_at
from pytest_rageval.scoring.corpus import CorpusLines
from pytest_rageval.scoring.job import ScoredTestbed
from pytest_rageval.scoring.recorded_judge import RecordedJudge, find_recorded_judge, judged_metrics
from pytest_rageval.scoring.run import ScoreOrder, score_files
from pytest_rageval.scoring.scores import Scores
from pytest_rageval.scoring.testbeds import SUITE, cases_testbed, suite_testbeds

__all__ = ["Options", "score", "score_answers"]

Records = Iterable[Mapping[str, Any]]

NO_PARAMS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `score` in addition to the cases and the answers; they have the same names."""

    metrics: Sequence[str] = ()
    gates: Sequence[str] = ()
    cluster: str | None = None
    by: Sequence[str] = ()
    matrix: str | None = None
    rows: str | None = None
    cols: str | None = None
    baseline: str | Path | None = None
    out: str | Path | None = None
    jobs: int | None = None
    engine: str = "local"
    address: str | None = None
    corpus: Sequence[str] = ()
    chunking: str = "none"
    judge_model: str | None = None
    judge_params: Mapping[str, Any] = field(default_factory=dict)
    cassettes: str | Path = "cassettes"


def score(
    cases: str | Path | Records,
    answers: str | Path | Sequence[str | Path] | Records,
    *,
    metrics: Sequence[str] = (),
    gates: Sequence[str] = (),
    cluster: str | None = None,
    by: Sequence[str] = (),
    matrix: str | None = None,
    rows: str | None = None,
    cols: str | None = None,
    baseline: str | Path | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
    corpus: Sequence[str] = (),
    chunking: str = "none",
    judge_model: str | None = None,
    judge_params: Mapping[str, Any] = NO_PARAMS,
    cassettes: str | Path = "cassettes",
) -> Scores:
    """Score recorded answers.

    Args:
        cases: ``format:path``, the path of a suite ``NAME.rag.toml``, or records in our own format as mappings.
        answers: paths of recorded answers, or their records as mappings.
        metrics: the names of metrics; the default is that of a testbed.
        gates: gate expressions.
        cluster: the facet whose value dependent cases share.
        by: facets; the summary has the means over each of their values.
        matrix: the metric of a matrix; None draws none.
        rows: the facet of the matrix's rows.
        cols: the facet of the matrix's columns.
        baseline: what gates with ``baseline`` compare with: a folder of scores, a results.json or a baseline file.
        out: the folder to write; None writes nothing.
        jobs: number of processes; None for one on each core of the machine, or of the cluster.
        engine: what scores the chunks, a name of ``registry.engines``: "local" processes, or a "ray" cluster.
        address: ``HOST:PORT`` of the head of a Ray cluster that runs; None starts Ray on this machine.
        corpus: lines like those of ``rag_corpus``, which hold the evidence of cases.
        chunking: the chunking of the passages that rankings name, as ``rag_chunking``.
        judge_model: the name of a model, as ``rag_judge_model``; judged metrics read its recorded verdicts.
        judge_params: its parameters, as ``rag_judge_params``.
        cassettes: the folder of the recordings, as ``rag_cassettes``.

    Raises:
        DataError: a record is invalid or a duplicate.
        SettingError: an argument is invalid.
    """
    options = Options(
        metrics, gates, cluster, by, matrix, rows, cols, baseline, out, jobs, engine, address, corpus, chunking,
        judge_model, judge_params, cassettes,
    )  # fmt: skip
    return score_answers(cases, answers, options)


def score_answers(
    cases: str | Path | Records,
    answers: str | Path | Sequence[str | Path] | Records,
    options: Options,
    *,
    keep: bool = True,
) -> Scores:
    """Score recorded answers like `score`; without ``keep``, the scores have figures but no outcomes."""
    if options.jobs is not None and options.jobs < 1:
        raise SettingError(f"jobs is {options.jobs}; write a number of processes from 1 on")
    engine = Catalog().engines.get(options.engine, "--engine")(options.jobs, options.address)
    has_matrix = options.matrix or options.rows or options.cols
    baseline = None if options.baseline is None else baseline_at(Path(options.baseline))
    with tempfile.TemporaryDirectory(prefix="rageval-") as temporary:
        folder = Path(temporary)
        testbeds, paths = _testbeds(cases, folder / "cases.jsonl", options)
        files = _paths(answers, folder / "answers.jsonl")
        order = ScoreOrder(
            testbeds=testbeds,
            cases=tuple((path, _shown(path, folder)) for path in paths),
            answers=tuple((path, _shown(path, folder)) for path in files),
            out=folder / "scores" if options.out is None else Path(options.out),
            engine=engine,
            facets=tuple(options.by),
            matrix=MatrixChoice(options.matrix, options.rows, options.cols) if has_matrix else None,
            baseline=baseline,
            corpus=CorpusLines(tuple(options.corpus), options.chunking) if options.corpus else None,
            keep=keep,
            judge=_judge(testbeds, options),
        )
        with _without_collector():
            return score_files(order)


def _judge(testbeds: Sequence[ScoredTestbed], options: Options) -> RecordedJudge | None:
    """Return the judge whose recorded verdicts the metrics read; None if no metric is judged.

    Raises:
        SettingError: a judged metric has no judge, no metric asks the judge, or there are no recordings.
    """
    names = [metric.name for testbed in testbeds for metric in judged_metrics(testbed.computed)]
    if options.judge_model is None:
        if not names:
            return None
        problem = f"metric {short_repr(names[0])} needs verdicts of a judge, which are read from recordings"
        raise SettingError(f"{problem}; name its model with --judge-model, or run pytest --rag-answers")
    if not names:
        raise SettingError(f"no metric asks the judge {short_repr(options.judge_model)}; leave --judge-model out")
    if options.engine != "local":
        problem = f"metric {short_repr(names[0])} reads recordings, which only this machine has"
        raise SettingError(f"{problem}; leave --engine {options.engine} out")
    params, _ = check_parameters(options.judge_params, "judge_params")
    return find_recorded_judge(options.judge_model, params, Path(options.cassettes))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector: it would visit all rows repeatedly, and none is in a reference cycle."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _shown(path: Path, spool: Path) -> str:
    """Return the name of a file in messages; the name of records is that of their argument."""
    return path.stem if path.parent == spool else shown_path(path)


def _testbeds(
    cases: str | Path | Records, spool: Path, options: Options
) -> tuple[tuple[ScoredTestbed, ...], tuple[Path, ...]]:
    """Return the testbeds and the files of their cases; write records to a file first."""
    if isinstance(cases, (str, Path)) and str(cases).endswith(SUITE):
        if options.metrics or options.gates or options.cluster:
            raise SettingError(f"{cases} has its own metrics, gates and cluster; leave the arguments out")
        return suite_testbeds(Path(cases))
    dataset = str(cases) if isinstance(cases, (str, Path)) else f"jsonl:{_write(cases, spool)}"
    return cases_testbed(dataset, options.metrics, options.gates, options.cluster)


def _paths(answers: str | Path | Sequence[str | Path] | Records, spool: Path) -> tuple[Path, ...]:
    """Return the paths of answers; write records to a file first."""
    if isinstance(answers, (str, Path)):
        return (Path(answers),)
    if isinstance(answers, Sequence) and answers and all(isinstance(each, (str, Path)) for each in answers):
        return tuple(Path(str(each)) for each in answers)
    return (_write(answers, spool),)


def _write(records: Iterable[object], path: Path) -> Path:
    """Write records as JSON Lines."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for number, record in enumerate(records, start=1):
            if not isinstance(record, Mapping):
                raise SettingError(f"{path.stem}[{number - 1}] is {short_repr(record)}; give records as mappings")
            try:
                line = json.dumps(dict(record), ensure_ascii=False)
                line.encode()
            except (TypeError, ValueError) as error:
                raise SettingError(f"{path.stem}[{number - 1}] cannot be written as JSON: {error}") from None
            stream.write(line + "\n")
    return path
