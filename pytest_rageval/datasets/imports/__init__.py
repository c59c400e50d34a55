"""Importers: convert files of other tools to our JSON Lines. Each format has a module."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult

__all__ = ["BUILTIN", "ImportRequest", "ImportResult", "Importer"]

Importer = Callable[[ImportRequest, ImportResult], None]
"""Converts the files of an `ImportRequest` into rows of an `ImportResult`, and records skipped rows there."""

BUILTIN: dict[str, str] = {
    "deepeval": "pytest_rageval.datasets.imports.samples:deepeval",
    "jsonl": "pytest_rageval.datasets.imports.samples:table",
    "omnieval-predictions": "pytest_rageval.datasets.imports.omnieval_predictions:import_rows",
    "omnieval-replies": "pytest_rageval.datasets.imports.omnieval_replies:import_rows",
    "omnieval-results": "pytest_rageval.datasets.imports.omnieval_results:import_rows",
    "otel": "pytest_rageval.datasets.imports.otel:import_rows",
    "ragas": "pytest_rageval.datasets.imports.samples:ragas",
    "ralle-chain": "pytest_rageval.datasets.imports.ralle_chain:import_rows",
    "ralle-output": "pytest_rageval.datasets.imports.ralle_output:import_rows",
    "react-log": "pytest_rageval.datasets.imports.react_log:import_rows",
    "reval-log": "pytest_rageval.datasets.imports.reval_log:import_rows",
    "rgb-predictions": "pytest_rageval.datasets.imports.rgb_predictions:import_rows",
    "table": "pytest_rageval.datasets.imports.samples:table",
    "toolbench": "pytest_rageval.datasets.imports.toolbench:import_rows",
}
"""Format name -> ``"module:attribute"`` of its importer."""
