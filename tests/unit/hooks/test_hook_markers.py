"""Markers of a case: ability, level and task by name, all facets as arguments of ``rag``."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.collect.markers import marks_of
from pytest_rageval.model.facets import ABILITIES, LEVELS, TASKS


def names(config: pytest.Config, **facets: str) -> list[str]:
    return [mark.name for mark in marks_of(facets, config)]


@pytest.fixture
def config(pytester: pytest.Pytester) -> pytest.Config:
    return pytester.parseconfigure("--strict-markers")


@pytest.mark.parametrize(("facet", "values"), [("ability", ABILITIES), ("level", LEVELS), ("task", TASKS)])
def test_known_names_are_registered_markers(config: pytest.Config, facet: str, values: tuple[str, ...]) -> None:
    lines = {line.partition(":")[0] for line in config.getini("markers")}
    for name in values:
        assert names(config, **{facet: name}) == ["rag", name]
        assert name in lines


def test_the_facets_are_the_arguments_of_rag(config: pytest.Config) -> None:
    facets = {"topic": "Funds", "a b": "c", "self": "x", "基金": "y"}
    (mark,) = marks_of(facets, config)
    assert mark.args == ()
    assert mark.kwargs == {"topic": "Funds", "a b": "c", "基金": "y"}
    assert facets["self"] == "x"


def test_whole_numbers_have_a_second_mark_with_numbers(config: pytest.Config) -> None:
    facets = {"round": "3", "year": "-5", "rate": "0.4", "code": "007", "long": "9" * 5000, "topic": "A"}
    first, second = marks_of(facets, config)
    assert first.kwargs == facets
    assert second.kwargs == {**facets, "round": 3, "year": -5}


def test_a_new_task_is_registered_once(config: pytest.Config) -> None:
    assert names(config, task="own_task") == names(config, task="own_task") == ["rag", "own_task"]
    assert sum(line.startswith("own_task:") for line in config.getini("markers")) == 1


@pytest.mark.parametrize(
    "task", ["skip", "xfail", "parametrize", "skipif", "usefixtures", "filterwarnings", "rag", "rag_case",
             "_own", "no identifier", "", "1st", "a-b"],
)  # fmt: skip
def test_a_reserved_or_invalid_task_name_gets_no_marker(config: pytest.Config, task: str) -> None:
    assert names(config, task=task) == ["rag"]


def test_a_topic_gets_no_marker(config: pytest.Config) -> None:
    assert names(config, topic="funds", domain="finance", ability="noise_robustness") == ["rag", "noise_robustness"]
