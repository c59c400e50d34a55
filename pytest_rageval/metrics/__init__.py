"""Metrics: pure functions from a case and its answer to a score; one module per family."""

from __future__ import annotations

__all__ = ["BUILTIN", "FAMILIES", "OTHER_NAMES"]

BUILTIN: dict[str, str] = {
    "accuracy": "pytest_rageval.metrics.answers.containment:ACCURACY",
    "accuracy_judged": "pytest_rageval.metrics.judges.omnieval_judged:ACCURACY_JUDGED",
    "answer_in_context": "pytest_rageval.metrics.rankings.in_context:ANSWER_IN_CONTEXT",
    "closed_book_accuracy": "pytest_rageval.metrics.answers.closed_book:CLOSED_BOOK_ACCURACY",
    "completeness": "pytest_rageval.metrics.judges.omnieval_judged:COMPLETENESS",
    "correct_rate_compat": "pytest_rageval.metrics.published.rgb_compat:CORRECT_RATE_COMPAT",
    "correct_without_evidence": "pytest_rageval.metrics.answers.rejection:CORRECT_WITHOUT_EVIDENCE",
    "error_correction_rate": "pytest_rageval.metrics.answers.counterfactual:ERROR_CORRECTION_RATE",
    "error_correction_rate_judged": "pytest_rageval.metrics.judges.rgb_judged:ERROR_CORRECTION_RATE_JUDGED",
    "error_detection_rate": "pytest_rageval.metrics.answers.counterfactual:ERROR_DETECTION_RATE",
    "error_detection_rate_judged": "pytest_rageval.metrics.judges.rgb_judged:ERROR_DETECTION_RATE_JUDGED",
    "exact_match": "pytest_rageval.metrics.answers.squad:EXACT_MATCH",
    "fact_check_rate_compat": "pytest_rageval.metrics.published.rgb_compat:FACT_CHECK_RATE_COMPAT",
    "fake_answer_rate": "pytest_rageval.metrics.answers.counterfactual:FAKE_ANSWER_RATE",
    "hallucination": "pytest_rageval.metrics.judges.omnieval_judged:HALLUCINATION",
    "has_answer": "pytest_rageval.metrics.answers.containment:HAS_ANSWER",
    "hotpot_f1": "pytest_rageval.metrics.answers.kilt:HOTPOT_F1",
    "kilt_accuracy": "pytest_rageval.metrics.answers.kilt:KILT_ACCURACY",
    "kilt_em_compat": "pytest_rageval.metrics.published.kilt_compat:KILT_EM_COMPAT",
    "kilt_f1_compat": "pytest_rageval.metrics.published.kilt_compat:KILT_F1_COMPAT",
    "kilt_has_answer_compat": "pytest_rageval.metrics.published.kilt_compat:KILT_HAS_ANSWER_COMPAT",
    "kilt_rouge_l_compat": "pytest_rageval.metrics.published.kilt_compat:KILT_ROUGE_L_COMPAT",
    "numerical_accuracy": "pytest_rageval.metrics.judges.numerical:NUMERICAL_ACCURACY",
    "omnieval_em_compat": "pytest_rageval.metrics.published.omnieval_compat:OMNIEVAL_EM_COMPAT",
    "omnieval_f1_compat": "pytest_rageval.metrics.published.omnieval_compat:OMNIEVAL_F1_COMPAT",
    "omnieval_map_compat": "pytest_rageval.metrics.published.omnieval_compat:OMNIEVAL_MAP_COMPAT",
    "over_rejection_rate": "pytest_rageval.metrics.answers.rejection:OVER_REJECTION_RATE",
    "page_Rprec": "pytest_rageval.metrics.rankings.pages:PAGE_RPREC",
    "positional_token_match": "pytest_rageval.metrics.answers.positional:POSITIONAL_TOKEN_MATCH",
    "rejection_rate": "pytest_rageval.metrics.answers.rejection:REJECTION_RATE",
    "rejection_rate_judged": "pytest_rageval.metrics.judges.rgb_judged:REJECTION_RATE_JUDGED",
    "rejection_rate_rgb_compat": "pytest_rageval.metrics.published.rgb_compat:REJECTION_RATE_RGB_COMPAT",
    "rgb_all_rate_compat": "pytest_rageval.metrics.published.rgb_compat:RGB_ALL_RATE_COMPAT",
    "rouge_1": "pytest_rageval.metrics.answers.rouge:ROUGE_1",
    "rouge_2": "pytest_rageval.metrics.answers.rouge:ROUGE_2",
    "rouge_l": "pytest_rageval.metrics.answers.rouge:ROUGE_L",
    "route_recall": "pytest_rageval.metrics.traces.route:ROUTE_RECALL",
    "semantic_similarity": "pytest_rageval.metrics.answers.semantic:SEMANTIC_SIMILARITY",
    "slot_recall": "pytest_rageval.metrics.answers.containment:SLOT_RECALL",
    "stable": "pytest_rageval.metrics.answers.stable:STABLE",
    "token_f1": "pytest_rageval.metrics.answers.squad:TOKEN_F1",
    "utilization": "pytest_rageval.metrics.judges.omnieval_judged:UTILIZATION",
}
"""Metric name -> import path, for a lazy registry. Each attribute is a `pytest_rageval.model.metric.Metric`."""

FAMILIES: dict[str, str] = {
    "AP": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "Judged": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "P": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "R": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "RR": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "Rprec": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "Success": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "diagnosis": "pytest_rageval.metrics.diagnosis.family:diagnosis_metric",
    "erag": "pytest_rageval.metrics.rankings.utility:erag_metric",
    "kilt": "pytest_rageval.metrics.rankings.kilt_gate:gated_metric",
    "nDCG": "pytest_rageval.metrics.rankings.ranking:ranking_metric",
    "page_P": "pytest_rageval.metrics.rankings.pages:page_metric",
    "page_R": "pytest_rageval.metrics.rankings.pages:page_metric",
    "page_Success": "pytest_rageval.metrics.rankings.pages:page_metric",
    "people": "pytest_rageval.metrics.judges.people:people_metric",
}
"""Family (the part of a metric's name before ``@`` or ``:``) -> import path of the function that makes its metrics."""

OTHER_NAMES: dict[str, str] = {
    "f1": "token_f1",
    "hit": "Success@5",
    "hit_rate": "Success@5",
    "hits": "Success@5",
    "map": "AP",
    "mrr": "RR",
    "precision": "P@5",
    "recall": "R@5",
}
"""Name of a metric in other tools, in lower case -> our name; for suggestions."""
