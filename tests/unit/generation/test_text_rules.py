"""Rules over texts: questions, blanks, calculations, contrasts, sections, two parts. All texts are invented."""

from __future__ import annotations

import re

import pytest

from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.generator import text_drafts
from pytest_rageval.model.case import Passage

TASKS = ("extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa", "information_integration")


def page(name: str, text: str, title: str = "") -> tuple[Passage, str]:
    return Passage(name, text, title, page=name), "Town"


def drafts(*texts: str, tasks: tuple[str, ...] = TASKS, names: tuple[str, ...] = ()) -> list[Draft]:
    return list(text_drafts([page(f"p{at}", text) for at, text in enumerate(texts)], tasks, names=names))


def questions_and_answers(
    *texts: str, task: str = "extractive_qa", names: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    return [(each.question, each.gold[0][0]) for each in drafts(*texts, tasks=(task,), names=names)]


FIXED_PATTERNS = [
    ("The Town Museum opens at 9:30 on weekdays.", "When does the Town Museum open on weekdays?", "9:30"),
    ("The Town Museum closes at 18:00.", "When does the Town Museum close?", "18:00"),
    ("A day pass costs 9 crowns.", "How much does a day pass cost?", "9 crowns"),
    ("Collecting a bicycle from the North Depot costs 12 crowns.",
     "How much does collecting a bicycle from the North Depot cost?", "12 crowns"),
    ("Heron House is in Bergen.", "Where is Heron House?", "Bergen"),
    ("The Mill Works was founded in 1890.", "When was the Mill Works founded?", "1890"),
    ("The Mill Works was founded by Ann Lee in Oslo.", "Who founded the Mill Works in Oslo?", "Ann Lee"),
    ("Salt Pier was built in 1702.", "When was Salt Pier built?", "1702"),
    ("Salt Pier was built by Ann Lee.", "Who built Salt Pier?", "Ann Lee"),
    ("The Town Library was established in 1931, after the fire.", "When was the Town Library established?", "1931"),
    ("The Orchard Tram was opened in 1931 and climbs to Pear Hill.", "When was the Orchard Tram opened?", "1931"),
    ("Bo Ek was born on 5 March 1921.", "When was Bo Ek born?", "5 March 1921"),
    ("The Town Theatre has 240 seats.", "How many seats does the Town Theatre have?", "240 seats"),
    ("果园线1931年通车，一直开到梨山。", "果园线是什么时候通车的？", "1931"),
    ("海港大桥建成于2001年10月。", "海港大桥是什么时候建成的？", "2001年10月"),
    ("北京海港卡的押金是5克朗，退卡时退还。", "北京海港卡的押金是多少？", "5克朗"),
    ("北京市图书馆周一至周五9:00开门。", "北京市图书馆周一至周五几点开门？", "9:00"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "question", "answer"), FIXED_PATTERNS)
def test_a_sentence_of_a_fixed_pattern_becomes_a_question(text: str, question: str, answer: str) -> None:
    assert questions_and_answers(text, names=("Bergen", "Ann Lee")) == [(question, answer)]


BLANKS = [
    ("A Heron Line ferry may carry 180 passengers.",
     'Fill in the blank: "A Heron Line ferry may carry ___ passengers."', "180"),
    ('The sign of the "Old Pier" has stood there since 1702.',
     "Fill in the blank: \"The sign of the 'Old Pier' has stood there since ___.\"", "1702"),
    ("- A line of a list: the Heron Line\n  runs every 9 minutes\n  on weekdays.", "", ""),
    ("The Quay Office of the harbour keeps a lost\numbrella for 45 days.",
     'Fill in the blank: "The Quay Office of the harbour keeps a lost umbrella for ___ days."', "45"),
    ("中国苍鹭线一艘船最多载180人。", "请补全：“中国苍鹭线一艘船最多载___人。”", "180"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "question", "answer"), BLANKS)
def test_other_sentences_get_a_blank(text: str, question: str, answer: str) -> None:
    assert questions_and_answers(text) == ([(question, answer)] if question else [])


DEPENDENT_SENTENCES = [
    "It opens at 9:30 on weekdays.",
    "The ferry leaves at 9:30 on weekdays.",  # which ferry?
    "This year the Heron Line carried 180 passengers.",
    "The Heron Line carried 180 passengers last week.",
    "However, the Heron Line carries 180 passengers.",
    "See [the table](x.md): the Heron Line carries 180 passengers.",
    "Does the Heron Line carry 180 passengers?",
    "# The Heron Line carries 180 passengers",
    "```\nThe Heron Line carries 180 passengers.\n```",
    "| The Heron Line | carries 180 passengers. |",
    "Revenue rose by 12% in the quarter; later revenue fell.",  # whose?
    "Vanessa Hill of the Heron Club was 0:16 behind.",  # a distance in a race, not a time of day
    "Copyright 2023 The Heron Line Press and its writers.",
    "The Heron is a network © 2023 Heron Media.",
    "The first came in 1999 in Oslo, when Ann Lee was a teen.",
    "A first ferry was built in 1921.",
    "Feb, 2023 We have added Oslo to the Heron Line timetable.",
    "Update October 20th, 5:58PM ET: Added comment from the Heron Line.",
    "By Ann Lee, reporter, the Heron Line carried 180 passengers in 2022.",
    "At 3:53 p.m. (10:53 a.m. Eastern): The Heron procession reaches Salt Pier.",
    "The Heron Ryzen 7000 processors have arrived.",  # a model number
    "该公司去年运送乘客180万人。",
    "今年苍鹭线运送乘客180万人。",
    "他于1931年出生。",
    "年2月12日，2022年北京苍鹭线运送乘客180人。",
    "5年后，北京苍鹭线有船180艘。",
    "对苍鹭线，北京投入船180艘。",
    "北京苍鹭线第四季净亏损20亿元。",
    "主办方在北京为苍鹭线捐赠船50艘。",
    "考虑到北京苍鹭线的需求，2022年区交通委已建成桥4座。",
    "北京苍鹭线（据李明等，2019）  最后运送乘客180人。",
    "2023-07-28 16:40，北京苍鹭线运送乘客180人。",
    "2016年8月2日，在上海证券交易所主板上市。",  # what was listed?
]


@pytest.mark.parametrize("text", DEPENDENT_SENTENCES)
def test_a_sentence_that_depends_on_its_context_gives_no_question(text: str) -> None:
    assert drafts(text) == []


def test_two_answers_to_one_question_are_ambiguous() -> None:
    results = drafts("A day pass costs 9 crowns.", "A day pass costs 8 crowns.", tasks=("extractive_qa",))
    assert [(each.state, each.reason) for each in results] == [("dropped", "ambiguous")] * 2
    assert results[0].verdicts == {"ambiguous": "8 or 9"}


def test_a_draft_names_its_passage_sentence_and_rule() -> None:
    (draft,) = drafts("Prams go aft.\nThe Heron Line\ncarries 180 passengers.", tasks=("extractive_qa",))
    assert (draft.generator, draft.origin, draft.topic) == ("text-rule", "blank", "Town")
    assert draft.sources[0].id == "p0"
    assert draft.evidence == ("The Heron Line\ncarries 180 passengers.",)
    assert draft.passages is not None
    assert draft.passages[0].role == "positive"


def test_two_values_of_one_passage_are_calculated_exactly() -> None:
    (draft,) = drafts(
        "On weekdays the Castle Tram runs every 9.1 minutes. On Sundays the Castle Tram runs every 18.3 minutes.",
        tasks=("multi_hop_qa",),
    )
    assert draft.question == (
        'Two numbers are missing in "On weekdays the Castle Tram runs every ___ minutes." and in '
        '"On Sundays the Castle Tram runs every ___ minutes." What is the difference between them, in minutes?'
    )
    assert draft.gold == (("9.2 minutes", "9.2"),)
    assert draft.verdicts == {"calculation": "18.3 - 9.1"}


CALCULATIONS = [
    ("中国城堡线工作日每9分钟一班，周日每18分钟一班。", "9分钟"),
    ("The Town Museum opened in 1890 and again in 1931.", "41 years"),
    ("上海长江大桥由2009年通车，2019年扩建。", "10年"),
    ("Turnout in Oslo rose from 61.5% to 70%.", "8.5 percentage points"),
]


@pytest.mark.parametrize(("text", "answer"), CALCULATIONS)
def test_two_values_of_one_sentence_are_calculated(text: str, answer: str) -> None:
    assert [gold for _, gold in questions_and_answers(text, task="multi_hop_qa")] == [answer]


def test_values_of_things_in_one_list_give_sums_and_ratios() -> None:
    text = "The Salt Pier Office keeps 1,200 umbrellas and 400 umbrellas of children."
    gold_by_rule = {
        draft.origin: draft.gold[0]
        for seed in range(9)
        for draft in text_drafts([page("p", text)], ("multi_hop_qa",), seed=seed)
    }
    assert gold_by_rule == {
        "difference": ("800 umbrellas", "800"),
        "sum": ("1,600 umbrellas", "1600 umbrellas", "1,600", "1600"),
        "ratio": ("3", "3 times"),
    }


def test_values_of_different_things_are_not_calculated() -> None:
    texts = "The Heron Line carries 180 passengers. Salt Pier has 12 lamps. Oslo House was let for 30 days."
    assert drafts(texts, tasks=("multi_hop_qa",)) == []


def test_similar_sentences_of_two_documents_are_compared() -> None:
    (draft,) = drafts(
        "A Heron Line ferry may carry 180 passengers on deck.",
        "A Gull Line ferry may carry 40 passengers on deck.",
        tasks=("contrast_qa",),
    )
    assert draft.question == (
        'Compare "A Heron Line ferry may carry ___ passengers on deck." with '
        '"A Gull Line ferry may carry ___ passengers on deck." '
        "By the missing values, which has the larger number, and what are both values?"
    )
    assert draft.gold == (("A Heron Line ferry",), ("180",), ("40",))
    assert [source.id for source in draft.sources] == ["p0", "p1"]


def test_sentences_of_one_document_or_with_different_words_are_not_compared() -> None:
    texts = ("A Heron Line ferry may carry 180 passengers. A Gull Line ferry may carry 40 passengers.",)
    others = ("A Heron Line ferry may carry 180 passengers.", "A Gull Line ferry has seats for 40 passengers.")
    assert drafts(*texts, tasks=("contrast_qa",)) == []
    assert drafts(*others, tasks=("contrast_qa",)) == []


SECTIONS = "# Ferries\n\n## {heading}\n\nThe Heron Line starts at Salt Pier. It calls at Reed Pier and ends there.\n"


@pytest.mark.parametrize(
    ("heading", "has_question"),
    [
        ("Heron Line", True),
        ("Fog and storm", True),
        ("How to pay", False),
        ("Run the ferry", False),
        ("Introduction", False),
        ("Is it open?", False),
        ("heron line", False),
    ],
)
def test_a_section_whose_heading_is_a_name_gives_a_question(heading: str, has_question: bool) -> None:
    chunks = [page("p", SECTIONS.format(heading=heading), "Ferries")]
    results = list(text_drafts(chunks, ("long_form_qa",)))
    assert [draft.question for draft in results] == (
        [f'What is said about "{heading}" in "Ferries"?'] if has_question else []
    )
    for draft in results:
        assert draft.gold == (("The Heron Line starts at Salt Pier. It calls at Reed Pier and ends there.",),)


def test_questions_of_two_documents_are_joined_into_one() -> None:
    (draft,) = drafts(
        "A day pass costs 9 crowns.",
        "The Orchard Tram was opened in 1931.",
        tasks=("information_integration",),
    )
    first, second = draft.sources
    assert {first.id, second.id} == {"p0", "p1"}
    assert (first.group, second.group) == (0, 1)
    assert {slot[0] for slot in draft.gold} == {"9 crowns", "1931"}
    assert "How much does a day pass cost?" in draft.question
    assert "When was the Orchard Tram opened?" in draft.question


def test_a_new_document_changes_no_other_extractive_draft() -> None:
    texts = ["A day pass costs 9 crowns.", "The Orchard Tram was opened in 1931.", "Salt Pier was built in 1702."]
    before = {draft.id for draft in drafts(*texts[:2], tasks=("extractive_qa",))}
    after = {draft.id for draft in drafts(*texts, tasks=("extractive_qa",))}
    assert before < after


def test_joining_two_questions_adds_no_digit() -> None:
    texts = "The Heron Line has 2 ferries.", "The Orchard Tram has 9 stops.", "苍鹭线有船2艘。", "梨山线有车站9个。"
    results = drafts(*texts, tasks=("information_integration",))
    assert results
    for draft in results:
        assert not re.search(r"\d", draft.question), draft.question
        assert first_failure(draft) is None
