"""The sections of the summary: one module for each, in the order of `BUILTIN`."""

from __future__ import annotations

__all__ = ["BUILTIN"]

BUILTIN: dict[str, str] = {
    "counts": "pytest_rageval.report.sections.counts:COUNTS",
    "matrices": "pytest_rageval.report.sections.matrices:MATRICES",
    "curves": "pytest_rageval.report.sections.curves:CURVES",
    "diagnosis": "pytest_rageval.report.sections.diagnosis:DIAGNOSIS",
    "dialogues": "pytest_rageval.report.sections.conversations:CONVERSATIONS",
    "systems": "pytest_rageval.report.sections.systems:SYSTEMS",
    "grid": "pytest_rageval.report.sections.systems_grid:GRID",
    "matching": "pytest_rageval.report.sections.best_system:BEST_SYSTEM",
    "comparison": "pytest_rageval.report.sections.comparison:COMPARISON",
    "trust": "pytest_rageval.report.sections.judge_trust:TRUST",
    "bias": "pytest_rageval.report.sections.judge_bias:BIAS",
    "local_judges": "pytest_rageval.report.sections.local_judges:LOCAL_JUDGES",
    "ballots": "pytest_rageval.report.sections.judge_votes:BALLOTS",
    "repeats": "pytest_rageval.report.sections.repeats:REPEATS",
    "relations": "pytest_rageval.report.sections.relations:RELATIONS",
    "correlations": "pytest_rageval.report.sections.correlations:CORRELATIONS",
    "deployment": "pytest_rageval.report.sections.deployment:DEPLOYMENT",
    "gates": "pytest_rageval.report.sections.gates:GATES",
    "warnings": "pytest_rageval.report.sections.warnings:WARNINGS",
}
"""Name of a section -> ``"module:attribute"`` of its `Section` or `TerminalSection`, in the order of the summary."""
