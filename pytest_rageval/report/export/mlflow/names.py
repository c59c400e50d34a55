"""Names for MLflow: allowed characters, and RaLLe's names of metrics."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container, Mapping

__all__ = ["digest_of", "metric_name", "name_part", "testbed_names", "unused"]

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

NEARER = {
    "exact_match": "kilt_em_compat",
    "token_f1": "kilt_f1_compat",
    "kilt:exact_match": "kilt:kilt_em_compat",
    "kilt:token_f1": "kilt:kilt_f1_compat",
}
"""Metric -> the variant with KILT's values for empty answers; if a run has both, the variant has RaLLe's name."""

LONGEST = 60  # characters of a part of a name

_UNSAFE = re.compile(r"[^\w.\- ]")


def metric_name(metric: str, others: Container[str] = ()) -> str:
    """Return a metric's name in MLflow; RaLLe's name if the metric is the same.

    ``page_R@5`` is RaLLe's ``recall_at_5``; so is ``R@5`` unless ``page_R@5`` is among the ``others`` of a run.
    ``page_Rprec`` is ``Rprec``; if a run has both, ours for passages is ``passage_Rprec``. ``exact_match`` is ``em``
    unless ``kilt_em_compat`` is there. ``nDCG@10`` becomes ``nDCG_at_10``, and any other character an underscore.
    """
    if NEARER.get(metric) in others:
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
    sharing = Counter(testbeds.values())
    return {nodeid: name_part(nodeid if sharing[name] > 1 else name) for nodeid, name in testbeds.items()}


def name_part(text: str) -> str:
    """Return a text as one part of a name; a long one is truncated, with a digest to keep it unique."""
    safe = _UNSAFE.sub("_", text)
    if len(safe) > LONGEST:
        return f"{safe[: LONGEST - 9]}-{digest_of(text)}"
    return safe if safe.strip(". ") else "_"


def unused(name: str, names: Container[str]) -> str:
    """Return a name, with a number if it is already taken."""
    number, free = 2, name
    while free in names:
        number, free = number + 1, f"{name}_{number}"
    return free


def digest_of(text: str) -> str:
    """Return the first eight hex digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
