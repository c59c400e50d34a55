"""Check the settings of one testbed: the arguments of ``rag_case`` or a table of a suite."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import cast, get_args

from pytest_rageval.datasets.fields import RESERVED
from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.model.case import Relevance
from pytest_rageval.model.facets import ABILITIES, FACETS, facet_text
from pytest_rageval.testbeds import arguments
from pytest_rageval.testbeds.composition import exact
from pytest_rageval.testbeds.rgb_compat import float_count

__all__ = ["ASSEMBLIES", "AXES", "RETRIEVED", "SETTINGS", "Settings", "parse_settings"]

ASSEMBLIES = ("balanced", "rgb-compat")

HISTORIES = ("gold", "own")

RETRIEVED = "retrieved"
"""Value of ``passages`` if the system retrieves: the testbed supplies none."""

SETTINGS = (
    "ability", "assembly", "cluster", "correct_rate", "dataset", "facets", "gates", "history", "limit", "metrics",
    "noise_rate", "passages", "qrels", "relations", "relevance", "sample", "seed", "variants", "where",
)  # fmt: skip
"""The names of all settings; in a marker, any other keyword is a facet."""

MOST_PASSAGES = 10_000
"""More than any model reads; the assembly of a case holds a list of this length."""

VARIANTS = 3
"""The default number of variants of a case for each relation."""

AXES = ("passages", "noise_rate", "correct_rate")

_OF_ABILITIES: dict[str, object] = {"noise_rate": (0.0,), "correct_rate": (0.0,), "assembly": "balanced"}
"""The settings that only an ability reads, and their defaults, which users may write anywhere."""


APART: Mapping[str, object] = {"decides": False}
"""Of a field: it selects cases, or the fingerprint of a run lists it on its own; `run_fingerprint` leaves it out."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The checked settings of one testbed.

    Attributes:
        dataset: ``format:path``.
        ability: one of RGB's four, or None.
        metrics: names of metrics, the first one primary; None for the ability's own.
        gates: gate expressions, as the user wrote them.
        passages: number of passages to supply, or `RETRIEVED`; one for each point of the axis.
        noise_rate: shares of noise in 0..1; (1.0,) under negative rejection.
        correct_rate: shares of correct passages in 0..1.
        multiplied: which of passages, noise_rate and correct_rate are lists, in that order.
        explicit: the names of all settings that the user set and that are not None.
        assembly: "balanced" or "rgb-compat".
        qrels: the file whose judgements replace the records' own, or None.
        relevance: what makes a retrieved passage relevant.
        history: whether the later turns of a conversation follow the record's answers ("gold") or the system's ("own").
        limit: number of first cases to run, or None.
        sample: number of cases in a stratified sample, or None.
        seed: the testbed's own seed, or None for the session's.
        where: facet -> value, "*" for any; selects the cases that match.
        facets: facets of every case of the testbed.
        cluster: the facet whose value its dependent cases share; None for ``rag_cluster``.
        relations: names of relations; each makes variants of every case.
        variants: number of variants of a case for each relation.
        origin: where the settings are written, for messages.
    """

    dataset: str
    ability: str | None
    metrics: tuple[str, ...] | None = field(metadata=APART)
    gates: tuple[str, ...] = field(metadata=APART)
    passages: tuple[int | str, ...]
    noise_rate: tuple[float, ...]
    correct_rate: tuple[float, ...]
    multiplied: tuple[str, ...]
    explicit: frozenset[str] = field(metadata=APART)
    assembly: str
    qrels: str | None
    relevance: Relevance
    history: str
    limit: int | None = field(metadata=APART)
    sample: int | None = field(metadata=APART)
    seed: int | None = field(metadata=APART)
    where: Mapping[str, str] = field(metadata=APART)
    facets: Mapping[str, str]
    cluster: str | None = field(metadata=APART)
    relations: tuple[str, ...] = field(metadata=APART)
    variants: int = field(metadata=APART)
    origin: str = field(metadata=APART)


def parse_settings(raw: Mapping[str, object], where: str, *, known_keys_only: bool = False) -> Settings:
    """Return the settings in ``raw``; a value of None means that the setting is not set.

    Args:
        raw: names and values, as a user wrote them.
        where: the start of every error, such as "tests/test_a.py:12".
        known_keys_only: refuse a key that is not a setting; otherwise such a key is a facet.

    Raises:
        SettingError: a value is invalid, a setting has no effect, or settings contradict each other.
        UnknownNameError: an ability, an assembly or (``known_keys_only``) a key is unknown.
    """
    values = {name: value for name, value in raw.items() if value is not None}
    facets = _facets(values, where, known_keys_only)
    ability = _choice(values.get("ability"), "ability", ABILITIES, where)
    settings = Settings(
        dataset=_dataset(values.get("dataset"), where),
        ability=ability,
        metrics=_metrics(values, where),
        gates=arguments.texts(values.get("gates", ()), "gates", where),
        passages=arguments.axis(values.get("passages", 5), "passages", where, _passages),
        noise_rate=arguments.axis(values.get("noise_rate", _noise(ability)), "noise_rate", where, arguments.rate),
        correct_rate=arguments.axis(values.get("correct_rate", 0.0), "correct_rate", where, arguments.rate),
        multiplied=tuple(name for name in AXES if isinstance(values.get(name), (list, tuple))),
        explicit=frozenset(values).intersection(SETTINGS),
        assembly=_choice(values.get("assembly"), "assembly", ASSEMBLIES, where) or "balanced",
        qrels=arguments.text(values["qrels"], "qrels", where) if "qrels" in values else None,
        relevance=cast("Relevance", _choice(values.get("relevance"), "relevance", get_args(Relevance), where) or "ids"),
        history=_choice(values.get("history"), "history", HISTORIES, where) or "gold",
        limit=_number(values, "limit", where, 1),
        sample=_number(values, "sample", where, 1),
        seed=_number(values, "seed", where, None),
        where=arguments.scalars(values.get("where", {}), "where", where),
        facets=facets,
        cluster=arguments.text(values["cluster"], "cluster", where) if "cluster" in values else None,
        relations=arguments.texts(values.get("relations", ()), "relations", where),
        variants=_number(values, "variants", where, 1) or VARIANTS,
        origin=where,
    )
    _refuse_without_effect(settings)
    _refuse_contradictions(settings)
    return settings


def _facets(values: Mapping[str, object], where: str, known_keys_only: bool) -> dict[str, str]:
    loose = {name: value for name, value in values.items() if name not in SETTINGS}
    for name in loose:
        near = difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.8)
        if known_keys_only or (near and name not in FACETS):
            raise UnknownNameError("key", name, SETTINGS, where)
    table = arguments.scalars(values.get("facets", {}), "facets", where)
    for name, value in loose.items():
        if not isinstance(value, (str, int, float)):
            problem = f"found {short_repr(value)}, wanted a string, number or boolean, as a keyword that is no setting"
            raise SettingError(f"{where}: {ascii_safe(name)}: {problem} is a facet; {did_you_mean(name, SETTINGS)}")
        if name in table:
            raise SettingError(f"{where}: the facet {short_repr(name)} is given twice, as a keyword and in facets")
        table[name] = facet_text(value)
    for name in RESERVED.intersection(table):
        raise SettingError(f"{where}: the facet {short_repr(name)} is reserved by the plugin; give yours another")
    return table


def _choice(value: object, kind: str, known: tuple[str, ...], where: str) -> str | None:
    if value is None:
        return None
    if value not in known:
        raise UnknownNameError(kind, value, known, where)
    return str(value)


def _dataset(value: object, where: str) -> str:
    if isinstance(value, str) and all(part.strip() for part in value.partition(":")):
        return value
    what = "is missing" if value is None else f"found {short_repr(value)}"
    raise SettingError(f"{where}: dataset: {what}, wanted 'format:path' such as 'jsonl:cases.jsonl'", code="RAG104")


def _metrics(values: Mapping[str, object], where: str) -> tuple[str, ...] | None:
    if "metrics" not in values:
        return None
    metrics = arguments.texts(values["metrics"], "metrics", where)
    if not metrics:
        raise SettingError(
            f"{where}: metrics is an empty list, wanted at least one name; leave it out for the defaults"
        )
    return metrics


def _passages(value: object, name: str, where: str) -> int | str:
    if value == RETRIEVED:
        return RETRIEVED
    if isinstance(value, str):
        raise SettingError(
            f"{where}: {name}: found {short_repr(value)}, wanted an integer of at least 0, or {RETRIEVED!r}"
        )
    number = arguments.integer(value, name, where, 0)
    if number > MOST_PASSAGES:
        raise SettingError(f"{where}: {name}: found {number}, wanted at most {MOST_PASSAGES:,} passages a case")
    return number


def _number(values: Mapping[str, object], name: str, where: str, least: int | None) -> int | None:
    return arguments.integer(values[name], name, where, least) if name in values else None


def _noise(ability: str | None) -> float:
    return 1.0 if ability == "negative_rejection" else 0.0


def _refuse_without_effect(settings: Settings) -> None:
    ability, origin = settings.ability, settings.origin
    if "variants" in settings.explicit and not settings.relations:
        raise SettingError(f"{origin}: variants has no effect without relations; add relations=, or leave it out")
    if ability is None:
        for name in _OF_ABILITIES:
            if _asks(settings, name):
                raise SettingError(f"{origin}: {name} has no effect without an ability; add ability=, or leave it out")
        return
    if RETRIEVED in settings.passages:
        problem = f"passages {RETRIEVED!r} supplies none, and {ability} is about those that are supplied"
        raise SettingError(f"{origin}: {problem}; leave one of them out")
    if ability != "counterfactual_robustness" and _asks(settings, "correct_rate"):
        problem = f"correct_rate has no effect on {ability}, only on counterfactual_robustness; leave it out"
        raise SettingError(f"{origin}: {problem}")
    if ability == "negative_rejection" and settings.noise_rate != (1.0,):
        raise SettingError(f"{origin}: negative_rejection supplies nothing but noise; leave noise_rate out")


def _asks(settings: Settings, name: str) -> bool:
    """Return whether a setting is a list or differs from its default."""
    return name in settings.multiplied or getattr(settings, name) != _OF_ABILITIES[name]


def _refuse_contradictions(settings: Settings) -> None:
    origin = settings.origin
    if settings.limit is not None and settings.sample is not None:
        raise SettingError(
            f"{origin}: limit and sample are both given, wanted one: the first cases, or a sample of all", code="RAG103"
        )
    if settings.qrels is not None and settings.relevance != "ids":
        problem = (
            f"qrels has no effect with relevance {settings.relevance!r}, as it judges by ids; leave one of them out"
        )
        raise SettingError(f"{origin}: {problem}")
    numbers = [passages for passages in settings.passages if isinstance(passages, int)]
    for noise, correct in product(settings.noise_rate, settings.correct_rate):
        if exact(noise) + exact(correct) > 1:
            problem = f"noise_rate {facet_text(noise)} and correct_rate {facet_text(correct)} add up to more than 1"
            raise SettingError(f"{origin}: {problem}; lower one of them")
        for passages in numbers if settings.assembly == "rgb-compat" else ():
            counts = float_count(passages, noise), float_count(passages, correct)
            if sum(counts) > passages:
                problem = f"of {passages} passages, rgb-compat rounds noise_rate {facet_text(noise)} up to {counts[0]}"
                problem += f" and correct_rate {facet_text(correct)} up to {counts[1]}"
                raise SettingError(f"{origin}: {problem}, more than there are; lower one of them")
