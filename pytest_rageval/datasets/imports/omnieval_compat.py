"""How OmniEval's published code reads its judge and its own results: for imported files, and for nothing else.

Our own judges are read strictly (`pytest_rageval.judges.replies`): a label that was declared, within its scale, in one
JSON object; one more question where the reply is none; `parse_error` kept apart from `not_applicable`. The published
reading differs in every one of these:

- broken JSON is mended as far as it goes, with full-width colons and commas and curly quotes; a list, prose or an
  empty object is -1;
- of several objects the last counts;
- the value stands under "prediction", else under the metric's name, else it is -1;
- whatever Python's `int` takes is a value: true is 1, 1.9 is 1, "2" is 2; what it does not take, as "2.0", is -1;
- no range is checked: 3 of 2 is 1.5;
- below 0 a value means that the metric does not apply, or that nothing could be read: nobody can tell which.

Source: OmniEval (Wang et al., 2024), its evaluation code at commit b8385be; mended is what is broken in common ways
(fences, prose around, quotes, commas, an end that is missing), not all that the library it uses, json_repair, mends.
Its versions differ: from 0.44 on the last of two objects with the same keys counts, as here; in 0.30 two are a list.
"""

from __future__ import annotations

import ast
import json
import math
import re
from contextlib import suppress
from typing import cast

from pytest_rageval.datasets.source import JsonObject

__all__ = ["METRICS", "UNKNOWN", "metric_name", "reading", "reply_value"]

METRICS = {
    "accuracy": "accuracy_judged",
    "em": "omnieval_em_compat",
    "f1": "omnieval_f1_compat",
    "map": "omnieval_map_compat",
    "mrr": "RR",
}
"""OmniEval's names of metrics that bear another name here."""

JUDGED = ("accuracy", "completeness", "factuality", "hallucination", "numerical_accuracy", "utilization")
WHOLE = ("hallucination", "numerical_accuracy")
"""The judged metrics whose values are stored as they are; the others' are halved."""

UNKNOWN = "not_applicable_or_parse_error"
"""The reason of a judged value below 0."""

_PAIR = re.compile(
    r"""["'\u201c\u201d]?\b(\w+)["'\u201c\u201d]?\s*[:\uff1a]\s*"""
    r"""("[^"]*"?|'[^']*'?|\u201c[^\u201d]*\u201d?|[^,\uff0c}\s]+)"""
)
"""A key and its value, also with curly quotes, a full-width colon and a full-width comma after it."""

_QUOTES = "\"'\u201c\u201d"
_DECODER = json.JSONDecoder()
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def reply_value(reply: str, metric: str) -> float:
    """Return the value that the published code stores for a judge's reply; any number, and -1 where it reads none.

    Args:
        reply: what the judge said.
        metric: OmniEval's name of the metric.
    """
    said = _mended(reply)
    if not isinstance(said, dict) or not said:
        return -1.0
    value = said.get("prediction", said.get(metric, -1))
    try:
        number = int(cast("int", value))  # which refuses what it does not take
        return float(number) if number == -1 or metric in WHOLE else number / 2
    except (OverflowError, TypeError, ValueError):
        return -1.0


def reading(metric: str, value: float | None) -> JsonObject:
    """Return ``value`` of a score or, where it is none, the ``reason``.

    Reasons: ``not_applicable_or_parse_error`` (a judged metric's value below 0), ``out_of_range`` (not in 0..1),
    ``not_a_number``.
    """
    if value is None or math.isnan(value):
        return {"reason": "not_a_number"}
    if value < 0 and metric in JUDGED:
        return {"reason": UNKNOWN}
    return {"value": value} if 0 <= value <= 1 else {"reason": "out_of_range"}


def metric_name(metric: str) -> str:
    """Return our name of one of OmniEval's metrics, which it writes in either case: "RR" for "MRR" and "mrr"."""
    return METRICS.get(metric.lower(), metric)


def _mended(reply: str) -> object:
    """Return the last object of a reply that is not empty, mended where it is broken; None for a list or prose."""
    start = re.search(r"[{\[]", reply)
    if start is None or start[0] == "[":
        return None
    said: object = None
    at = start.start()
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(reply, at)
        except (RecursionError, ValueError):
            end = reply.find("}", at) + 1 or len(reply)
            value = {key: _literal(text) for key, text in _PAIR.findall(reply[at:end])}
        said = value or said
        at = reply.find("{", end)
    return said


def _literal(text: str) -> object:
    if text[0] in _QUOTES:
        return text.strip(_QUOTES)
    with suppress(MemoryError, RecursionError, SyntaxError, ValueError):
        return ast.literal_eval(text)
    return _WORDS.get(text.lower(), text)
