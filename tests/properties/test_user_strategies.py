"""Hypothesis strategies for users: what they generate and what they shrink to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pytest_rageval import strategies as rag
from pytest_rageval.corpora.document import Document
from pytest_rageval.errors import DataError, SettingError, UnknownNameError
from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.irrelevant_passage import is_irrelevant
from pytest_rageval.generation.relations.relation import Variant
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Instance, Passage

T = TypeVar("T")

MUSEUM = Instance(
    "q1",
    "When does the museum open on weekdays?",
    gold=(("9:00", "9 am"),),
    fake=(("10:00",),),
    passages=(
        Passage("p0", "The museum opens at 9:00 on weekdays.", role="positive"),
        Passage("n0", "The ferry leaves at 8:15. Tickets cost 4 euros.", role="negative"),
        Passage("w0", "The museum opens at 10:00 on weekdays.", role="counterfactual"),
        Passage("n1", "Soup costs 12 euros.", role="negative"),
    ),
    facets={"topic": "Hours"},
)
LIBRARY = Instance(
    "q2", "Where is the library?", gold=(("Oslo",),), passages=(Passage("d", "In Oslo."),), facets={"topic": "Places"}
)
TOWN = [MUSEUM, LIBRARY]


def smallest(strategy: SearchStrategy[T], holds: Callable[[T], bool] = lambda value: True) -> T:
    """Return what a strategy shrinks to."""
    quiet = settings(database=None, deadline=None, max_examples=500, suppress_health_check=list(HealthCheck))
    return find(strategy, holds, settings=quiet)


def test_cases_shrink_to_the_first_one_that_where_selects() -> None:
    assert smallest(rag.cases(TOWN)).id == "q1"
    places = rag.cases(TOWN, where={"topic": "Places"})
    assert smallest(places).id == "q2"
    assert smallest(places).supplied == LIBRARY.passages


def test_contexts_shrink_to_fewer_passages_in_the_order_of_the_record() -> None:
    def ids(context: tuple[Passage, ...]) -> list[str]:
        return [passage.id for passage in context]

    contexts = rag.contexts(MUSEUM)
    assert smallest(contexts) == ()
    assert ids(smallest(rag.contexts(MUSEUM, min_size=2))) == ["p0", "n0"]
    assert ids(smallest(contexts, lambda each: "w0" in ids(each))) == ["w0"]
    assert ids(smallest(contexts, lambda each: {"n1", "p0"} <= set(ids(each)))) == ["p0", "n1"]
    assert ids(smallest(contexts, lambda each: ids(each)[:1] == ["n1"] and len(each) == 4)) == ["n1", "p0", "n0", "w0"]


@given(rag.contexts(MUSEUM, min_size=1))
def test_contexts_are_subsets(context: tuple[Passage, ...]) -> None:
    assert context
    assert len(set(context)) == len(context)
    assert set(context) <= set(MUSEUM.passages or ())


def test_a_case_without_passages_has_one_context() -> None:
    assert smallest(rag.contexts(Instance("q", "Where?"))) == ()
    with pytest.raises(SettingError, match="case 'q' has 0 passages, wanted at least 1"):
        rag.contexts(Instance("q", "Where?"), min_size=1)


def test_variants_shrink_to_the_smallest_change() -> None:
    variants = rag.variants(TOWN, relations=["passage_order", "typo"])
    first = smallest(variants)
    assert (first.relation, first.case.id) == ("passage_order", "q1")
    assert first.original.supplied == MUSEUM.passages
    before, after = list(first.original.supplied or ()), list(first.case.supplied or ())
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 2  # two passages change places
    typo = smallest(variants, lambda each: each.relation == "typo")
    assert typo.original.instance.question == MUSEUM.question != typo.case.instance.question


@given(rag.variants(TOWN))
@settings(max_examples=50, deadline=None)
def test_variants_without_names_must_have_the_same_answer(variant: Variant) -> None:
    assert variant.expected == "same"
    assert variant.relation in BUILTIN
    assert variant.case != variant.original


def test_questions_shrink_to_the_question_and_keep_its_numbers() -> None:
    questions = rag.questions(MUSEUM)
    assert smallest(questions) == MUSEUM.question
    other = smallest(questions, lambda each: each != MUSEUM.question)
    assert other.casefold() == MUSEUM.question.casefold()  # the relation `case` comes first
    assert smallest(rag.questions(MUSEUM, relations=["typo"])) == MUSEUM.question


def test_distractors_are_negative_passages_that_do_not_help() -> None:
    every = rag.distractors([passage for each in TOWN for passage in each.passages or ()])
    assert smallest(every).id == "p0"
    foreign = rag.distractors([Passage("a", "In Oslo."), Passage("b", "Soup costs 12 euros.")], LIBRARY)
    assert smallest(foreign).id == "b"
    assert is_irrelevant(LIBRARY, smallest(foreign))


@given(rag.answers(MUSEUM, right=True), rag.answers(MUSEUM, right=False))
def test_answers_are_right_and_wrong_by_rule(right: Answer, wrong: Answer) -> None:
    assert is_right(MUSEUM, right.text)
    assert not is_right(MUSEUM, wrong.text)


def test_answers_of_both_kinds_shrink_to_the_plain_gold_answer() -> None:
    assert smallest(rag.answers(MUSEUM)).text == "9:00"
    assert smallest(rag.answers(MUSEUM), lambda each: not is_right(MUSEUM, each.text)).text == "I do not know."
    assert smallest(rag.answers(MUSEUM, right=False), lambda each: "10:00" in each.text).text == "10:00"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_documents_shrink_to_one_sentence(language: str) -> None:
    document = smallest(rag.documents(language))
    assert document.id == "d0"
    assert document.text.endswith("." if language == "en" else "。")
    assert len(document.text) < 40


@given(st.sampled_from(["en", "zh"]).flatmap(rag.documents))
def test_documents_have_text(document: Document) -> None:
    assert document.text.strip()


def test_a_dataset_is_found_next_to_the_calling_file(tmp_path: Path) -> None:
    row = {"id": "q9", "question": "Where?", "answers": ["Paris"], "passages": [{"id": "d", "text": "In Paris."}]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    code = "from pytest_rageval import strategies as rag\nstrategy = rag.cases('jsonl:cases.jsonl')"
    scope: dict[str, object] = {"__file__": str(tmp_path / "test_it.py")}
    exec(compile(code, "test_it.py", "exec"), scope)  # noqa: S102 - as pytest runs a test file
    strategy = scope["strategy"]
    assert isinstance(strategy, SearchStrategy)
    assert smallest(strategy).id == "q9"
    corpus = tmp_path / "docs" / "a.md"
    corpus.parent.mkdir()
    corpus.write_text("The ferry leaves at 8:15.", encoding="utf-8")
    assert "ferry" in smallest(rag.distractors(f"{tmp_path}/docs/*.md")).text


@pytest.mark.parametrize(
    ("make", "kind", "sentence"),
    [
        (lambda: rag.cases("cases.jsonl"), SettingError, "rag.cases: dataset 'cases.jsonl' is not format:path"),
        (lambda: rag.cases("jsonl:none.jsonl"), DataError, "rag.cases: dataset 'none.jsonl' is missing: no "),
        (
            lambda: rag.cases("jsnl:a"),
            UnknownNameError,
            "unknown dataset format 'jsnl'; did you mean 'jsonl'",
        ),
        (lambda: rag.cases(["q1"]), SettingError, "rag.cases takes format:path, or a list of Case or Instance"),  # type: ignore[list-item]
        (lambda: rag.cases(3), SettingError, "rag.cases takes format:path, or a list of Case or Instance, found 3"),  # type: ignore[arg-type]
        (
            lambda: rag.cases(TOWN, where="Food"),  # type: ignore[arg-type]
            SettingError,
            "rag.cases: where: found 'Food', wanted a dict of facets",
        ),
        (lambda: rag.contexts("q1"), SettingError, "found 'q1', wanted a Case or an Instance"),  # type: ignore[arg-type]
        (lambda: rag.answers("q1"), SettingError, "found 'q1', wanted a Case or an Instance"),  # type: ignore[arg-type]
        (lambda: rag.cases([]), SettingError, "rag.cases: the dataset has no record"),
        (lambda: rag.cases(TOWN, where={"topic": "Food"}), SettingError, "rag.cases: where matches no case"),
        (
            lambda: rag.cases(TOWN, where={"tpic": "Food"}),
            UnknownNameError,
            "unknown facet 'tpic'; did you mean",
        ),
        (lambda: rag.variants(TOWN, ["tpyo"]), UnknownNameError, "unknown relation 'tpyo'; did you mean 'typo'"),
        (lambda: rag.variants(TOWN, "typo"), SettingError, "rag.variants: relations: found 'typo', wanted a list"),
        (lambda: rag.variants(TOWN, ["width"]), SettingError, "rag.variants: no case can be changed by width"),
        (lambda: rag.questions(MUSEUM, ["passage_order"]), SettingError, "passage_order changes the passages"),
        (lambda: rag.distractors([]), SettingError, "has no passage; name a dataset or a corpus"),
        (lambda: rag.answers(Instance("q", "Where?")), SettingError, "case 'q' has no gold answer"),
        (lambda: rag.documents("fr"), SettingError, "rag.documents: found 'fr', wanted 'en' or 'zh'"),
    ],
)
def test_values_that_cannot_be_generated_are_reported_at_once(
    make: Callable[[], object], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as error:
        make()
    assert sentence in str(error.value)


@pytest.mark.parametrize("variables", [{}, {"CI": "1"}])
def test_the_profile_is_registered_and_not_loaded(variables: dict[str, str]) -> None:
    """Runs in a separate process, because another test may have loaded a profile."""
    code = """
        from hypothesis import settings
        before = settings.default
        import pytest_rageval.strategies
        assert settings.default is before
        profile = settings.get_profile("rag")
        print(profile.max_examples, profile.deadline, profile.derandomize)
    """
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | variables
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=False
    )
    assert (process.stdout, process.stderr) == (f"25 None {bool(variables)}\n", "")
