"""Checks of the query, shared by all retrievers."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.retrieval.checks import check_query


def test_a_query_may_have_no_word() -> None:
    check_query("?", 1)


@pytest.mark.parametrize("k", [0, -3])
def test_k_is_at_least_one(k: int) -> None:
    with pytest.raises(SettingError, match=rf"at least 1 passage, not {k}; set rag_top_k to 1 or more"):
        check_query("Paris", k)


@pytest.mark.parametrize("query", ["", " \n\t", "　"])
def test_a_blank_query_is_an_error_of_its_case(query: str) -> None:
    with pytest.raises(CaseError, match="an empty query cannot be searched for; give the case a question") as error:
        check_query(query, 5)
    assert error.value.kind == "empty_query"
