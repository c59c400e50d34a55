"""``-m "rag(...)"`` with a facet that does not exist or a value that no case has."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, cases

from pytest_rageval.hooks.collect.marker_expressions import terms_of


@pytest.fixture
def topics(project: Project) -> Project:
    rows = cases("say Paris", "say Paris", year=1931)
    project.says([{**row, "topic": topic} for row, topic in zip(rows, ("Funds", "Bonds"), strict=True)])
    return project


@pytest.mark.parametrize("expression", ["rag(topc='Funds')", "not rag(year=1931, topc='Funds') or rag"])
def test_an_unknown_facet_is_refused(topics: Project, expression: str) -> None:
    run = topics.run("-m", expression)
    assert run.status == 4
    term = expression.removeprefix("not ").removesuffix(" or rag")
    assert run.result.stderr.str().strip() == f"ERROR: -m {term}: unknown facet 'topc'; did you mean 'topic'? [RAG102]"


EMPTY = {
    "rag(topic='Fund')": "no case has topic='Fund'; did you mean 'Funds'?",
    "rag(year=1932)": "no case has year=1932; did you mean '1931'?",
    "rag(level='x')": "no case has level='x'; none is known here",
}


@pytest.mark.parametrize("expression", list(EMPTY))
def test_a_value_that_no_case_has_selects_nothing_and_says_why(topics: Project, expression: str) -> None:
    run = topics.run("-m", expression)
    assert run.status == 5
    run.said(f"*-m {expression} selects nothing: {EMPTY[expression]}")
    listing = topics.run("--collect-only", "-q", "-m", expression)
    assert f"-m {expression} selects nothing: {EMPTY[expression]}" in listing.result.stdout.lines


def test_the_empty_part_of_a_selection_is_reported(topics: Project, mode: Mode) -> None:
    run = topics.run(*mode, "-m", "rag(topic='Funds') or rag(topic='Bond')")
    assert run.status == 0
    run.said("*-m rag(topic='Bond') selects nothing: no case has topic='Bond'; did you mean 'Bonds'?")
    assert "rag(topic='Funds') selects nothing" not in run.prose


def test_terms_are_parsed_like_pytest_parses_them() -> None:
    expression = (
        """not rag( topic = "a(b)'c" , round=-3) and rag(x=True) or foo(x="rag(a='b')") or my.rag(a='b') or rag"""
    )
    assert [facets for _, facets in terms_of(expression)] == [{"topic": "a(b)'c", "round": -3}, {"x": True}]
