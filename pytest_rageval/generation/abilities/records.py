"""Convert instances to records of the plugin's JSON Lines format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.generation.abilities.ability_records import Abilities
from pytest_rageval.model.case import Gold, Instance, Passage
from pytest_rageval.model.evidence import EvidenceUnit

__all__ = ["record_of_generated", "record_of_instance"]

_SET_BY_THE_LOADER = frozenset({"answerable", "dataset", "language"})


def record_of_instance(instance: Instance, generated: Mapping[str, Any]) -> dict[str, Any]:
    """Convert an instance to a record, without the facets that the loader sets.

    Args:
        instance: the instance.
        generated: the origin of the record; systems do not see it, and it is not a facet.
    """
    optional: dict[str, Any] = {
        "passages": None if instance.passages is None else [_passage(each) for each in instance.passages],
        "qrels": dict(instance.qrels),
        "provenance": [list(pages) for pages in instance.provenance],
        "evidence": [[_unit(unit) for unit in units] for units in instance.evidence],
        "history": [{"question": turn.question, "answer": turn.answer} for turn in instance.history],
    }
    facets = {name: value for name, value in instance.facets.items() if name not in _SET_BY_THE_LOADER}
    return {
        "id": instance.id,
        "question": instance.question,
        **_gold("answers", "slots", instance.gold),
        **_gold("fake_answers", "fake_answers", instance.fake),
        **{name: value for name, value in optional.items() if value},
        **({} if instance.answerable is None else {"answerable": instance.answerable}),
        "language": instance.language,
        **facets,
        "generated": dict(generated),
    }


def record_of_generated(instance: Instance, abilities: Abilities, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a generated instance to a record; its key ``generated`` extends that of its source record.

    Args:
        instance: a record of ``abilities``.
        abilities: the generated records with their origins.
        earlier: id of a source record -> the value of its key ``generated``.
    """
    origin = abilities.origins[instance.id]
    source_id = str(origin.get("of", instance.id))
    return record_of_instance(instance, {**earlier.get(source_id, {}), "abilities": origin})


def _gold(one: str, several: str, gold: Gold) -> dict[str, Any]:
    if not gold:
        return {}
    return {one: list(gold[0])} if len(gold) == 1 else {several: [list(slot) for slot in gold]}


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.id,
        "text": passage.text,
        **({"title": passage.title} if passage.title else {}),
        **({"role": passage.role} if passage.role else {}),
        **({"group": passage.group} if passage.group is not None else {}),
    }


def _unit(unit: EvidenceUnit) -> dict[str, Any]:
    place = {"quote": unit.quote} if unit.span is None else {"span": list(unit.span)}
    return {"page": unit.page, **place, **({"grade": unit.grade} if unit.grade != 1 else {})}
