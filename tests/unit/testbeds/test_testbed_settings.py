"""Settings of a testbed: defaults, parsing and error messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.testbeds.settings import SETTINGS, Settings, parse_settings

NOISE: dict[str, object] = {"dataset": "rgb:a.json", "ability": "noise_robustness"}
FACT: dict[str, object] = {"dataset": "rgb:a.json", "ability": "counterfactual_robustness"}
COMPAT = {**FACT, "assembly": "rgb-compat"}

DATASET = "wanted 'format:path' such as 'jsonl:cases.jsonl'"

INVALID_SETTINGS: list[tuple[dict[str, object], str]] = [
    ({}, f"dataset: is missing, {DATASET}"),
    ({"dataset": "cases.jsonl"}, f"dataset: found 'cases.jsonl', {DATASET}"),
    ({"dataset": "rgb:"}, f"dataset: found 'rgb:', {DATASET}"),
    ({"dataset": ["rgb:a"]}, f"dataset: found ['rgb:a'], {DATASET}"),
    ({**NOISE, "ability": "noise_robustnes"}, "unknown ability 'noise_robustnes'; did you mean 'noise_robustness'?"),
    (
        {**NOISE, "ability": "plain"},
        "unknown ability 'plain'; known: counterfactual_robustness, information_integration, "
        "negative_rejection, noise_robustness",
    ),
    ({**NOISE, "ability": ["x"]}, "unknown ability ['x']; known: "),
    ({**NOISE, "assembly": "rgb_compat"}, "unknown assembly 'rgb_compat'; did you mean 'rgb-compat'?"),
    ({**NOISE, "metrics": 3}, "metrics: found 3, wanted a list of strings"),
    ({**NOISE, "metrics": ["accuracy", None]}, "metrics: found None, wanted a string that is not empty"),
    ({**NOISE, "metrics": []}, "metrics is an empty list, wanted at least one name; leave it out for the defaults"),
    ({**NOISE, "metrics": ["a", "a"]}, "metrics: found ['a', 'a'], wanted each string once"),
    ({**NOISE, "gates": [""]}, "gates: found '', wanted a string that is not empty"),
    ({**NOISE, "gates": {"accuracy": 1}}, "gates: found {'accuracy': 1}, wanted a list of strings"),
    ({**NOISE, "passages": -1}, "passages: found -1, wanted an integer of at least 0"),
    ({**NOISE, "passages": 5.0}, "passages: found 5.0, wanted an integer of at least 0"),
    ({**NOISE, "passages": True}, "passages: found True, wanted an integer of at least 0"),
    (
        {**NOISE, "passages": "retreived"},
        "passages: found 'retreived', wanted an integer of at least 0, or 'retrieved'",
    ),
    (
        {**NOISE, "passages": [3, "retrieved"]},
        "passages 'retrieved' supplies no passages, but noise_robustness tests ",
    ),
    ({**NOISE, "relevance": "id"}, "unknown relevance 'id'; did you mean 'ids'?"),
    ({**NOISE, "qrels": 3}, "qrels: found 3, wanted a string that is not empty"),
    (
        {**NOISE, "qrels": "q", "relevance": "overlap"},
        "qrels has no effect with relevance 'overlap', because it judges ids; remove one of them",
    ),
    ({**NOISE, "passages": []}, "passages is an empty list, wanted at least one value"),
    ({**NOISE, "passages": [5, 5]}, "passages: found [5, 5], wanted each value once"),
    ({**NOISE, "noise_rate": 1.1}, "noise_rate: found 1.1, wanted a number in 0..1"),
    ({**NOISE, "noise_rate": -0.1}, "noise_rate: found -0.1, wanted a number in 0..1"),
    ({**NOISE, "noise_rate": float("nan")}, "noise_rate: found nan, wanted a number in 0..1"),
    ({**NOISE, "noise_rate": False}, "noise_rate: found False, wanted a number in 0..1"),
    ({**NOISE, "noise_rate": "0.4"}, "noise_rate: found '0.4', wanted a number in 0..1"),
    ({**NOISE, "noise_rate": [0.2, 2]}, "noise_rate: found 2, wanted a number in 0..1"),
    ({**NOISE, "noise_rate": [0, 0.0]}, "noise_rate: found [0, 0.0], wanted each value once"),
    ({**NOISE, "noise_rate": []}, "noise_rate is an empty list, wanted at least one value"),
    ({**FACT, "correct_rate": 1.5}, "correct_rate: found 1.5, wanted a number in 0..1"),
    ({**NOISE, "limit": 0}, "limit: found 0, wanted an integer of at least 1"),
    ({**NOISE, "sample": "9"}, "sample: found '9', wanted an integer of at least 1"),
    ({**NOISE, "sample": True}, "sample: found True, wanted an integer of at least 1"),
    (
        {**NOISE, "limit": 1, "sample": 1},
        "limit and sample are both set, wanted one: the first cases, or a sample of all",
    ),
    ({**NOISE, "seed": 1.5}, "seed: found 1.5, wanted an integer"),
    ({**NOISE, "seed": True}, "seed: found True, wanted an integer"),
    ({**NOISE, "where": "topic=x"}, "where: found 'topic=x', wanted a table of facets and values"),
    ({**NOISE, "where": {"topic": ["x"]}}, "where.topic: found ['x'], wanted a string, number or boolean"),
    ({**NOISE, "where": {"topic": None}}, "where.topic: found None, wanted a string, number or boolean"),
    ({**NOISE, "where": {3: "x"}}, "where: found {3: 'x'}, wanted a table of facets and values"),
    ({**NOISE, "facets": ["x"]}, "facets: found ['x'], wanted a table of facets and values"),
    (
        {**NOISE, "facets": {"dataset": "x"}},
        "the facet 'dataset' is reserved by the plugin; rename it",
    ),
    ({**NOISE, "system": "x"}, "the facet 'system' is reserved by the plugin; rename it"),
    (
        {**NOISE, "noise_realised": 1},
        "the facet 'noise_realised' is reserved by the plugin; rename it",
    ),
    (
        {**NOISE, "team": "a", "facets": {"team": "b"}},
        "the facet 'team' is set twice, as a keyword and in facets",
    ),
    (
        {**NOISE, "team": ["a"]},
        "team: found ['a'], wanted a string, number or boolean, because an unknown keyword is a facet; known: ",
    ),
    ({**NOISE, "noise_rates": 0.4}, "unknown key 'noise_rates'; did you mean 'noise_rate'?"),
    ({**NOISE, "metric": "accuracy"}, "unknown key 'metric'; did you mean 'metrics'?"),
    ({**NOISE, "gate": "n > 1"}, "unknown key 'gate'; did you mean 'gates'?"),
    (
        {"dataset": "rgb:a", "noise_rate": 0.4},
        "noise_rate has no effect without an ability; add ability=, or leave it out",
    ),
    (
        {"dataset": "rgb:a", "correct_rate": 0.2},
        "correct_rate has no effect without an ability; add ability=, or leave it out",
    ),
    (
        {"dataset": "rgb:a", "assembly": "rgb-compat"},
        "assembly has no effect without an ability; add ability=, or leave it out",
    ),
    (
        {"dataset": "rgb:a", "noise_rate": [0.0]},
        "noise_rate has no effect without an ability; add ability=, or leave it out",
    ),
    (
        {**NOISE, "correct_rate": [0.0]},
        "correct_rate has no effect on noise_robustness, only on counterfactual_robustness; leave it out",
    ),
    (
        {"dataset": "rgb:a", "ability": "negative_rejection", "noise_rate": 0.0},
        "negative_rejection supplies only noise; leave noise_rate out",
    ),
    (
        {**NOISE, "correct_rate": 0.2},
        "correct_rate has no effect on noise_robustness, only on counterfactual_robustness; leave it out",
    ),
    (
        {"dataset": "rgb:a", "ability": "negative_rejection", "noise_rate": 0.8},
        "negative_rejection supplies only noise; leave noise_rate out",
    ),
    (
        {**FACT, "noise_rate": [0, 0.6], "correct_rate": [0.2, 0.6]},
        "noise_rate 0.6 and correct_rate 0.6 add up to more than 1; lower one of them",
    ),
    (
        {**COMPAT, "noise_rate": 0.5, "correct_rate": 0.5},
        "of 5 passages, rgb-compat rounds noise_rate 0.5 up to 3 and correct_rate 0.5 up to 3, "
        "which is more than 5; lower one of them",
    ),
]


def parse(**raw: Any) -> Settings:
    return parse_settings(raw, "test_a.py:3")


@pytest.mark.parametrize(("raw", "message"), INVALID_SETTINGS)
def test_an_invalid_setting_is_one_sentence_that_begins_with_its_place(raw: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError) as error:
        parse_settings(raw, "test_a.py:3")
    assert str(error.value).startswith(f"test_a.py:3: {message}")


def test_unknown_names_raise_a_separate_class() -> None:
    with pytest.raises(UnknownNameError) as ability:
        parse(dataset="rgb:a", ability="noise")
    with pytest.raises(UnknownNameError) as assembly:
        parse(dataset="rgb:a", ability="noise_robustness", assembly="x")
    assert (ability.value.kind, assembly.value.kind) == ("ability", "assembly")


def test_a_suite_accepts_only_known_keys() -> None:
    raw: dict[str, object] = {"dataset": "rgb:a", "team": "x"}
    assert parse_settings(raw, "here").facets == {"team": "x"}
    with pytest.raises(UnknownNameError, match=r"^here: unknown key 'team'; known: ability, assembly, "):
        parse_settings(raw, "here", known_keys_only=True)
    with pytest.raises(UnknownNameError, match=r"^here: unknown key 'nose_rate'; did you mean 'noise_rate'\?"):
        parse_settings({"dataset": "rgb:a", "nose_rate": 0.4}, "here", known_keys_only=True)
    settings = parse_settings({"dataset": "rgb:a", "facets": {"team": "x"}}, "here", known_keys_only=True)
    assert settings.facets == {"team": "x"}


def test_settings_have_defaults() -> None:
    assert parse(dataset="jsonl:a.jsonl", ability=None, limit=None) == Settings(
        dataset="jsonl:a.jsonl",
        ability=None,
        metrics=None,
        gates=(),
        passages=(5,),
        noise_rate=(0.0,),
        correct_rate=(0.0,),
        multiplied=(),
        explicit=frozenset({"dataset"}),
        assembly="balanced",
        qrels=None,
        relevance="ids",
        history="gold",
        limit=None,
        sample=None,
        seed=None,
        where={},
        facets={},
        cluster=None,
        relations=(),
        variants=3,
        origin="test_a.py:3",
    )


def test_every_setting_is_parsed() -> None:
    settings = parse(
        dataset="rgb:a", ability="counterfactual_robustness", metrics="accuracy", gates=("accuracy >= 0.5",),
        passages=[3, 5], noise_rate=(0, 0.4), correct_rate=0.2, assembly="rgb-compat", sample=9, seed=-1,
        where={"topic": "*", "noise_rate": 0.40, "checked": True}, facets={"team": 3}, release=1.50, level="l",
    )  # fmt: skip
    assert settings.metrics == ("accuracy",)
    assert settings.gates == ("accuracy >= 0.5",)
    assert (settings.passages, settings.noise_rate, settings.correct_rate) == ((3, 5), (0.0, 0.4), (0.2,))
    assert settings.multiplied == ("passages", "noise_rate")
    assert (settings.assembly, settings.limit, settings.sample, settings.seed) == ("rgb-compat", None, 9, -1)
    assert settings.where == {"topic": "*", "noise_rate": "0.4", "checked": "true"}
    assert settings.facets == {"team": "3", "release": "1.5", "level": "l"}
    assert settings.explicit == frozenset(SETTINGS) - {
        "cluster", "history", "limit", "qrels", "relations", "relevance", "variants",
    }  # fmt: skip


def test_rates_that_add_up_to_1_are_accepted() -> None:
    assert parse(**{**FACT, "noise_rate": 0.7, "correct_rate": 0.3}).correct_rate == (0.3,)
    assert parse(**{**FACT, "noise_rate": 0.1 + 0.2, "correct_rate": 0.7}).correct_rate == (0.7,)
    assert parse(**{**FACT, "noise_rate": 0.5, "correct_rate": 0.5}).correct_rate == (0.5,)
    assert parse(**{**COMPAT, "noise_rate": 0.6, "correct_rate": 0.4}).correct_rate == (0.4,)


@pytest.mark.parametrize("ability", [None, "information_integration", "noise_robustness"])
def test_an_explicit_default_gives_the_same_settings(ability: str | None) -> None:
    plain = parse(dataset="rgb:a", ability=ability)
    full = parse(dataset="rgb:a", ability=ability, noise_rate=0.0, correct_rate=0, assembly="balanced")
    assert replace(full, explicit=plain.explicit) == plain
    assert parse(dataset="rgb:a", ability="negative_rejection", correct_rate=0.0).correct_rate == (0.0,)


def test_passages_may_list_retrieved_among_numbers() -> None:
    settings = parse(dataset="rgb:a", passages=[0, "retrieved"], relevance="overlap")
    assert (settings.passages, settings.multiplied) == ((0, "retrieved"), ("passages",))
    assert settings.relevance == "overlap"
    assert parse(dataset="rgb:a", qrels="q.txt").qrels == "q.txt"


def test_negative_rejection_is_all_noise() -> None:
    assert parse(dataset="rgb:a", ability="negative_rejection").noise_rate == (1.0,)
    assert parse(dataset="rgb:a", ability="negative_rejection", noise_rate=[1]).multiplied == ("noise_rate",)
