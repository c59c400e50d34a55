"""The ``[abilities]`` and ``[[names]]`` of a plan: the sets with passages for RGB's abilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.errors import DataError
from pytest_rageval.generation.abilities.making import Abilities, Wanted, make_abilities
from pytest_rageval.generation.abilities.records import record_of_made
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import Part, Plan
from pytest_rageval.generation.section import Section
from pytest_rageval.model.case import Passage

__all__ = ["ABILITIES", "KINDS", "NAMES", "abilities_settings", "names_in", "with_abilities"]

KINDS = ("counterfactual", "integration")
"""The files that a set gets beside it: ``auto_test.counterfactual.jsonl`` and ``auto_test.integration.jsonl``."""

Json = dict[str, Any]


def abilities_settings(plan: Plan) -> Wanted | None:
    """Return the ``[abilities]`` of a plan with its ``[[names]]``; None if it wants none."""
    settings = cast("Mapping[str, Any] | None", plan.parts["abilities"])
    names = cast("tuple[tuple[str, ...], ...]", plan.parts["names"])
    return None if settings is None else Wanted(**settings, names=names, seed=plan.seed)


def names_in(path: Path) -> tuple[str, ...]:
    """Return the names of a file, one a line.

    Raises:
        DataError: the file is missing or has fewer than two names.
    """
    names = tuple(dict.fromkeys(text.strip() for _, text in lines_of(path)))
    if len(names) < 2:
        raise DataError(str(path), "a list needs at least two names, one a line")
    return names


def with_abilities(sets: Mapping[str, Sequence[Json]], material: Material) -> dict[str, Sequence[Json]]:
    """Return the records of each set with negative passages, and those of the other abilities.

    What is not made is counted in ``material.left_out``. Without ``[abilities]`` the sets stay as they are.

    Args:
        sets: name of a set -> its records.
        material: its rows and documents are the corpus.
    """
    wanted = abilities_settings(material.plan)
    files: dict[str, Sequence[Json]] = dict(sets)
    if wanted is None:
        return files
    rows = [row.passage for table in material.tables.values() for row in table.rows]
    passages = (*rows, *material.corpus)
    search = _search(passages)
    kinds = [kind for kind, made in zip(KINDS, (wanted.counterfactuals, wanted.integration), strict=True) if made]
    for name, records in sets.items():
        instances = [read_instance(Fields(name, record), name) for record in records]
        made = make_abilities(instances, passages, search, wanted)
        earlier = {str(record["id"]): record.get("generated", {}) for record in records}
        files[name] = [record_of_made(each, made, earlier) for each in made.pools]
        for kind in kinds:
            files[f"{name}.{kind}"] = [record_of_made(each, made, earlier) for each in getattr(made, kind)]
        _count(material, made)
    return files


def _search(passages: tuple[Passage, ...]) -> Any:
    if not passages:
        return None
    from pytest_rageval.retrieval.bm25 import build
    from pytest_rageval.retrieval.build_context import RetrieverParts

    return build(RetrieverParts(passages)).search


def _count(material: Material, made: Abilities) -> None:
    for what, counts in (
        ("negatives", made.short),
        ("counterfactual", made.without_twin),
        ("integration", made.without_partner),
    ):
        material.left_out.update({f"abilities: {what}: {reason}": count for reason, count in counts.items()})


def _read_abilities(sections: tuple[Section, ...], folder: Path) -> dict[str, object] | None:
    del folder
    if not sections:
        return None
    (section,) = sections
    section.only(("counterfactuals", "integration", "negatives"))
    return {
        "negatives": section.whole("negatives", 8),
        "counterfactuals": section.flag("counterfactuals", True),
        "integration": section.flag("integration", True),
    }


def _read_names(sections: tuple[Section, ...], folder: Path) -> tuple[tuple[str, ...], ...]:
    return tuple(_names(section, folder) for section in sections)


def _names(section: Section, folder: Path) -> tuple[str, ...]:
    section.only(("file", "values"))
    if ("file" in section) == ("values" in section):
        raise section.error("values", "[[names]] needs one of values, a list of names, and file, one name a line")
    if "file" in section:
        try:
            return names_in(folder / section.text("file"))
        except DataError as error:
            raise section.error("file", f"file: {error}") from None
    names = tuple(dict.fromkeys(section.texts("values")))
    if len(names) < 2:
        raise section.wrong("values", "at least two names")
    return names


ABILITIES = Part(many=False, read=_read_abilities)
NAMES = Part(many=True, read=_read_names)
