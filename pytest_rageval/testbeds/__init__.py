"""Testbeds: make cases from records and settings. Each ability has a module."""

from __future__ import annotations

__all__ = ["BUILTIN"]

BUILTIN: dict[str, str] = {
    "counterfactual_robustness": "pytest_rageval.testbeds.counterfactual_robustness:COUNTERFACTUAL_ROBUSTNESS",
    "information_integration": "pytest_rageval.testbeds.information_integration:INFORMATION_INTEGRATION",
    "negative_rejection": "pytest_rageval.testbeds.negative_rejection:NEGATIVE_REJECTION",
    "noise_robustness": "pytest_rageval.testbeds.noise_robustness:NOISE_ROBUSTNESS",
    "plain": "pytest_rageval.testbeds.plain:PLAIN",
}
"""Ability -> ``"module:attribute"`` of its `Ability`; "plain" is the default without an ability."""
