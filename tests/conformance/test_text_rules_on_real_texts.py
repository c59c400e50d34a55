"""Apply the text rules to real texts: properties that every draft must have."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.chunking import Chunking
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.generator import text_drafts
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.registry import Registry

FILES = {"zh": "lines:crud/documents_part_1_1.txt", "en": "systems/wiki2/pages.jsonl"}
DOCUMENTS = 1500
TASKS = ("extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa", "information_integration")


@pytest.fixture(name="drafts", scope="module", params=sorted(FILES))
def real_drafts(request: pytest.FixtureRequest, rageval_data: Path) -> list[Draft]:
    formats: Registry[Reader] = Registry("corpus format", BUILTIN)
    all_passages = passages(places((FILES[request.param],), rageval_data, formats), formats, Chunking())
    chunks = [(passage, "All") for _, passage in zip(range(DOCUMENTS), all_passages, strict=False)]
    return list(text_drafts(chunks, TASKS))


def test_every_quote_is_in_its_passage_and_holds_the_answer(drafts: list[Draft]) -> None:
    assert len(drafts) > 300
    for draft in drafts:
        texts = [source.text for source in draft.sources]
        assert all(any(quote in text for text in texts) for quote in draft.evidence)
        if draft.task == "extractive_qa":
            assert any(contains(draft.evidence[0], alias) for alias in draft.gold[0]), draft.question


def test_a_blank_filled_with_the_answer_gives_the_sentence(drafts: list[Draft]) -> None:
    quotes = str.maketrans('"“”', "'''")
    blanks = [draft for draft in drafts if draft.origin == "blank" and draft.task == "extractive_qa"]
    assert blanks
    for draft in blanks:
        filled = draft.question.replace("___", draft.gold[0][0], 1)
        sentence = "".join(draft.evidence[0].translate(quotes).split())
        assert sentence in "".join(filled.replace("‘", "'").replace("’", "'").split()) or "’" in draft.evidence[0]


def test_calculations_are_right_and_few_drafts_fail_a_check(drafts: list[Draft]) -> None:
    waiting = [draft for draft in drafts if draft.state == "waiting"]
    failures = [failure for failure in map(first_failure, waiting) if failure is not None]
    reasons = {reason for reason, _ in failures}
    assert not reasons & {"wrong_fields", "evidence_not_verbatim", "yes_no", "language"}
    assert len(failures) < 0.02 * len(waiting), failures[:5]
    sums = [draft for draft in waiting if "calculation" in draft.verdicts]
    assert sums
    assert all((first_failure(draft) or ("", ""))[0] != "answer_unsupported" for draft in sums)


def test_drafts_do_not_depend_on_later_documents(drafts: list[Draft]) -> None:
    chunks = [(draft.sources[0], "All") for draft in drafts if draft.task == "extractive_qa"]
    chunks = list({passage.id: (passage, topic) for passage, topic in chunks}.values())
    half = {draft.id for draft in text_drafts(chunks[: len(chunks) // 2], ("extractive_qa",))}
    whole = {draft.id for draft in text_drafts(chunks, ("extractive_qa",))}
    assert len(half & whole) >= 0.97 * len(half)  # a word that later texts write in lower case is no longer a name
