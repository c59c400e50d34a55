"""An instance as a record of our JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.generation.abilities.making import Abilities
from pytest_rageval.model.case import Gold, Instance, Passage
from pytest_rageval.model.evidence import EvidenceUnit

__all__ = ["record_of_instance", "record_of_made"]

_SET_BY_THE_LOADER = frozenset({"answerable", "dataset", "language"})


def record_of_instance(instance: Instance, generated: Mapping[str, Any]) -> dict[str, Any]:
    """Return an instance as a record; facets that the loader sets are left out.

    Args:
        instance: the instance.
        generated: where it comes from; no system sees it, and it is no facet.
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


def record_of_made(instance: Instance, made: Abilities, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record that was made; ``generated`` adds what was done to what ``earlier`` says of its source.

    Args:
        instance: a record of ``made``.
        made: the records with their origins.
        earlier: id of a source record -> its key ``generated``.
    """
    origin = made.origins[instance.id]
    of = str(origin.get("of", instance.id))
    return record_of_instance(instance, {**earlier.get(of, {}), "abilities": origin})


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
