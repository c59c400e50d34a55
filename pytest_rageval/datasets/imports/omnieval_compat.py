"""Parse judges' replies and results like OmniEval's published code; for imported files only.

Our own judges parse strictly (`pytest_rageval.judges.replies`): the reply is one JSON object with a declared label
within its scale; an unreadable reply is requested once more; `parse_error` and `not_applicable` are different reasons.
The published code differs in every point:

- It repairs broken JSON if it can, including full-width colons and commas and curly quotes. A list, prose or an empty
  object is -1.
- The last of several objects counts.
- The value is under "prediction", else under the metric's name, else it is -1.
- A value is anything that Python's `int` accepts: true is 1, 1.9 is 1, "2" is 2. Anything else, such as "2.0", is -1.
- It does not check the range: 3 of 2 is 1.5.
- A value below 0 means that the metric does not apply or that the reply is unreadable. The two cannot be separated.

Source: OmniEval (Wang et al., 2024), its evaluation code at commit b8385be. This module repairs common faults (fences,
surrounding prose, quotes, commas, a missing end), but not all that OmniEval's library json_repair repairs. Versions of
json_repair differ: from 0.44, the last of two objects with the same keys counts, like here; in 0.30 they become a list.
"""

from __future__ import annotations

import ast
import json
import math
import re
from contextlib import suppress
from typing import cast

from pytest_rageval.datasets.source import JsonObject

__all__ = ["METRICS", "UNKNOWN", "metric_name", "reply_value", "score_fields"]

METRICS = {
    "accuracy": "accuracy_judged",
    "em": "omnieval_em_compat",
    "f1": "omnieval_f1_compat",
    "map": "omnieval_map_compat",
    "mrr": "RR",
}
"""OmniEval's names of metrics -> our names, if they differ."""

JUDGED = ("accuracy", "completeness", "factuality", "hallucination", "numerical_accuracy", "utilization")
UNSCALED = ("hallucination", "numerical_accuracy")
"""Judged metrics whose values stay unchanged; values of the others are halved."""

UNKNOWN = "not_applicable_or_parse_error"
"""The reason for a judged value below 0."""

_PAIR = re.compile(
    r"""["'\u201c\u201d]?\b(\w+)["'\u201c\u201d]?\s*[:\uff1a]\s*"""
    r"""("[^"]*"?|'[^']*'?|\u201c[^\u201d]*\u201d?|[^,\uff0c}\s]+)"""
)
"""A key and its value, also with curly quotes, a full-width colon and a full-width comma."""

_QUOTES = "\"'\u201c\u201d"
_DECODER = json.JSONDecoder()
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def reply_value(reply: str, metric: str) -> float:
    """Return the number that the published code stores for a judge's reply; -1 if the reply is unreadable.

    Args:
        reply: the judge's reply.
        metric: OmniEval's name of the metric.
    """
    values = _repair(reply)
    if not isinstance(values, dict) or not values:
        return -1.0
    value = values.get("prediction", values.get(metric, -1))
    try:
        number = int(cast("int", value))  # raises for other types
        return float(number) if number == -1 or metric in UNSCALED else number / 2
    except (OverflowError, TypeError, ValueError):
        return -1.0


def score_fields(metric: str, value: float | None) -> JsonObject:
    """Return a score's ``value``, or the ``reason`` why it has none.

    Reasons: ``not_applicable_or_parse_error`` (a judged metric's value below 0), ``out_of_range`` (not in 0..1),
    ``not_a_number``.
    """
    if value is None or math.isnan(value):
        return {"reason": "not_a_number"}
    if value < 0 and metric in JUDGED:
        return {"reason": UNKNOWN}
    return {"value": value} if 0 <= value <= 1 else {"reason": "out_of_range"}


def metric_name(metric: str) -> str:
    """Return our name for an OmniEval metric, ignoring case: "RR" for "MRR" and "mrr"."""
    return METRICS.get(metric.lower(), metric)


def _repair(reply: str) -> object:
    """Return the last object in a reply that is not empty, repaired if broken; None for a list or prose."""
    start = re.search(r"[{\[]", reply)
    if start is None or start[0] == "[":
        return None
    result: object = None
    at = start.start()
    while at >= 0:
        try:
            value, length = _DECODER.raw_decode(reply[at:])  # slice: an error would count all lines before it
            end = at + length
        except (RecursionError, ValueError):
            end = reply.find("}", at) + 1 or len(reply)
            value = {key: _literal(text) for key, text in _PAIR.findall(reply[at:end])}
        result = value or result
        at = reply.find("{", end)
    return result


def _literal(text: str) -> object:
    if text[0] in _QUOTES:
        return text.strip(_QUOTES)
    with suppress(MemoryError, RecursionError, SyntaxError, ValueError):
        return ast.literal_eval(text)
    return _WORDS.get(text.lower(), text)
