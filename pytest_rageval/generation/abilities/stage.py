"""Add the records of RGB's abilities to a plan's sets: ``[abilities]`` and ``[[names]]``."""

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
from pytest_rageval.generation.abilities.ability_records import Abilities, AbilityOptions, make_abilities
from pytest_rageval.generation.abilities.records import record_of_generated
from pytest_rageval.generation.abilities.search import RETRIEVERS, Search, search_over
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section
from pytest_rageval.model.case import Instance, Passage

__all__ = ["ABILITIES", "KINDS", "NAMES", "AbilitySettings", "abilities_settings", "names_in", "with_abilities"]

KINDS = ("counterfactual", "integration")
"""The extra files of each set: ``auto_test.counterfactual.jsonl`` and ``auto_test.integration.jsonl``."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AbilitySettings:
    """The ``[abilities]`` of a plan.

    Attributes:
        negatives, counterfactuals, integration: as in `AbilityOptions`.
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
    """Return the ``[abilities]`` of a plan; None if the plan has no such table."""
    return cast("AbilitySettings | None", plan.settings["abilities"])


def names_in(path: Path) -> tuple[str, ...]:
    """Return the names of a file, one a line.

    Raises:
        DataError: the file is missing or has fewer than two names.
    """
    file_name = shown_path(path)
    if not path.exists():
        raise DataError(file_name, "no such file; correct the path", code="RAG105")
    names = tuple(dict.fromkeys(text.strip() for _, text in lines_of(path)))
    if len(names) < 2:
        raise DataError(file_name, "a list needs at least two names, one a line")
    return names


def with_abilities(
    sets: Mapping[str, Sequence[Json]], known_records: Mapping[str, Sequence[Json]], material: Material
) -> dict[str, Sequence[Json]]:
    """Return the records of each set with negative passages, and the records of the other abilities by file.

    No passage comes from a document of a record in another set. ``material.left_out`` counts what could not be
    generated. Without ``[abilities]`` the sets stay as they are.

    Args:
        sets: name of a set -> its records.
        known_records: name of a set -> records that the set leaves out because a model knows their answers. They get
            only counterfactual passages, which test whether a passage overrides what the model knows.
        material: the plan, and the rows and documents that are the corpus.

    Raises:
        DataError: the retriever of the plan cannot be used.
    """
    settings = abilities_settings(material.plan)
    files: dict[str, Sequence[Json]] = dict(sets)
    if settings is None:
        return files
    names = cast("tuple[tuple[str, ...], ...]", material.plan.settings["names"])
    options = AbilityOptions(
        settings.negatives, settings.counterfactuals, settings.integration, names=names, seed=material.plan.seed
    )
    rows = [row.passage for table in material.tables.values() for row in table.rows]
    passages = (*rows, *material.corpus)
    kinds = [kind for kind, is_on in zip(KINDS, (options.counterfactuals, options.integration), strict=True) if is_on]
    documents = {name: _documents([*records, *known_records.get(name, ())]) for name, records in sets.items()}
    for name, records in sets.items():
        others = frozenset().union(*(each for other, each in documents.items() if other != name))
        passages_of_set = tuple(each for each in passages if (each.page or each.id) not in others)
        search = _search(passages_of_set, settings, material.plan.folder)
        generated = make_abilities(_instances(records, name), passages_of_set, search, options)
        generated_from_known = make_abilities(
            _instances(known_records.get(name, ()) if options.counterfactuals else (), name),
            passages_of_set,
            search,
            replace(options, integration=False),
        )
        earlier = {str(each["id"]): each.get("generated", {}) for each in (*records, *known_records.get(name, ()))}
        files[name] = [record_of_generated(each, generated, earlier) for each in generated.pools]
        for kind in kinds:
            files[f"{name}.{kind}"] = [
                record_of_generated(each, source, earlier)
                for source in (generated, generated_from_known)
                for each in getattr(source, kind)
            ]
        generated.without_twin += generated_from_known.without_twin
        _count(material, generated)
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


def _count(material: Material, generated: Abilities) -> None:
    """Add the counts of what could not be generated to the report."""
    for ability, counts in (
        ("negatives", generated.short),
        ("counterfactual", generated.without_twin),
        ("integration", generated.without_partner),
    ):
        material.left_out.update({f"abilities: {ability}: {reason}": count for reason, count in counts.items()})


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


ABILITIES = SectionReader(many=False, read=_read_abilities)
NAMES = SectionReader(many=True, read=_read_names)
