"""RAG regression tests in pytest: each case is a test, and gates on metrics decide.

Public names are imported on first use, because pytest loads this package in every session.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.corpora.document import Document
    from pytest_rageval.engine.catalog import Catalog
    from pytest_rageval.environments.tool import Tool, ToolResult
    from pytest_rageval.errors import CaseError, DataError, ModelError, RagEvalError, SettingError
    from pytest_rageval.hooks.collect.markers import rag_case
    from pytest_rageval.hooks.run.result import RagResult
    from pytest_rageval.judges.function import FunctionJudge
    from pytest_rageval.judges.prompted import PromptedJudge
    from pytest_rageval.linting.finding import Finding
    from pytest_rageval.linting.linter import lint
    from pytest_rageval.llm.recorded_functions.recorded import recorded
    from pytest_rageval.model.answer import Answer, Step, Usage
    from pytest_rageval.model.case import Case, Instance, Passage, Query, Turn
    from pytest_rageval.model.chat import ChatModel, Completion, EmbeddingModel, Embeddings, ToolCall
    from pytest_rageval.model.evidence import EvidenceUnit
    from pytest_rageval.model.judging import Judge
    from pytest_rageval.model.metric import Metric
    from pytest_rageval.model.outcome import Outcome, Score
    from pytest_rageval.model.protocols import Retriever, System
    from pytest_rageval.model.ranking import Ranking, ScoredPassage
    from pytest_rageval.model.sample import Sample
    from pytest_rageval.model.verdict import Verdict
    from pytest_rageval.scoring.score import score
    from pytest_rageval.scoring.scores import Scores

__all__ = [
    "Answer",
    "Case",
    "CaseError",
    "Catalog",
    "ChatModel",
    "Completion",
    "DataError",
    "Document",
    "EmbeddingModel",
    "Embeddings",
    "EvidenceUnit",
    "Finding",
    "FunctionJudge",
    "Instance",
    "Judge",
    "Metric",
    "ModelError",
    "Outcome",
    "Passage",
    "PromptedJudge",
    "Query",
    "RagEvalError",
    "RagResult",
    "Ranking",
    "Retriever",
    "Sample",
    "Score",
    "ScoredPassage",
    "Scores",
    "SettingError",
    "Step",
    "System",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "Usage",
    "Verdict",
    "lint",
    "rag_case",
    "recorded",
    "score",
]

_NAMES_OF_MODULE = {
    "corpora.document": ("Document",),
    "engine.catalog": ("Catalog",),
    "environments.tool": ("Tool", "ToolResult"),
    "errors": ("CaseError", "DataError", "ModelError", "RagEvalError", "SettingError"),
    "hooks.collect.markers": ("rag_case",),
    "hooks.run.result": ("RagResult",),
    "judges.function": ("FunctionJudge",),
    "judges.prompted": ("PromptedJudge",),
    "linting.finding": ("Finding",),
    "linting.linter": ("lint",),
    "llm.recorded_functions.recorded": ("recorded",),
    "model.answer": ("Answer", "Step", "Usage"),
    "model.case": ("Case", "Instance", "Passage", "Query", "Turn"),
    "model.chat": ("ChatModel", "Completion", "EmbeddingModel", "Embeddings", "ToolCall"),
    "model.evidence": ("EvidenceUnit",),
    "model.judging": ("Judge",),
    "model.metric": ("Metric",),
    "model.outcome": ("Outcome", "Score"),
    "model.protocols": ("Retriever", "System"),
    "model.ranking": ("Ranking", "ScoredPassage"),
    "model.sample": ("Sample",),
    "model.verdict": ("Verdict",),
    "scoring.score": ("score",),
    "scoring.scores": ("Scores",),
}
_MODULE_OF = {name: f"{__name__}.{module}" for module, names in _NAMES_OF_MODULE.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
