"""Import replies of OmniEval's judges, one per line, parsed as in its published code."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.omnieval_compat import metric_name, reading, reply_value
from pytest_rageval.datasets.imports.rows import read_rows
from pytest_rageval.datasets.imports.taken import ImportResult, Order
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError

__all__ = ["take"]


def take(order: Order, result: ImportResult) -> None:
    """Import rows with ``id``, ``metric`` (OmniEval's name), ``reply`` and perhaps ``system`` as scores."""
    for path in order.paths:
        for where, values in read_rows(path, result):
            record = Fields(where, values)
            try:
                name, metric, reply = record.identifier("id"), record.text("metric"), record.string("reply")
                system = order.system or record.string("system", "")
            except DataError as error:
                result.leave(error.where, error.problem)
                continue
            score: JsonObject = {"id": name, "metric": metric_name(metric), **({"system": system} if system else {})}
            result.drop(values, ("id", "metric", "reply", "system"))
            result.score(where, score | reading(metric, reply_value(reply, metric)), reply)
