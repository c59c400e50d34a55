"""Make names that MLflow allows, and use RaLLe's names for metrics that are the same."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container, Mapping

__all__ = ["digest_of", "metric_name", "name_part", "testbed_names", "unused_name"]

RALLE = {
    "exact_match": "em",
    "token_f1": "f1",
    "kilt:exact_match": "KILT-em",
    "kilt:token_f1": "KILT-f1",
    "kilt:kilt_accuracy": "KILT-accuracy",
    "kilt_em_compat": "em",
    "kilt_f1_compat": "f1",
    "kilt_rouge_l_compat": "rougel",
    "kilt:kilt_em_compat": "KILT-em",
    "kilt:kilt_f1_compat": "KILT-f1",
    "kilt:kilt_rouge_l_compat": "KILT-rougel",
    "page_Rprec": "Rprec",
}
"""Our metric -> RaLLe's name of the same metric. RaLLe's ``has_answer`` matches letters, ours matches words."""

KILT_VARIANTS = {
    "exact_match": "kilt_em_compat",
    "token_f1": "kilt_f1_compat",
    "kilt:exact_match": "kilt:kilt_em_compat",
    "kilt:token_f1": "kilt:kilt_f1_compat",
}
"""Metric -> its variant that scores empty answers as KILT does. If a run has both, the variant has RaLLe's name."""

MAX_PART = 60  # characters of a part of a name

_UNSAFE = re.compile(r"[^\w.\- ]")


def metric_name(metric: str, others: Container[str] = ()) -> str:
    """Return a metric's name in MLflow; RaLLe's name if the metric is the same.

    ``page_R@5`` is RaLLe's ``recall_at_5``; so is ``R@5`` if the run does not have ``page_R@5``. ``page_Rprec`` is
    ``Rprec``; if the run also has our ``Rprec`` for passages, that is ``passage_Rprec``. ``exact_match`` is ``em`` if
    the run does not have ``kilt_em_compat``. ``nDCG@10`` becomes ``nDCG_at_10``; an underscore replaces any other
    character that MLflow does not allow.

    Args:
        metric: our name of the metric.
        others: the names of the run's metrics.
    """
    if KILT_VARIANTS.get(metric) in others:
        return name_part(metric)
    if metric == "Rprec" and "page_Rprec" in others:
        return "passage_Rprec"
    recall, at, k = metric.rpartition("R@")
    if at and recall in ("", "page_") and not (recall == "" and f"page_{metric}" in others):
        return f"recall_at_{k}"
    return RALLE.get(metric) or name_part(metric.replace("@", "_at_"))


def testbed_names(testbeds: Mapping[str, str]) -> dict[str, str]:
    """Return node id -> name of the testbed in MLflow: its short name, or its node id if several share the name.

    Args:
        testbeds: node id -> name.
    """
    n_testbeds = Counter(testbeds.values())
    return {nodeid: name_part(nodeid if n_testbeds[name] > 1 else name) for nodeid, name in testbeds.items()}


def name_part(text: str) -> str:
    """Return a text as one part of a name; truncate a long one, with a digest to keep it unique."""
    safe = _UNSAFE.sub("_", text)
    if len(safe) > MAX_PART:
        return f"{safe[: MAX_PART - 9]}-{digest_of(text)}"
    return safe if safe.strip(". ") else "_"


def unused_name(name: str, names: Container[str]) -> str:
    """Return a name, with a number if ``names`` already has it."""
    number, candidate = 2, name
    while candidate in names:
        number, candidate = number + 1, f"{name}_{number}"
    return candidate


def digest_of(text: str) -> str:
    """Return the first eight hex digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
