"""The scoring input ``vectors``: the embeddings of texts that metrics compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput
from pytest_rageval.engine.tracebacks import or_case_error

__all__ = ["VECTORS"]


async def _ask_ahead(context: Context) -> Mapping[str, Sequence[float]] | None:
    vectors, sample = context.sources.vectors, context.sample
    if vectors is None:
        return None
    texts = [text for metric in context.task.metrics if metric.texts is not None for text in metric.texts(sample)]
    if not texts:
        return None
    return await or_case_error(
        vectors(texts), "embedder_error", f"the embedding model failed on case {sample.case.id!r}"
    )


VECTORS = ScoringInput(
    "vectors",
    ask_ahead=_ask_ahead,
    needed_by=lambda metric: metric.texts is not None,
    embeds=True,
)
