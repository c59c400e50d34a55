"""The job that scores one chunk: testbeds, systems and metrics, the same for all chunks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.engine.diagnosis import first_correctness
from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.task import Correctness
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.evidence import LocatedEvidence
from pytest_rageval.model.metric import Metric
from pytest_rageval.scoring.corpus import decode_evidence
from pytest_rageval.scoring.recorded_judge import RecordedJudge, VerdictReader
from pytest_rageval.testbeds.settings import Settings
from pytest_rageval.versions import installed_version

__all__ = ["Job", "ScoredTestbed", "metrics_named"]


@dataclass(frozen=True)
class ScoredTestbed:
    """A testbed whose cases are scored.

    Attributes:
        nodeid: its node id; the same as pytest's if a suite declares it.
        name: its short name.
        settings: its settings.
        metrics: the names of its metrics, the primary one first.
        dataset: the value of the facet ``dataset``.
        file: the index of its file of cases in `Job.files`.
        cluster: the facet whose value its dependent cases share.
    """

    nodeid: str
    name: str
    settings: Settings
    metrics: tuple[str, ...]
    dataset: str
    file: int
    cluster: str

    @property
    def form(self) -> str:
        """The format of its cases."""
        return self.settings.dataset.partition(":")[0]

    @cached_property
    def computed(self) -> tuple[Metric, ...]:
        """Its metrics."""
        return metrics_named(self.metrics, self.settings.origin)

    @cached_property
    def correctness(self) -> Correctness | None:
        """The rule that decides whether an answer is right."""
        return first_correctness(self.computed)


@dataclass(frozen=True)
class Job:
    """What a process needs to score any chunk, in addition to its bytes.

    Attributes:
        testbeds: the testbeds.
        files: the names of all files for messages; the index is the file's number in chunks.
        systems: the systems of all answers -> the distinct facets ``workflow`` and ``model`` of their rows.
        facets: the facets of all cases, and those that any case may have.
        located: the places of the evidence of cases in the corpus, encoded; "" without a corpus.
        judge: judged metrics read its recorded verdicts; None if no metric is judged.
    """

    testbeds: tuple[ScoredTestbed, ...]
    files: tuple[str, ...]
    systems: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)
    facets: frozenset[str] = frozenset()
    located: str = ""
    judge: RecordedJudge | None = None

    @cached_property
    def evidence(self) -> LocatedEvidence | None:
        """The places of the evidence of cases in the corpus; None without a corpus."""
        return decode_evidence(self.located) if self.located else None

    @cached_property
    def verdicts(self) -> VerdictReader | None:
        """Reader of the judge's recorded verdicts, which reads their file once; None without a judge."""
        return None if self.judge is None else VerdictReader(self.judge)

    def encode(self) -> bytes:
        """Return the job as bytes that any process can decode."""
        return json.dumps(asdict(self), default=sorted).encode()

    @classmethod
    def decode(cls, plain: bytes) -> Job:
        """Return the job from the bytes of `encode`."""
        values = _with_tuples(json.loads(plain))
        testbeds = tuple(
            ScoredTestbed(**each | {"settings": _settings(each["settings"])}) for each in values["testbeds"]
        )
        judge = values["judge"] and RecordedJudge(**values["judge"])
        return cls(**values | {"testbeds": testbeds, "facets": frozenset(values["facets"]), "judge": judge})

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides the scores of a chunk, except the bytes of the chunk."""
        testbeds = [
            (each.nodeid, each.metrics, each.dataset, each.file, sorted(_plain(each.settings).items()))
            for each in self.testbeds
        ]
        version, systems = installed_version("pytest-rageval"), sorted(self.systems.items())
        parts = [version, testbeds, systems, sorted(self.facets), self.located]
        if self.judge is not None:
            parts += [self.judge.model, sorted(self.judge.params.items()), self.judge.digest]
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _settings(plain: dict[str, Any]) -> Settings:
    return Settings(**plain | {"explicit": frozenset(plain["explicit"])})


def _with_tuples(plain: Any) -> Any:
    """Return decoded JSON with tuples instead of lists."""
    if isinstance(plain, dict):
        return {key: _with_tuples(value) for key, value in plain.items()}
    return tuple(map(_with_tuples, plain)) if isinstance(plain, list) else plain


def _plain(settings: Settings) -> dict[str, object]:
    """Return settings with a stable `repr`, because the order of a set differs between processes."""
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    return values | {"explicit": sorted(settings.explicit), "gates": (), "origin": ""}


def metrics_named(names: tuple[str, ...], where: str) -> tuple[Metric, ...]:
    """Return metrics by name.

    Raises:
        SettingError: a metric is unknown, or needs a model.
    """
    registry = Catalog().metrics
    metrics = tuple(registry.get(name, where) for name in names)
    for metric in metrics:
        needed = ["people's labels"] if corrected_metric(metric.name) else [each.name for each in inputs_of([metric])]
        if needed == ["verdicts"] and hasattr(metric.judge, "messages"):  # its model's replies may be recorded
            continue
        if needed:
            problem = f"metric {short_repr(metric.name)} needs {needed[0]}, which rageval score does not ask for"
            raise SettingError(f"{where}: {problem}; run pytest --rag-answers, or name a metric that is a rule")
    return metrics
