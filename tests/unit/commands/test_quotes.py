"""Labels as quotes: the quote of a labelled text, and the changed record."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.commands.anchoring.quote_text import quote_of
from pytest_rageval.commands.anchoring.quotes import LabelledCorpus, anchor_record
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.model.case import Gold, Instance, Passage

HOURS = "We are in the old town. The museum opens at 9:00. It closes at 18:00. There is no parking."
ZH = "博物馆位于老城区。每天上午9点开门。周一闭馆。"


@pytest.mark.parametrize(
    ("text", "gold", "quote"),
    [
        (HOURS, (("nine", "9:00"),), "The museum opens at 9:00."),
        (HOURS, (("9:00",), ("18:00",)), "The museum opens at 9:00. It closes at 18:00."),
        (
            HOURS,
            (("9:00",), ("Sunday",)),
            "The museum opens at 9:00.",
        ),  # an answer in another text belongs to another label
        (f"  {HOURS}\n", (("old",),), "We are in the old town."),
        (ZH, (("9点",),), "每天上午9点开门。"),
        (ZH, (("一闭",),), "周一闭馆。"),  # Chinese answers may start within a word
    ],
)
def test_the_quote_is_the_sentences_with_the_answer(text: str, gold: Gold, quote: str) -> None:
    assert quote_of(text, gold, f"# Visit\n\n{text}\n\nTickets cost 12 euros.") == quote


@pytest.mark.parametrize(
    ("gold", "document"),
    [
        ((), HOURS),
        ((("Sunday",),), HOURS),  # no sentence contains it
        ((("at",),), HOURS),  # several sentences contain it
        ((("9:00",), ("at",)), HOURS),
        ((("no",),), HOURS),  # a short verdict may occur in any sentence
        ((("use",),), HOURS),  # part of the word "museum"
        ((("9:00",),), f"{HOURS} The museum  OPENS at 9:00."),  # the document contains the sentence twice
    ],
)
def test_the_quote_is_the_whole_text_if_no_single_sentence_has_the_answer(gold: Gold, document: str) -> None:
    assert quote_of(f"\n{HOURS} ", gold, document) == HOURS


def corpus(**documents: str) -> LabelledCorpus:
    """Return a corpus whose documents are chunked at line breaks."""
    pages = [Passage(name, text) for name, text in documents.items()]
    chunks = [Passage(f"{p.id}#{n}", line) for p in pages for n, line in enumerate(p.text.split("\n"))]
    return LabelledCorpus(chunks, pages)


def evidence(record: JsonObject, instance: Instance, labelled_corpus: LabelledCorpus) -> Any:
    return anchor_record(record, instance, labelled_corpus).record.get("evidence")


def test_two_labels_of_the_same_sentences_are_one_quote_of_the_higher_grade() -> None:
    text = "Come early. Tea costs 3 euros. Pay in cash."
    labelled_corpus = LabelledCorpus(
        [Passage("m#0", "Come early. Tea costs 3 euros."), Passage("m#1", "Tea costs 3 euros. Pay in cash.")],
        [Passage("m", text)],
    )
    instance = Instance("q", "?", (("3 euros",),), qrels={"m#0": 1, "m#1": 3})
    assert evidence({"qrels": {}}, instance, labelled_corpus) == [
        {"page": "m", "quote": "Tea costs 3 euros.", "grade": 3}
    ]


def test_relevant_qrels_come_before_positive_passages() -> None:
    positive = Passage("p", "Cake costs 4 euros.", role="positive")
    labelled_corpus = corpus(menu="Tea costs 3 euros.\nCake costs 4 euros.")
    record: JsonObject = {"qrels": {"menu#0": 1}, "passages": []}
    assert evidence(record, Instance("q", "?", (), (positive,), qrels={"menu#0": 1}), labelled_corpus) == [
        {"page": "menu", "quote": "Tea costs 3 euros."}
    ]
    assert evidence(record, Instance("q", "?", (), (positive,), qrels={"menu#0": 0}), labelled_corpus) == [
        {"page": "menu", "quote": "Cake costs 4 euros."}
    ]


def test_a_positive_passage_belongs_to_the_document_of_its_id_or_to_the_first_match() -> None:
    labelled_corpus = corpus(old="Tea costs 3 euros.", new="Tea costs 3 euros.\nCake costs 4 euros.")
    for name, page in (("new#0", "new"), ("p7", "old"), ("new#1", "new")):
        positive = Passage(name, "tea COSTS 3 euros.", role="positive")
        result = anchor_record({"passages": []}, Instance("q", "?", (), (positive,)), labelled_corpus)
        assert result.record["evidence"] == [{"page": page, "quote": "tea COSTS 3 euros."}]
        assert result.n_ambiguous == 1


@pytest.mark.parametrize(
    ("record", "instance"),
    [
        ({"evidence": [], "qrels": {"menu#0": 1}}, Instance("q", "?", qrels={"menu#0": 1})),
        ({"qrels": {"menu#0": 0}}, Instance("q", "?", qrels={"menu#0": 0})),
        ({"passages": []}, Instance("q", "?", (), (Passage("p", "Tea", role="negative"),))),
        ({"qrels": {"menu#9": 1}}, Instance("q", "?", qrels={"menu#9": 1})),
    ],
)
def test_other_records_are_unchanged(record: JsonObject, instance: Instance) -> None:
    result = anchor_record(record, instance, corpus(menu="Tea costs 3 euros."))
    assert result.record == record
    assert result.quotes == ()
