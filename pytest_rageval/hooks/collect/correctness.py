"""Choose the metric that decides whether an answer is correct, for the diagnosis of a testbed."""

from __future__ import annotations

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.engine.diagnosis import correctness_by, first_correctness, reads_diagnosis, scores_answers
from pytest_rageval.engine.task import Correctness
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.collect.testbed import Testbed
from pytest_rageval.hooks.config.diagnosis_rule import DIAGNOSIS, DiagnosisRule

__all__ = ["check_diagnosis_metrics", "correctness_of"]


def correctness_of(testbed: Testbed, catalog: Catalog, rule: DiagnosisRule | None) -> Correctness | None:
    """Return the rule that decides whether an answer of a testbed is correct; None if there is none.

    The rule uses the metric of ``rag_diagnosis``, which the testbed then also computes. Without this setting, it uses
    the testbed's first metric that scores answers. A testbed with an RGB ability has no diagnosis, so it does not
    compute the metric of ``rag_diagnosis``.

    Raises:
        SettingError: the metric of ``rag_diagnosis`` is unknown or does not say which answers are right.
    """
    if rule is None or not rule.metric:
        return first_correctness(testbed.metrics.values(), None if rule is None else rule.threshold)
    metric = catalog.metrics.get(rule.metric, DIAGNOSIS)
    if not scores_answers(metric):
        problem = "does not say which answers are right; name a metric of answers, such as hotpot_f1"
        raise SettingError(f"{DIAGNOSIS}: metric {short_repr(rule.metric)} {problem}")
    if testbed.settings.ability:
        return None
    testbed.compute(rule.metric, metric)
    return correctness_by(metric, rule.threshold)


def check_diagnosis_metrics(testbed: Testbed, where: str) -> None:
    """Raise `SettingError` if a testbed has a diagnosis metric, but no metric that says which answers are right."""
    name = next((name for name, metric in testbed.metrics.items() if reads_diagnosis(metric)), None)
    if name is not None and testbed.correctness is None and not testbed.settings.ability:
        hint = f"add one to metrics, such as token_f1, or set {DIAGNOSIS} = metric=token_f1"
        raise SettingError(
            f"{where}: metric {short_repr(name)} needs a metric that says which answers are right; {hint}"
        )
