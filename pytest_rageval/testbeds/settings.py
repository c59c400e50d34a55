"""Check the settings of a testbed: arguments of ``rag_case`` or a table of a suite."""

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
"""The value of ``passages`` if the system retrieves and the testbed supplies no passages."""

SETTINGS = (
    "ability", "assembly", "cluster", "correct_rate", "dataset", "facets", "gates", "history", "limit", "metrics",
    "noise_rate", "passages", "qrels", "relations", "relevance", "sample", "seed", "variants", "where",
)  # fmt: skip
"""The names of all settings; any other keyword of a marker is a facet."""

MAX_PASSAGES = 10_000
"""Largest number of passages of a case; more than any model reads, but small enough to assemble in memory."""

VARIANTS = 3
"""The default number of variants of a case for each relation."""

AXES = ("passages", "noise_rate", "correct_rate")

_ABILITY_DEFAULTS: dict[str, object] = {"noise_rate": (0.0,), "correct_rate": (0.0,), "assembly": "balanced"}
"""Settings that only abilities use -> their defaults, which are accepted without an ability, too."""


OUTSIDE_FINGERPRINT: Mapping[str, object] = {"decides": False}
"""Metadata of a field that `run_fingerprint` skips: it only selects cases, or the fingerprint has it elsewhere."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The checked settings of one testbed.

    Attributes:
        dataset: ``format:path``.
        ability: one of RGB's four, or None.
        metrics: names of metrics, the first one primary; None for the ability's metrics.
        gates: gate expressions, as the user wrote them.
        passages: numbers of passages to supply, or `RETRIEVED`.
        noise_rate: shares of noise in 0..1; (1.0,) for negative rejection.
        correct_rate: shares of correct passages in 0..1.
        multiplied: which of passages, noise_rate and correct_rate are lists, in that order.
        explicit: the names of the settings that the user set to a value other than None.
        assembly: "balanced" or "rgb-compat".
        qrels: the file with judgements that replace those of the records, or None.
        relevance: what makes a retrieved passage relevant.
        history: whether the history of a turn contains the record's answers ("gold") or the system's answers ("own").
        limit: number of cases to run, from the first; or None.
        sample: number of cases in a stratified sample, or None.
        seed: the seed of the testbed, or None for the session's seed.
        where: facet -> value, "*" for any; selects the cases that match.
        facets: facets of every case of the testbed.
        cluster: the facet that dependent cases have the same value of; None for ``rag_cluster``.
        relations: names of relations; each one makes variants of every case.
        variants: number of variants of a case for each relation.
        origin: where the settings are written, for messages.
    """

    dataset: str
    ability: str | None
    metrics: tuple[str, ...] | None = field(metadata=OUTSIDE_FINGERPRINT)
    gates: tuple[str, ...] = field(metadata=OUTSIDE_FINGERPRINT)
    passages: tuple[int | str, ...]
    noise_rate: tuple[float, ...]
    correct_rate: tuple[float, ...]
    multiplied: tuple[str, ...]
    explicit: frozenset[str] = field(metadata=OUTSIDE_FINGERPRINT)
    assembly: str
    qrels: str | None
    relevance: Relevance
    history: str
    limit: int | None = field(metadata=OUTSIDE_FINGERPRINT)
    sample: int | None = field(metadata=OUTSIDE_FINGERPRINT)
    seed: int | None = field(metadata=OUTSIDE_FINGERPRINT)
    where: Mapping[str, str] = field(metadata=OUTSIDE_FINGERPRINT)
    facets: Mapping[str, str]
    cluster: str | None = field(metadata=OUTSIDE_FINGERPRINT)
    relations: tuple[str, ...] = field(metadata=OUTSIDE_FINGERPRINT)
    variants: int = field(metadata=OUTSIDE_FINGERPRINT)
    origin: str = field(metadata=OUTSIDE_FINGERPRINT)


def parse_settings(raw: Mapping[str, object], where: str, *, known_keys_only: bool = False) -> Settings:
    """Check the settings in ``raw``; None means that a setting is not set.

    Args:
        raw: names and values, as a user wrote them.
        where: the start of every error, such as "tests/test_a.py:12".
        known_keys_only: raise for a key that is not a setting; otherwise such a key is a facet.

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
    _check_effects(settings)
    _check_contradictions(settings)
    return settings


def _facets(values: Mapping[str, object], where: str, known_keys_only: bool) -> dict[str, str]:
    keywords = {name: value for name, value in values.items() if name not in SETTINGS}
    for name in keywords:
        near = difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.8)
        if known_keys_only or (near and name not in FACETS):
            raise UnknownNameError("key", name, SETTINGS, where)
    table = arguments.scalars(values.get("facets", {}), "facets", where)
    for name, value in keywords.items():
        if not isinstance(value, (str, int, float)):
            problem = (
                f"found {short_repr(value)}, wanted a string, number or boolean, because an unknown keyword is a facet"
            )
            raise SettingError(f"{where}: {ascii_safe(name)}: {problem}; {did_you_mean(name, SETTINGS)}")
        if name in table:
            raise SettingError(f"{where}: the facet {short_repr(name)} is set twice, as a keyword and in facets")
        table[name] = facet_text(value)
    for name in RESERVED.intersection(table):
        raise SettingError(f"{where}: the facet {short_repr(name)} is reserved by the plugin; rename it")
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
    if number > MAX_PASSAGES:
        raise SettingError(f"{where}: {name}: found {number}, wanted at most {MAX_PASSAGES:,} passages a case")
    return number


def _number(values: Mapping[str, object], name: str, where: str, least: int | None) -> int | None:
    return arguments.integer(values[name], name, where, least) if name in values else None


def _noise(ability: str | None) -> float:
    return 1.0 if ability == "negative_rejection" else 0.0


def _check_effects(settings: Settings) -> None:
    ability, origin = settings.ability, settings.origin
    if "variants" in settings.explicit and not settings.relations:
        raise SettingError(f"{origin}: variants has no effect without relations; add relations=, or leave it out")
    if ability is None:
        for name in _ABILITY_DEFAULTS:
            if _is_changed(settings, name):
                raise SettingError(f"{origin}: {name} has no effect without an ability; add ability=, or leave it out")
        return
    if RETRIEVED in settings.passages:
        problem = f"passages {RETRIEVED!r} supplies no passages, but {ability} tests supplied passages"
        raise SettingError(f"{origin}: {problem}; leave one of them out")
    if ability != "counterfactual_robustness" and _is_changed(settings, "correct_rate"):
        problem = f"correct_rate has no effect on {ability}, only on counterfactual_robustness; leave it out"
        raise SettingError(f"{origin}: {problem}")
    if ability == "negative_rejection" and settings.noise_rate != (1.0,):
        raise SettingError(f"{origin}: negative_rejection supplies only noise; leave noise_rate out")


def _is_changed(settings: Settings, name: str) -> bool:
    """Return whether a setting is a list or differs from its default."""
    return name in settings.multiplied or getattr(settings, name) != _ABILITY_DEFAULTS[name]


def _check_contradictions(settings: Settings) -> None:
    origin = settings.origin
    if settings.limit is not None and settings.sample is not None:
        raise SettingError(
            f"{origin}: limit and sample are both set, wanted one: the first cases, or a sample of all", code="RAG103"
        )
    if settings.qrels is not None and settings.relevance != "ids":
        problem = (
            f"qrels has no effect with relevance {settings.relevance!r}, because it judges ids; remove one of them"
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
                raise SettingError(f"{origin}: {problem}, which is more than {passages}; lower one of them")
