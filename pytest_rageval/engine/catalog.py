"""The registries of a session: built-in and users' metrics, systems, judges and formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.registry import Registry

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.datasets import Loader
    from pytest_rageval.judges.prompted import PromptedJudge
    from pytest_rageval.model.metric import Metric
    from pytest_rageval.retrieval import RetrieverFactory
    from pytest_rageval.systems import SystemFactory

__all__ = ["Catalog"]


class Catalog:
    """The registries of one session, handed to ``pytest_rageval_register`` as ``registry``.

    ``registry.metrics.register("brevity", Metric("brevity", compute))`` makes a metric usable from
    markers, suites, gates and the command line; the other registries work in the same way.

    Attributes:
        corpora: format name -> reader (``(Path, str) -> Iterable[Document]``).
        datasets: format name -> loader (``Path -> tuple[Instance, ...]``).
        engines: name -> factory of an engine of `rageval score`, which knows the built-in ones.
        metrics: metric name -> `Metric`.
        retrievers: name -> factory (``RetrieverParts -> Retriever``).
        systems: name -> factory (``SystemParts -> System``).
        judges: name -> `PromptedJudge`, `FunctionJudge` or function; each is also a metric with this name, except
            judges of pairs.
        pair_judges: name -> `PromptedJudge` with ``pair=True``, built-in or registered among ``judges``.
    """

    def __init__(self) -> None:
        self.corpora: Registry[Reader] = Registry("corpus format", "pytest_rageval.corpora:BUILTIN", _problem)
        self.datasets: Registry[Loader] = Registry("dataset format", "pytest_rageval.datasets:BUILTIN", _problem)
        self.engines: Registry[Any] = Registry("engine", "pytest_rageval.scoring.engines:BUILTIN", _problem)
        self.pair_judges: Registry[PromptedJudge] = Registry("judge of pairs", "pytest_rageval.judges.pairwise:BUILTIN")
        self.metrics: Registry[Metric] = _Metrics(self.pair_judges)
        self.retrievers: Registry[RetrieverFactory] = Registry(
            "retriever", "pytest_rageval.retrieval:BUILTIN", _problem, "pytest_rageval.retrieval:FAMILIES"
        )
        self.systems: Registry[SystemFactory] = Registry(
            "system", "pytest_rageval.systems:BUILTIN", _problem, "pytest_rageval.systems:FAMILIES"
        )
        self.judges = _Judges(self.metrics, self.pair_judges)


class _Metrics(Registry[Any]):
    """The registry of metrics; its error for a judge of pairs says how to use that judge."""

    def __init__(self, pair_judges: Registry[PromptedJudge]) -> None:
        package = "pytest_rageval.metrics"
        super().__init__(
            "metric", f"{package}:BUILTIN", _metric_problem, f"{package}:FAMILIES", f"{package}:OTHER_NAMES"
        )
        self._pair_judges = pair_judges

    def get(self, name: str, where: str = "") -> Metric:
        if name not in self and name in self._pair_judges:
            advice = f"ask it with rageval analyze preferences --judge {name}"
            problem = f"the judge {short_repr(name)} compares two answers and is no metric of one; {advice}"
            raise SettingError(f"{where}: {problem}" if where else problem)
        metric: Metric = super().get(name, where)
        return metric


class _Judges(Registry[object]):
    """The registry of judges; registering a judge of single answers also registers its metric."""

    def __init__(self, metrics: Registry[Metric], pair_judges: Registry[PromptedJudge]) -> None:
        super().__init__("judge")
        self._metrics = metrics
        self._pair_judges = pair_judges

    def register(self, name: str, value: object) -> None:
        from pytest_rageval.judges.prompted import PromptedJudge
        from pytest_rageval.judges.scoring import as_metric

        metric = as_metric(name, value)
        if isinstance(value, PromptedJudge) and value.pair:
            self._pair_judges.register(name, value)
        else:
            self._metrics.register(name, metric)
        super().register(name, value)


def _problem(name: str, value: object) -> str | None:
    return None if callable(value) else f"{short_repr(value)} cannot be called"


def _metric_problem(name: str, value: object) -> str | None:
    from pytest_rageval.model.metric import Metric

    if not isinstance(value, Metric):
        return f'{short_repr(value)} is no Metric; wrap the function: Metric("{name}", function)'
    if value.name != name:
        return f"the Metric is named {short_repr(value.name)}; give both one name"
    return _unknown_need(value) if value.needs else None


def _unknown_need(metric: Metric) -> str | None:
    from pytest_rageval.engine.inputs.table import INPUTS

    known = [each.name for each in INPUTS]
    unknown = next((name for name in metric.needs if name not in known), None)
    if unknown is None:
        return None
    return f"its needs name the unknown scoring input {short_repr(unknown)}; {did_you_mean(unknown, known)}"
