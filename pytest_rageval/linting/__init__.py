"""Check a dataset before any system answers its questions."""

from __future__ import annotations

__all__ = ["BUILTIN"]

BUILTIN: dict[str, str] = {
    "answer_in_question": "pytest_rageval.linting.leakage:answer_in_question",
    "double_role": "pytest_rageval.linting.pools:double_role",
    "duplicate_id": "pytest_rageval.linting.ids:duplicate_id",
    "duplicate_question": "pytest_rageval.linting.questions:duplicate_question",
    "empty_pool": "pytest_rageval.linting.pools:empty_pool",
    "evidence_not_in_corpus": "pytest_rageval.linting.evidence:evidence_not_in_corpus",
    "gold_in_counterfactual": "pytest_rageval.linting.gold:gold_in_counterfactual",
    "gold_in_fake": "pytest_rageval.linting.gold:gold_in_fake",
    "gold_in_negative": "pytest_rageval.linting.gold:gold_in_negative",
    "groups_and_slots": "pytest_rageval.linting.pools:groups_and_slots",
    "joined_names": "pytest_rageval.linting.gold:joined_names",
    "language": "pytest_rageval.linting.wording:language",
    "language_mix": "pytest_rageval.linting.wording:language_mix",
    "left_out": "pytest_rageval.linting.ids:left_out",
    "missing_gold_id": "pytest_rageval.linting.ids:missing_gold_id",
    "near_duplicate_question": "pytest_rageval.linting.questions:near_duplicate_question",
    "positive_without_gold": "pytest_rageval.linting.gold:positive_without_gold",
    "prompt_leak": "pytest_rageval.linting.leakage:prompt_leak",
    "short_pool": "pytest_rageval.linting.pools:short_pool",
    "stray_name": "pytest_rageval.linting.wording:stray_name",
    "train_overlap": "pytest_rageval.linting.leakage:train_overlap",
    "yes_no_bias": "pytest_rageval.linting.wording:yes_no_bias",
}
"""Name of a check -> ``"module:attribute"`` of its function, ``Subject -> Iterator[Finding]``."""
