"""Field names in other tools' samples and column names in tables that people write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["COLUMNS", "DEEPEVAL", "METADATA", "RAGAS", "TABLE", "Shape"]

OURS = {
    "answerable": ("answerable",),
    "fake_answers": ("fake_answers",),
    "id": ("id",),
    "language": ("language",),
    "system": ("system",),
}
COLUMNS = {
    "answerable": ("answerable",),
    "answers": (
        "answer", "answers", "correct_answer", "expected", "expected_answer", "expected_output", "gold", "gold_answer",
        "gold_answers", "golden_answer", "golden_answers", "ground_truth", "reference_answer", "参考答案", "标准答案",
        "答案",
    ),
    "counterfactual": (
        "counterfactual_references", "counterfact_reference", "counterfact_references", "counterfactual_reference",
    ),
    "fake_answers": ("fake_answer", "fake_answers", "counterfact_answers", "counterfactual_answers"),
    "history": ("history", "chat_history", "history_qa", "messages"),
    "id": ("id", "编号"),
    "language": ("lang", "language", "语言"),
    "question": ("question", "q", "query", "questions", "提问", "问题"),
    "reference": (
        "references", "gold_contexts", "gold_passages", "positive_reference", "positive_references",
        "reference_contexts", "reference_passages",
    ),
    "response": (
        "response", "actual_output", "model_answer", "output", "prediction", "system_answer", "回答", "回复",
        "模型回答", "生成答案", "系统回答", "输出", "预测",
    ),
    "system": ("system",),
    "task": ("task", "任务"),
    "topic": ("topic", "二级主题", "主题"),
    "topic_1": ("topic_1", "一级主题"),
}  # fmt: skip
"""Our name of a field -> column names in tables, ignoring case, with "_" for spaces and hyphens."""

METADATA = (
    "additional_metadata",
    "additionalMetadata",
    "custom_column_key_values",
    "customColumnKeyValues",
    "metadata",
)
"""Objects whose values become facets, like the other fields of a row."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The format of a tool's samples.

    Attributes:
        names: our name of a field -> the tool's names; if a row has several, the first wins.
        between: regular expression that separates passages in a table cell; "" for a single passage.
        between_answers: regular expression that separates gold answers in a table cell.
    """

    names: Mapping[str, tuple[str, ...]]
    between: str = ""
    between_answers: str = ""


RAGAS = Shape(
    {
        **OURS,
        "question": ("user_input", "question"),
        "answers": ("reference", "ground_truth", "ground_truths"),
        "response": ("response", "answer"),
        "retrieved": ("retrieved_contexts", "contexts"),
        "retrieved_ids": ("retrieved_context_ids",),
        "reference": ("reference_contexts",),
        "reference_ids": ("reference_context_ids",),
    }
)
DEEPEVAL = Shape(
    {
        **OURS,
        "question": ("input",),
        "answers": ("expected_output", "expectedOutput"),
        "response": ("actual_output", "actualOutput"),
        "retrieved": ("retrieval_context", "retrievalContext"),
        "reference": ("context",),
    },
    between=r"\|",
)
TABLE = Shape({ours: (names[0],) for ours, names in COLUMNS.items()}, between_answers=r"\n| \| ")
