"""Make the records of all four abilities from the records of a dataset, a corpus and a retriever's search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.generation.abilities.counterfactuals import Counterfactual, counterfactual
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.generation.abilities.gold_passages import CorpusPages, positives_of
from pytest_rageval.generation.abilities.integration import integrate
from pytest_rageval.generation.abilities.lies import read_answer
from pytest_rageval.generation.abilities.name_answers import Names
from pytest_rageval.generation.abilities.negatives import DEPTH, SHORT_POOL, Negatives, find_negatives
from pytest_rageval.generation.abilities.search import Search
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.ranking import Ranking

__all__ = ["Abilities", "Wanted", "make_abilities"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to make.

    Attributes:
        negatives: the wanted number of negative passages of a record; 0 keeps only the record's own.
        counterfactuals: whether to make twins of the positive passages.
        integration: whether to join questions.
        names: lists of names for counterfactual answers, each of one kind.
        seed: decides false answers and pairs.
    """

    negatives: int = 8
    counterfactuals: bool = True
    integration: bool = True
    names: Names = ()
    seed: int = 0


@dataclass(slots=True)
class Abilities:
    """The records that were made, with what was not made and why.

    Attributes:
        pools: the records with positive and negative passages, in the order of the dataset.
        counterfactual: the records with twins.
        integration: the records with two joined questions.
        origins: id of a record that was made -> what the key ``generated`` says of it.
        short: number of records with too few negative passages, by reason.
        excluded: passages that are no negatives, by reason.
        kinds: records with twins, by the kinds of their answers.
        without_twin: records without twins, by reason.
        lost_twins: positive passages without a twin in records that have some, by reason.
        without_partner: records whose question is not joined, by reason.
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
    instances: Sequence[Instance], corpus: Iterable[Passage], search: Search | None, wanted: Wanted
) -> Abilities:
    """Return the records of the abilities.

    Args:
        instances: the records of the dataset; one without positive passages takes those of its gold pages.
        corpus: the passages of the corpus.
        search: returns the ranking of a question; None for no corpus: a record keeps its own negative passages.
        wanted: what to make.
    """
    made, pages = Abilities(), CorpusPages.of(corpus)
    for instance in instances:
        positives = positives_of(instance, pages)
        ranking = Ranking() if search is None or not wanted.negatives else search(instance.question, DEPTH)
        found = find_negatives(instance, ranking, positives, wanted.negatives or len(instance.passages or ()))
        if not wanted.negatives and found.reason == SHORT_POOL:
            found = replace(found, reason="")
        made.short.update([found.reason] if found.reason else [])
        made.excluded.update(found.excluded)
        made.pools.append(_with_pool(instance, positives, found))
        made.origins[instance.id] = {"by": "abilities", "negatives": _ranks(found)} | _reason(found.reason)
        if wanted.counterfactuals:
            _add_twins(made, instance, positives, found, wanted)
    if wanted.integration:
        joined = integrate(made.pools, wanted.seed)
        made.integration += joined.instances
        made.without_partner.update(joined.left_out)
        made.origins |= {each.id: {"by": "abilities"} for each in joined.instances}
    return made


def _with_pool(instance: Instance, positives: Sequence[Passage], found: Negatives) -> Instance:
    """Return the record with its positive and negative passages, then its other ones."""
    pool = [*positives, *found.passages]
    used = {each.id for each in pool}
    others = [each for each in instance.passages or () if each.role in ("", "counterfactual") and each.id not in used]
    return replace(instance, passages=(*pool, *others))


def _add_twins(
    made: Abilities, instance: Instance, positives: Sequence[Passage], found: Negatives, wanted: Wanted
) -> None:
    lie = counterfactual(instance, positives, wanted.seed, wanted.names)
    if lie.reason is not None:
        made.without_twin[lie.reason.reason] += 1
        made.origins[instance.id]["no_counterfactual"] = f"{lie.reason.reason}: {lie.reason.detail}".rstrip(": ")
        return
    made.lost_twins.update(drop.reason for drop in lie.dropped.values())
    made.kinds.update(_kinds(instance, wanted.names))
    record = _with_twins(instance, positives, found, lie)
    made.counterfactual.append(record)
    made.origins[record.id] = {"by": "abilities", "of": instance.id, "negatives": _ranks(found)}


def _with_twins(instance: Instance, positives: Sequence[Passage], found: Negatives, lie: Counterfactual) -> Instance:
    """Return the record of the lie: the positive passages that have a twin, their twins in the same order, noise."""
    changed = [each for each in positives if each.id in lie.twins]
    passages = (*changed, *(lie.twins[each.id] for each in changed), *found.passages)
    return replace(instance, id=f"{instance.id}-counterfactual", fake=lie.fake, passages=passages)


def _kinds(instance: Instance, names: Names) -> set[str]:
    answers = [read_answer(slot, names) for slot in instance.gold]
    return {answer.kind for answer in answers if not isinstance(answer, Drop)}


def _ranks(found: Negatives) -> dict[str, Any]:
    """Return the rank and the score of each retrieved passage; a record's own passages have none."""
    return {each.id: dict(each.metadata) for each in found.passages if each.metadata}


def _reason(reason: str) -> dict[str, str]:
    return {"reason": reason} if reason else {}
