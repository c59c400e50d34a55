"""The ``[abilities]`` and ``[[names]]`` of a plan: the sets with passages for RGB's abilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, RagEvalError
from pytest_rageval.generation.abilities.making import Abilities, Wanted, make_abilities
from pytest_rageval.generation.abilities.records import record_of_made
from pytest_rageval.generation.abilities.search import RETRIEVERS, Search, search_over
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import Part, Plan
from pytest_rageval.generation.section import Section
from pytest_rageval.model.case import Instance, Passage

__all__ = ["ABILITIES", "KINDS", "NAMES", "AbilitySettings", "abilities_settings", "names_in", "with_abilities"]

KINDS = ("counterfactual", "integration")
"""The files that a set gets beside it: ``auto_test.counterfactual.jsonl`` and ``auto_test.integration.jsonl``."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AbilitySettings:
    """The ``[abilities]`` of a plan.

    Attributes:
        negatives, counterfactuals, integration: as in `Wanted`.
        retriever: the retriever of negative passages.
        retriever_params: its parameters.
        section: the table of the plan, for messages.
    """

    negatives: int
    counterfactuals: bool
    integration: bool
    retriever: str
    retriever_params: Mapping[str, object]
    section: Section


def abilities_settings(plan: Plan) -> AbilitySettings | None:
    """Return the ``[abilities]`` of a plan; None if it wants none."""
    return cast("AbilitySettings | None", plan.parts["abilities"])


def names_in(path: Path) -> tuple[str, ...]:
    """Return the names of a file, one a line.

    Raises:
        DataError: the file is missing or has fewer than two names.
    """
    shown = shown_path(path)
    if not path.exists():
        raise DataError(shown, "no such file; correct the path", code="RAG105")
    names = tuple(dict.fromkeys(text.strip() for _, text in lines_of(path)))
    if len(names) < 2:
        raise DataError(shown, "a list needs at least two names, one a line")
    return names


def with_abilities(
    sets: Mapping[str, Sequence[Json]], known: Mapping[str, Sequence[Json]], material: Material
) -> dict[str, Sequence[Json]]:
    """Return the records of each set with negative passages, and those of the other abilities.

    No passage comes from a document that a record of another set is about. What is not made is counted in
    ``material.left_out``. Without ``[abilities]`` the sets stay as they are.

    Args:
        sets: name of a set -> its records.
        known: name of a set -> records that are left out because a model knows their answers. They give false passages
            only, which test whether a passage changes the mind of a model that knows better.
        material: its rows and documents are the corpus.

    Raises:
        DataError: the retriever of the plan cannot be used.
    """
    settings = abilities_settings(material.plan)
    files: dict[str, Sequence[Json]] = dict(sets)
    if settings is None:
        return files
    names = cast("tuple[tuple[str, ...], ...]", material.plan.parts["names"])
    wanted = Wanted(
        settings.negatives, settings.counterfactuals, settings.integration, names=names, seed=material.plan.seed
    )
    rows = [row.passage for table in material.tables.values() for row in table.rows]
    passages = (*rows, *material.corpus)
    kinds = [kind for kind, made in zip(KINDS, (wanted.counterfactuals, wanted.integration), strict=True) if made]
    documents = {name: _documents([*records, *known.get(name, ())]) for name, records in sets.items()}
    for name, records in sets.items():
        others = frozenset().union(*(each for other, each in documents.items() if other != name))
        own = tuple(each for each in passages if (each.page or each.id) not in others)
        search = _search(own, settings, material.plan.folder)
        made = make_abilities(_instances(records, name), own, search, wanted)
        made_of_known = make_abilities(
            _instances(known.get(name, ()) if wanted.counterfactuals else (), name),
            own,
            search,
            replace(wanted, integration=False),
        )
        earlier = {str(each["id"]): each.get("generated", {}) for each in (*records, *known.get(name, ()))}
        files[name] = [record_of_made(each, made, earlier) for each in made.pools]
        for kind in kinds:
            files[f"{name}.{kind}"] = [
                record_of_made(each, source, earlier)
                for source in (made, made_of_known)
                for each in getattr(source, kind)
            ]
        made.without_twin += made_of_known.without_twin
        _count(material, made)
    return files


def _documents(records: Iterable[Json]) -> frozenset[str]:
    return frozenset(page for record in records for pages in record["provenance"] for page in pages)


def _instances(records: Sequence[Json], name: str) -> list[Instance]:
    return [read_instance(Fields(name, record), name) for record in records]


def _search(passages: tuple[Passage, ...], settings: AbilitySettings, folder: Path) -> Search | None:
    try:
        return search_over(passages, settings.retriever, settings.retriever_params, folder)
    except RagEvalError as error:
        problem = str(error).replace("rag_retriever_params", "retriever_params")
        raise settings.section.error("retriever", f"retriever: {problem}") from None


def _count(material: Material, made: Abilities) -> None:
    for what, counts in (
        ("negatives", made.short),
        ("counterfactual", made.without_twin),
        ("integration", made.without_partner),
    ):
        material.left_out.update({f"abilities: {what}: {reason}": count for reason, count in counts.items()})


def _read_abilities(sections: tuple[Section, ...], folder: Path) -> AbilitySettings | None:
    del folder
    if not sections:
        return None
    (section,) = sections
    section.only(("counterfactuals", "integration", "negatives", "retriever", "retriever_params"))
    params = section.inner("retriever_params")
    return AbilitySettings(
        negatives=cast("int", section.whole("negatives", 8)),
        counterfactuals=section.flag("counterfactuals", True),
        integration=section.flag("integration", True),
        retriever=section.choice("retriever", RETRIEVERS[0], RETRIEVERS),
        retriever_params={} if params is None else params.values,
        section=section,
    )


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
