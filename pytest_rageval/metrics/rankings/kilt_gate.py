"""``kilt:METRIC``: an answer counts only if its evidence was retrieved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.rankings.evidence_ranks import NOT_IN_CORPUS
from pytest_rageval.metrics.rankings.pages import page_r_precision
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["gated_metric"]


def gated_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric ``kilt:METRIC`` for a METRIC whose higher values are better."""
    inner = name.removeprefix(f"{head}:")
    if inner in ("", name):
        raise SettingError(f"metric {short_repr(name)} gates no metric; write {head}:METRIC, as in {head}:token_f1")
    metric = get(inner)
    if not metric.higher_is_better:
        raise SettingError(
            f"metric {short_repr(name)} would reward missing evidence, because 0 is the best {inner}; remove it"
        )

    def gated(sample: Sample) -> Score:
        """Score an answer by another metric, if its evidence is at the top of the ranking.

        Formula: METRIC if `pages.page_r_precision` is 1, else 0. It is also 0 without a ranking or judgements, so its
        mean is over the same cases as that of METRIC. No value if the corpus lacks the evidence.
        Range: that of METRIC, higher is better. Empty input: as METRIC, also for not applicable.
        Source: KILT (Petroni et al., NAACL 2021), KILT scores; here for any metric.
        """
        score, pages = metric.compute(sample), page_r_precision(sample)
        if score.value is not None and pages is NOT_IN_CORPUS:
            return pages
        return score if score.value is None or pages.value == 1 else replace(score, value=0.0)

    return replace(metric, name=name, compute=gated, of="both")
