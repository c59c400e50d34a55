"""What may be asked of every retriever."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.retrieval.checks import checked


def test_a_question_may_be_asked() -> None:
    checked("?", 1)


@pytest.mark.parametrize("k", [0, -3])
def test_at_least_one_passage_is_asked_for(k: int) -> None:
    with pytest.raises(SettingError, match=rf"at least 1 passage, not {k}; set rag_top_k to 1 or more"):
        checked("Paris", k)


@pytest.mark.parametrize("query", ["", " \n\t", "　"])
def test_a_blank_query_is_an_error_of_its_case(query: str) -> None:
    with pytest.raises(CaseError, match="an empty query cannot be searched for; give the case a question") as error:
        checked(query, 5)
    assert error.value.kind == "empty_query"
