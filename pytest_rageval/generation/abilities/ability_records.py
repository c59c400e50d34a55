"""Generate the records of RGB's four abilities from a dataset, a corpus and a retriever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.generation.abilities.answer_reading import read_answer
from pytest_rageval.generation.abilities.counterfactuals import Counterfactual, make_counterfactual
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.generation.abilities.gold_passages import CorpusPages, positives_of
from pytest_rageval.generation.abilities.integration import integrate
from pytest_rageval.generation.abilities.name_answers import Names
from pytest_rageval.generation.abilities.negatives import DEPTH, SHORT_POOL, Negatives, find_negatives
from pytest_rageval.generation.abilities.search import Search
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.ranking import Ranking

__all__ = ["Abilities", "AbilityOptions", "make_abilities"]


@dataclass(frozen=True, slots=True)
class AbilityOptions:
    """Settings of the generated abilities.

    Attributes:
        negatives: number of negative passages per record; 0 retrieves none, so a record has only its own.
        counterfactuals: whether to generate counterfactual twins of the positive passages.
        integration: whether to join the questions of two records into one.
        names: lists of names for false answers; each list has names of one kind, such as cities.
        seed: of the random choice of false answers and pairs.
    """

    negatives: int = 8
    counterfactuals: bool = True
    integration: bool = True
    names: Names = ()
    seed: int = 0


@dataclass(slots=True)
class Abilities:
    """Generated records, with counts of what could not be generated, by reason.

    Attributes:
        pools: the records with positive and negative passages, in the order of the dataset.
        counterfactual: the records with twins.
        integration: the records with a question joined from two.
        origins: record id -> the value of the record's key ``generated``.
        short: number of records with too few negative passages, by reason.
        excluded: number of retrieved passages that cannot be negatives, by reason.
        kinds: number of records with twins, by kind of answer, such as date.
        without_twin: number of records without twins, by reason.
        lost_twins: number of positive passages without a twin, in records with other twins, by reason.
        without_partner: number of records whose question could not be joined, by reason.
    """

    pools: list[Instance] = field(default_factory=list)
    counterfactual: list[Instance] = field(default_factory=list)
    integration: list[Instance] = field(default_factory=list)
    origins: dict[str, dict[str, Any]] = field(default_factory=dict)
    short: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    without_twin: Counter[str] = field(default_factory=Counter)
    lost_twins: Counter[str] = field(default_factory=Counter)
    without_partner: Counter[str] = field(default_factory=Counter)


def make_abilities(
    instances: Sequence[Instance], corpus: Iterable[Passage], search: Search | None, options: AbilityOptions
) -> Abilities:
    """Generate the records of the abilities.

    Args:
        instances: the records of the dataset; a record without positive passages takes passages of its gold pages.
        corpus: the passages of the corpus.
        search: retrieves passages of the corpus; None if there is no corpus, so records have only their own.
        options: which abilities to generate.
    """
    abilities, pages = Abilities(), CorpusPages.of(corpus)
    for instance in instances:
        positives = positives_of(instance, pages)
        ranking = Ranking() if search is None or not options.negatives else search(instance.question, DEPTH)
        negatives = find_negatives(instance, ranking, positives, options.negatives or len(instance.passages or ()))
        if not options.negatives and negatives.reason == SHORT_POOL:
            negatives = replace(negatives, reason="")
        abilities.short.update([negatives.reason] if negatives.reason else [])
        abilities.excluded.update(negatives.excluded)
        abilities.pools.append(_with_pool(instance, positives, negatives))
        abilities.origins[instance.id] = {"by": "abilities", "negatives": _ranks(negatives)} | _reason(negatives.reason)
        if options.counterfactuals:
            _add_twins(abilities, instance, positives, negatives, options)
    if options.integration:
        joined = integrate(abilities.pools, options.seed)
        abilities.integration += joined.instances
        abilities.without_partner.update(joined.left_out)
        abilities.origins |= {each.id: {"by": "abilities"} for each in joined.instances}
    return abilities


def _with_pool(instance: Instance, positives: Sequence[Passage], negatives: Negatives) -> Instance:
    """Return the record with its positives, its negatives, and then its other passages."""
    pool = [*positives, *negatives.passages]
    pool_ids = {each.id for each in pool}
    others = [
        each for each in instance.passages or () if each.role in ("", "counterfactual") and each.id not in pool_ids
    ]
    return replace(instance, passages=(*pool, *others))


def _add_twins(
    abilities: Abilities,
    instance: Instance,
    positives: Sequence[Passage],
    negatives: Negatives,
    options: AbilityOptions,
) -> None:
    """Add the counterfactual record of a record, or the reason why there is none."""
    fake = make_counterfactual(instance, positives, options.seed, options.names)
    if fake.reason is not None:
        abilities.without_twin[fake.reason.reason] += 1
        abilities.origins[instance.id]["no_counterfactual"] = f"{fake.reason.reason}: {fake.reason.detail}".rstrip(": ")
        return
    abilities.lost_twins.update(drop.reason for drop in fake.dropped.values())
    abilities.kinds.update(_kinds(instance, options.names))
    record = _with_twins(instance, positives, negatives, fake)
    abilities.counterfactual.append(record)
    abilities.origins[record.id] = {"by": "abilities", "of": instance.id, "negatives": _ranks(negatives)}


def _with_twins(
    instance: Instance, positives: Sequence[Passage], negatives: Negatives, fake: Counterfactual
) -> Instance:
    """Return the counterfactual record: positive passages with twins, the twins in the same order, then negatives."""
    originals = [each for each in positives if each.id in fake.twins]
    passages = (*originals, *(fake.twins[each.id] for each in originals), *negatives.passages)
    return replace(instance, id=f"{instance.id}-counterfactual", fake=fake.fake, passages=passages)


def _kinds(instance: Instance, names: Names) -> set[str]:
    answers = [read_answer(slot, names) for slot in instance.gold]
    return {answer.kind for answer in answers if not isinstance(answer, Drop)}


def _ranks(negatives: Negatives) -> dict[str, Any]:
    """Return the rank and the score of each retrieved negative; negatives of the record itself have none."""
    return {each.id: dict(each.metadata) for each in negatives.passages if each.metadata}


def _reason(reason: str) -> dict[str, str]:
    return {"reason": reason} if reason else {}
