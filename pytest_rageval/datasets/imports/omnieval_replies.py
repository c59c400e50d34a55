"""Import replies of OmniEval's judges, one per line, parsed as in its published code."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.omnieval_compat import metric_name, reply_value, score_fields
from pytest_rageval.datasets.imports.rows import read_rows
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError

__all__ = ["import_rows"]


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import rows as scores. A row has ``id``, ``metric`` (OmniEval's name), ``reply`` and optionally ``system``."""
    for path in request.paths:
        for where, values in read_rows(path, result):
            record = Fields(where, values)
            try:
                name, metric, reply = record.identifier("id"), record.text("metric"), record.string("reply")
                system = request.system or record.string("system", "")
            except DataError as error:
                result.skip(error.where, error.problem)
                continue
            score: JsonObject = {"id": name, "metric": metric_name(metric), **({"system": system} if system else {})}
            result.drop(values, ("id", "metric", "reply", "system"))
            result.score(where, score | score_fields(metric, reply_value(reply, metric)), reply)
