"""Load a labelling sheet as a dataset with recorded answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.recorded import Recorded
from pytest_rageval.datasets.sheets import read_sheet
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Gold, Instance, Passage, Turn
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.text.language import detect_language

__all__ = ["Sheet", "instance_of", "load", "slots_of"]


class Sheet:
    """Loads the labelling sheet that ``rageval agreement --sample`` writes, in CSV or JSON Lines.

    Rows with the same id are one instance. Columns: ``question``; ``gold``, with one slot per line and " | " between
    aliases; ``passages``, separated by blank lines; ``history``; ``facets``, a JSON object. The answers in the sheet
    are scored instead of a system's answers, under the ``system`` of their row. Rows without a label are skipped; the
    labels themselves are not used.
    """

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        """Return the distinct instances of a sheet, in order.

        Raises:
            DataError: the sheet cannot be read, a row lacks a required field, or two rows with the same id have
                different questions.
        """
        instances: dict[str, Instance] = {}
        for record in _labelled(path):
            with one_record:
                instance = instance_of(record, path.stem)
                first = instances.setdefault(instance.id, instance)
                if first.question != instance.question:
                    problem = f"the id {short_repr(instance.id)} has another question at {first.origin}"
                    raise DataError(record.where, f"{problem}, wanted one each")
        return tuple(instances.values())

    def answers(self, path: Path) -> tuple[Recorded, ...]:
        """Return the distinct answers of a sheet.

        Raises:
            DataError: the sheet or a row is invalid, or a system has two different answers to a case.
        """
        answers: dict[tuple[str, str], tuple[Recorded, str]] = {}
        for record in _labelled(path):
            text = record.string("answer")
            row = Recorded(record.identifier("id").strip(), record.string("system", "").strip(), Answer(text), {})
            first, where = answers.setdefault((row.id, row.system), (row, record.where))
            if first.answer.text != text:
                problem = f"the system {short_repr(row.system)} has another answer to {short_repr(row.id)} at {where}"
                raise DataError(record.where, f"{problem}, wanted one; remove repeats from the sheet")
        return tuple(row for row, _ in answers.values())

    def left_out(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield ``file:line`` and a description of each row without a label."""
        for record in _rows(path):
            if not _is_labelled(record):
                yield record.where, f"{short_repr(record.identifier('id'))}, whose answer has no label yet"


def _labelled(path: Path) -> Iterator[Fields]:
    return (record for record in _rows(path) if _is_labelled(record))


def _is_labelled(record: Fields) -> bool:
    return str(record.values.get("label", "")).strip() != ""


def _rows(path: Path) -> Iterator[Fields]:
    for line, values in read_sheet(path):
        yield Fields(f"{shown_path(path)}:{line}", values).without_nulls()


def slots_of(text: str) -> Gold:
    """Parse the text of a gold answer in a sheet or a prompt: one slot per line, with " | " between aliases."""
    lines = (line for line in text.splitlines() if line.strip())
    return tuple(tuple(alias.strip() for alias in line.split(" | ")) for line in lines)


def instance_of(record: Fields, stem: str) -> Instance:
    """Return the instance of a row; raise `DataError` if it lacks a question or its facets are malformed."""
    question = record.text("question")
    history = record.string("history", "").strip()
    passages = [text.strip() for text in record.string("passages", "").split("\n\n") if text.strip()]
    facets = _facets(record)
    language = facets.get("language") or detect_language(question)
    return Instance(
        id=record.identifier("id").strip(),
        question=question,
        gold=slots_of(record.string("gold", "")),
        passages=tuple(Passage(f"p{at}", text) for at, text in enumerate(passages)) or None,
        history=(Turn(history, ""),) if history else (),
        language=language,
        facets={**facets, "dataset": stem, "language": language},
        origin=record.where,
    )


def _facets(record: Fields) -> dict[str, str]:
    text = record.string("facets", "").strip() or "{}"
    try:
        facets = parse_json(text)
    except ValueError:
        facets = None
    if not isinstance(facets, dict) or not all(isinstance(value, str) for value in facets.values()):
        raise record.wrong("facets", text, "a JSON object of strings, as in the original sheet")
    return facets


load = Sheet()
