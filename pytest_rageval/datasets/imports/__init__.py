"""Importers: convert files of other tools to our JSON Lines. Each format has a module."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.datasets.imports.taken import ImportResult, Order

__all__ = ["BUILTIN", "ImportResult", "Importer", "Order"]

Importer = Callable[[Order, ImportResult], None]
"""Reads the files of an `Order` into an `ImportResult`, and records there what it skips."""

BUILTIN: dict[str, str] = {
    "deepeval": "pytest_rageval.datasets.imports.samples:deepeval",
    "jsonl": "pytest_rageval.datasets.imports.samples:table",
    "omnieval-predictions": "pytest_rageval.datasets.imports.omnieval_predictions:take",
    "omnieval-replies": "pytest_rageval.datasets.imports.omnieval_replies:take",
    "omnieval-results": "pytest_rageval.datasets.imports.omnieval_results:take",
    "otel": "pytest_rageval.datasets.imports.otel:take",
    "ragas": "pytest_rageval.datasets.imports.samples:ragas",
    "ralle-chain": "pytest_rageval.datasets.imports.ralle_chain:take",
    "ralle-output": "pytest_rageval.datasets.imports.ralle_output:take",
    "react-log": "pytest_rageval.datasets.imports.react_log:take",
    "reval-log": "pytest_rageval.datasets.imports.reval_log:take",
    "rgb-predictions": "pytest_rageval.datasets.imports.rgb_predictions:take",
    "table": "pytest_rageval.datasets.imports.samples:table",
    "toolbench": "pytest_rageval.datasets.imports.toolbench:take",
}
"""Format name -> ``"module:attribute"`` of its importer."""
