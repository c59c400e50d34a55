"""Build the material of a judge's prompt: case and answer, quoted against injection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_rageval.model.sample import Sample
from pytest_rageval.text.quoting import quote_lines

__all__ = ["PARTS", "material", "pair_material"]

PARTS = ("question", "answer", "gold", "passages", "history")
"""The parts that a judge can see."""


def material(sample: Sample, shows: Sequence[str], headings: Mapping[str, str]) -> str:
    """Return the parts in the order of ``shows``, each under its heading, with "> " before every line of data.

    The "> " prevents that a line of data looks like a heading or the end of the prompt. The passages are the supplied
    ones or, if the system retrieved, those of its ranking, without roles and ids.
    """
    return "\n\n".join(_block(_texts(sample, part), headings[part], headings) for part in shows)


def pair_material(one: Sample, other: Sample, shows: Sequence[str], headings: Mapping[str, str]) -> str:
    """Return the parts of a case and two answers to it, quoted like `material`; the systems are not named.

    ``one`` is answer A, the other is answer B below it. The passages are the supplied ones or, if the systems
    retrieved, the distinct passages of both rankings, in an order that does not depend on the systems.
    """
    blocks = []
    for part in shows:
        if part == "answer":
            for sample, heading in ((one, "answer_a"), (other, "answer_b")):
                blocks.append(_block(_texts(sample, part), headings[heading], headings))
        elif part == "passages":
            both = dict.fromkeys((*_texts(one, part), *_texts(other, part)))
            supplied = one.case.supplied is not None and one.case.supplied == other.case.supplied
            blocks.append(_block(both if supplied else sorted(both), headings["passages_of_both"], headings))
        else:
            blocks.append(_block(_texts(one, part), headings[part], headings))
    return "\n\n".join(blocks)


def _block(texts: Iterable[str], heading: str, headings: Mapping[str, str]) -> str:
    """Return texts under their heading, each quoted."""
    lines = [quote_lines(text) for text in texts if text.strip()]
    return f"{heading}\n" + ("\n\n".join(lines) or headings["nothing"])


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
