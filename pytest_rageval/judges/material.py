"""The part of a judge's prompt that shows the case and its answer, quoted against injection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.model.sample import Sample
from pytest_rageval.text.quoting import quoted

__all__ = ["PARTS", "material"]

PARTS = ("question", "answer", "gold", "passages", "history")
"""The parts that a judge can see."""


def material(sample: Sample, shows: Sequence[str], headings: Mapping[str, str]) -> str:
    """Return the parts in the order of ``shows``, each under its heading, with "> " before every line of data.

    The quotation marks keep a line of the data from looking like a heading or an end of the prompt. The passages are
    the supplied ones or, if the system retrieved, those of its ranking; without roles and ids.
    """
    blocks = []
    for part in shows:
        texts = [quoted(text) for text in _texts(sample, part) if text.strip()]
        blocks.append(f"{headings[part]}\n" + ("\n\n".join(texts) or headings["nothing"]))
    return "\n\n".join(blocks)


def _texts(sample: Sample, part: str) -> Iterator[str]:
    case, instance = sample.case, sample.case.instance
    if part == "question":
        yield instance.question
    elif part == "answer":
        yield sample.answer.text
    elif part == "gold":
        yield "\n".join(" | ".join(" ".join(alias.split()) for alias in slot) for slot in instance.gold)
    elif part == "history":
        for turn in instance.history:
            yield f"{turn.question}\n{turn.answer}"
    elif case.supplied is not None:
        for passage in case.supplied:
            yield f"{passage.title}\n{passage.text}"
    else:
        for item in sample.answer.ranking or ():
            yield f"{item.title}\n{item.text}"
