"""What things are called in MLflow, which allows letters, digits and ``_-. /``, and RaLLe's names of metrics."""

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
"""Our metrics -> RaLLe's name for the same. Its ``has_answer`` is not ours, as it matches letters instead of words."""

NEARER = {
    "exact_match": "kilt_em_compat",
    "token_f1": "kilt_f1_compat",
    "kilt:exact_match": "kilt:kilt_em_compat",
    "kilt:token_f1": "kilt:kilt_f1_compat",
}
"""Metrics that give RaLLe's name to another one of the run, which has KILT's values for empty answers too."""

LONGEST = 60  # characters of a part of a name

_UNSAFE = re.compile(r"[^\w.\- ]")


def metric_name(metric: str, others: Container[str] = ()) -> str:
    """Return a metric's name in MLflow, which allows letters, digits and ``_-. /``: RaLLe's where that means the same.

    ``page_R@5`` is its ``recall_at_5``; so is ``R@5`` where ``page_R@5`` is not among the ``others`` of a run.
    ``page_Rprec`` is its ``Rprec``, beside which that of passages is ``passage_Rprec``. ``exact_match`` is its ``em``
    unless ``kilt_em_compat`` is there. ``nDCG@10`` is ``nDCG_at_10``, and any other character an underscore.
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
    """Return node id -> what the testbed is called: its name, or where several share it the node id.

    Args:
        testbeds: node id -> name.
    """
    sharing = Counter(testbeds.values())
    return {nodeid: name_part(nodeid if sharing[name] > 1 else name) for nodeid, name in testbeds.items()}


def name_part(text: str) -> str:
    """Return a text as one part of a name; a long one is cut, with a digest that tells it from others."""
    safe = _UNSAFE.sub("_", text)
    if len(safe) > LONGEST:
        return f"{safe[: LONGEST - 9]}-{digest_of(text)}"
    return safe if safe.strip(". ") else "_"


def unused(name: str, taken: Container[str]) -> str:
    """Return a name, with a number behind it where another text has become the same."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}_{number}"
    return free


def digest_of(text: str) -> str:
    """Return eight digits that tell a text from others."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
