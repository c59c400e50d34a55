"""What a judge is shown of a case and its answer, so that no text of it can pass for an instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.model.sample import Sample

__all__ = ["PARTS", "material", "quoted"]

PARTS = ("question", "answer", "gold", "passages", "history")
"""The parts that can be shown."""


def material(sample: Sample, shows: Sequence[str], headings: Mapping[str, str]) -> str:
    """Return the parts in the order of ``shows``, each under its heading, every line of the data behind "> ".

    No line that the data brings along can therefore be taken for a heading or for an end, as in a quoted mail. The
    passages are those supplied or, where the system retrieved, those of its ranking; none has its role or its id.
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


def quoted(text: str) -> str:
    """Return a text with every line of it behind "> "."""
    whole = text.encode("utf-8", "backslashreplace").decode()  # half of a surrogate pair crosses no wire
    return "\n".join(f"> {line}".rstrip() for line in whole.strip().splitlines())
