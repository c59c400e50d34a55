"""Settings expand the instances of a dataset into cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets import jsonl, rgb
from pytest_rageval.errors import DataError, UnknownNameError
from pytest_rageval.model.case import Case, Instance, Passage, Role
from pytest_rageval.model.facets import ABILITIES
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.testbeds import BUILTIN
from pytest_rageval.testbeds.ability import ability_named
from pytest_rageval.testbeds.expand import Shortfalls, expand, shortfalls
from pytest_rageval.testbeds.settings import parse_settings


@pytest.fixture
def folder(fixtures_dir: Path) -> Path:
    return fixtures_dir / "datasets"


def cases_of(instances: tuple[Instance, ...], **raw: Any) -> dict[str, Case]:
    pairs = expand(parse_settings({"dataset": "x:y", **raw}, "here"), instances, 0)
    cases = dict(pairs)
    assert len(cases) == len(pairs)
    return cases


def supplied(case: Case) -> list[str]:
    assert case.supplied is not None
    return [p.id for p in case.supplied]


def test_no_passages_are_supplied_if_the_system_retrieves(folder: Path) -> None:
    instances = rgb.load(folder / "rgb" / "en.json")[:1]
    cases = cases_of(instances, passages=["retrieved", 2], relevance="overlap")
    retrieves, reads = cases.values()
    assert list(cases) == [f"{instances[0].id}-passages=retrieved", f"{instances[0].id}-passages=2"]
    assert (retrieves.supplied, retrieves.facets["passages"], retrieves.relevance) == (None, "retrieved", "overlap")
    assert retrieves.query.passages is None
    positives = [p for p in instances[0].passages or () if p.role == "positive"]
    assert retrieves.qrels == {rgb.content_id(p.text): 1 for p in positives}
    assert (supplied(reads), reads.qrels) == (["p0", "p1"], {})
    assert shortfalls([retrieves]) == Shortfalls(0, 1, ())


def test_every_ability_has_its_primary_metric() -> None:
    primary = {name: ability_named(name).metrics[0] for name in BUILTIN}
    assert primary == {
        "noise_robustness": "accuracy",
        "negative_rejection": "rejection_rate",
        "information_integration": "accuracy",
        "counterfactual_robustness": "error_detection_rate",
        "plain": "token_f1",
    }
    assert set(BUILTIN) == {*ABILITIES, "plain"}
    assert ability_named(None).name == "plain"
    with pytest.raises(UnknownNameError, match=r"unknown ability 'x'"):
        ability_named("x")


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_instructions_hold_the_sentences_of_the_protocol_in_their_language(name: str) -> None:
    ability = ability_named(name)
    assert ability.name == name
    for language, other in (("en", "zh"), ("zh", "en")):
        words = ability.instructions(language)
        assert REJECTION_SENTENCE[language] in words
        assert REJECTION_SENTENCE[other] not in words
        assert (ERROR_SENTENCE[language] in words) == (name == "counterfactual_robustness")
    assert ability.instructions("fr") == ability.instructions("en")


def test_lists_of_settings_multiply_the_cases_of_each_instance(folder: Path) -> None:
    cases = cases_of(
        rgb.load(folder / "rgb" / "en_fact.json"), ability="counterfactual_robustness",
        passages=[2, 3], noise_rate=[0, 0.4], correct_rate=[0.25], team="a",
    )  # fmt: skip
    assert list(cases) == [
        f"en_fact-{i}-passages={k}-noise_rate={n}-correct_rate=0.25"
        for i in (0, 1)
        for k in (2, 3)
        for n in ("0", "0.4")
    ]
    case = cases["en_fact-0-passages=3-noise_rate=0.4-correct_rate=0.25"]
    assert case.id == case.instance.id == "en_fact-0"
    assert case.facets == {
        "dataset": "en_fact", "language": "en", "team": "a", "ability": "counterfactual_robustness",
        "passages": "3", "noise_rate": "0.4", "noise_realised": "0.6667", "correct_rate": "0.25",
        "correct_realised": "0",
    }  # fmt: skip
    assert sorted(supplied(case)) == ["n0", "n1", "w0"]
    assert case.instructions == ability_named("counterfactual_robustness").instructions("en")


def test_a_single_value_is_in_the_facets_but_not_in_the_id(folder: Path) -> None:
    cases = cases_of(rgb.load(folder / "rgb" / "en.json"), ability="noise_robustness", noise_rate=0.40)
    assert list(cases) == ["en-0", "en-1", "en-2", "en-3b", "en-4"]
    assert cases["en-0"].facets["noise_rate"] == "0.4"
    assert "correct_rate" not in cases["en-0"].facets
    assert cases["en-2"].facets["topic"] == "Fairs"


def test_negative_rejection_supplies_noise_only(folder: Path) -> None:
    for name in ("en", "en_int", "en_fact"):
        for case in cases_of(rgb.load(folder / "rgb" / f"{name}.json"), ability="negative_rejection").values():
            assert {p.role for p in case.supplied or ()} <= {"negative"}
            assert case.evidence is False
            assert case.facets["noise_realised"] == ("1" if case.supplied else "0")


def test_the_assemblies_supply_different_passages(folder: Path) -> None:
    instances = rgb.load(folder / "rgb" / "en_fact.json")
    supplied_ids = [
        supplied(cases_of(instances, ability="noise_robustness", assembly=assembly)["en_fact-0"])
        for assembly in ("balanced", "rgb-compat")
    ]
    assert [{name[0] for name in names} for names in supplied_ids] == [{"p"}, {"w"}]


def test_plain_records_keep_their_own_passages(folder: Path) -> None:
    cases = cases_of(jsonl.load(folder / "cases.jsonl"))
    assert cases["aliases"].supplied is None
    assert cases["unanswerable"].supplied == ()
    assert supplied(cases["slots"]) == ["d1", "d2", "d3"]
    assert "passages" not in cases["slots"].facets
    assert "ability" not in cases["slots"].facets
    assert "noise_realised" not in cases["slots"].facets


def test_a_number_of_passages_takes_the_first_ones_of_a_plain_record(folder: Path) -> None:
    cases = cases_of(jsonl.load(folder / "cases.jsonl"), passages=[0, 2])
    assert supplied(cases["slots-passages=2"]) == ["d1", "d2"]
    assert cases["slots-passages=0"].supplied == cases["aliases-passages=0"].supplied == ()
    assert cases["aliases-passages=2"].supplied is None
    assert cases["slots-passages=2"].facets["passages"] == "2"


def test_facets_of_the_testbed_override_those_of_the_record(folder: Path) -> None:
    assert cases_of(jsonl.load(folder / "cases.jsonl"), topic="All")["aliases"].facets["topic"] == "All"


@pytest.mark.parametrize("ability", ["noise_robustness", "information_integration", "negative_rejection"])
def test_an_ability_needs_passages_with_roles(folder: Path, ability: str) -> None:
    message = rf"cases\.jsonl:1: passages: found none with a role, which {ability} needs$"
    with pytest.raises(DataError, match=message):
        cases_of(jsonl.load(folder / "cases.jsonl"), ability=ability)
    unmarked = Instance("x", "Q?", passages=(Passage("d", "t"),), origin="a.jsonl:9")
    with pytest.raises(DataError, match=r"^a\.jsonl:9: passages: found none with a role"):
        cases_of((unmarked,), ability=ability)


def test_counterfactual_robustness_needs_counterfactual_passages(folder: Path) -> None:
    message = r"en\.json:1: passages: found none with the role counterfactual, which counterfactual_robustness needs$"
    with pytest.raises(DataError, match=message):
        cases_of(rgb.load(folder / "rgb" / "en.json"), ability="counterfactual_robustness")


def test_duplicate_ids_of_instances_are_refused() -> None:
    one = Instance("x", "Q?", origin="a.jsonl:1")
    with pytest.raises(DataError, match=r"^a\.jsonl:2: the id 'x' is already used at a\.jsonl:1, wanted each once$"):
        cases_of((one, replace(one, origin="a.jsonl:2")))


def test_shortfalls_count_cases_that_differ_from_the_settings(folder: Path) -> None:
    instances = rgb.load(folder / "rgb" / "en.json")
    cases = list(cases_of(instances, ability="noise_robustness", passages=4, noise_rate=[0, 0.5]).values())
    assert shortfalls(cases) == Shortfalls(6, 10, ("en-1", "en-2", "en-3b"))
    assert shortfalls(cases, first=1).ids == ("en-1",)
    assert shortfalls([]) == Shortfalls(0, 0, ())


@pytest.mark.parametrize("rate", [1 / 3, 2 / 3, 0.28, 0.3, 0.123456789])
def test_a_rate_of_many_digits_is_not_a_shortfall(rate: float) -> None:
    passages = tuple(Passage(f"{role}{i}", "t", role=role) for role in ("positive", "negative") for i in range(25))
    instance = Instance("x", "Q?", passages=passages)
    for size in (3, 25):
        cases = cases_of((instance,), ability="noise_robustness", passages=size, noise_rate=rate)
        assert shortfalls(list(cases.values())).count == 0


def test_the_float_rounding_of_rgb_compat_is_a_shortfall() -> None:
    passages = tuple(Passage(f"{r}{i}", "t", role=r) for r in ("positive", "negative") for i in range(25))
    settings = {"ability": "noise_robustness", "passages": 25, "noise_rate": 0.28, "assembly": "rgb-compat"}
    cases = cases_of((Instance("x", "Q?", passages=passages),), **settings)
    assert cases["x"].facets["noise_realised"] == "0.32"
    assert shortfalls(list(cases.values())).count == 1


@pytest.mark.parametrize(
    ("pairs", "noise", "correct", "realised", "short"),
    [(6, 0.4, 0.4, "0.4", 0), (6, 0.5, 0.5, "0.2", 1), (2, 0.0, 0.4, "0.5", 1), (5, 0.0, 1.0, "1", 0)],
)
def test_missing_correct_passages_are_a_shortfall(
    pairs: int, noise: float, correct: float, realised: str, short: int
) -> None:
    pools: dict[Role, int] = {"positive": pairs, "counterfactual": pairs, "negative": 5}
    passages = tuple(Passage(f"{role}{i}", "t", role=role) for role, size in pools.items() for i in range(size))
    settings = {"ability": "counterfactual_robustness", "noise_rate": noise, "correct_rate": correct}
    cases = cases_of((Instance("x", "Q?", passages=passages),), **settings)
    assert cases["x"].facets["correct_realised"] == realised
    assert shortfalls(list(cases.values())).count == short


def test_only_counterfactual_robustness_has_correct_passages(folder: Path) -> None:
    for case in cases_of(rgb.load(folder / "rgb" / "en_fact.json"), ability="noise_robustness").values():
        assert "correct_realised" not in case.facets


def test_plain_records_with_too_few_passages_are_a_shortfall(folder: Path) -> None:
    cases = cases_of(jsonl.load(folder / "cases.jsonl"), passages=3)
    assert shortfalls(list(cases.values())) == Shortfalls(2, 6, ("5", "unanswerable"))


def test_a_rate_in_a_record_is_a_facet_that_an_ability_replaces() -> None:
    passages = (Passage("p0", "a", role="positive"), Passage("n0", "b", role="negative"))
    instance = Instance("q1", "Q?", (("a",),), passages, facets={"noise_rate": "0.9", "correct_rate": "0.5"})
    (plain,) = cases_of((instance,), passages=2).values()
    assert (plain.facets["noise_rate"], plain.facets["correct_rate"]) == ("0.9", "0.5")
    assert shortfalls([plain]).count == 0
    (with_ability,) = cases_of((instance,), ability="noise_robustness", noise_rate=0.5, passages=2).values()
    assert with_ability.facets["noise_rate"] == "0.5"
