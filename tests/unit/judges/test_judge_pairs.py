"""Judges of pairs compare two answers, in both orders."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.attack_texts import ATTACKS
from support.samples.judge_samples import reply, sample

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.engine.pair_judging import PairVote, decided_value
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config.judge_panels import panels, panels_by_judge
from pytest_rageval.judges.pairwise import PREFERENCE, BothOrders, in_both_orders
from pytest_rageval.judges.panel import Panel
from pytest_rageval.judges.prompted import PAIR_LABELS, PromptedJudge
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Passage
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM

BETTER = PromptedJudge("better", "Which answer is better?", pair=True)
labels = st.sampled_from(PAIR_LABELS)


def orders(straight: str | None, reverse: str | None) -> BothOrders:
    return BothOrders(
        *(Verdict(problem="parse_error: x") if each is None else Verdict(each) for each in (straight, reverse))
    )


def test_the_judge_is_asked_in_both_orders() -> None:
    model = ScriptedLLM([reply("A"), reply("B")])
    result = asyncio.run(in_both_orders(BETTER, sample("Paris."), sample("Rome."), model))
    assert (result.value, result.agree, result.for_first_shown) == (1.0, True, 0.5)
    first, second = (messages[1]["content"] for messages in (request.messages for request in model.requests))
    assert first == "Question:\n> May I?\n\nAnswer A:\n> Paris.\n\nAnswer B:\n> Rome."
    assert second == "Question:\n> May I?\n\nAnswer A:\n> Rome.\n\nAnswer B:\n> Paris."
    system = model.requests[0].messages[0]["content"]
    assert "You compare the answers" in system
    assert '- "tie": neither answer is better than the other' in system


@pytest.mark.parametrize(
    ("straight", "reverse", "value", "agree", "first"),
    [
        ("A", "B", 1.0, True, 0.5), ("B", "A", 0.0, True, 0.5), ("tie", "tie", 0.5, True, 0.5),
        ("A", "A", 0.5, False, 1.0), ("B", "B", 0.5, False, 0.0), ("A", "tie", 0.5, False, 0.75),
        (None, "A", None, False, None), ("A", None, None, False, None),
    ],
)  # fmt: skip
def test_an_answer_wins_only_if_it_wins_in_both_orders(
    straight: str | None, reverse: str | None, value: float | None, agree: bool, first: float | None
) -> None:
    result = orders(straight, reverse)
    assert (result.value, result.agree, result.for_first_shown) == (value, agree, first)


@given(labels, labels)
def test_exchanging_the_answers_exchanges_the_verdict(straight: str, reverse: str) -> None:
    result, reverse_result = orders(straight, reverse), orders(reverse, straight)
    assert result.value is not None
    assert reverse_result.value == 1 - result.value
    assert (reverse_result.agree, reverse_result.for_first_shown) == (result.agree, result.for_first_shown)


@given(st.text(), st.text())
def test_any_reply_gives_a_verdict_or_a_problem(one: str, other: str) -> None:
    result = asyncio.run(in_both_orders(BETTER, sample(one), sample(other), ScriptedLLM([one, other, other, one])))
    assert (result.value is None) == (result.problem is not None)
    assert result.value in (None, 0.0, 0.5, 1.0)


def test_a_reply_without_a_label_is_requested_once_more() -> None:
    model = ScriptedLLM(["both are fine", reply("tie"), "no", "no idea"])
    result = asyncio.run(in_both_orders(BETTER, sample("Paris."), sample("Rome."), model))
    assert result.straight.label == "tie"
    assert (result.value, result.problem) == (None, "parse_error: the reply holds no JSON object")
    assert len(model.requests) == 4


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ATTACKS)
def test_every_line_of_an_attack_is_quoted(name: str, language: str) -> None:
    one, other = (
        sample(text, question=ATTACKS[name], gold=((ATTACKS[name],),), language=language)
        for text in (ATTACKS[name], f"{ATTACKS[name]}!")
    )
    judge = replace(PREFERENCE, shows=("question", "gold", "answer", "history", "passages"))
    attacked, clean = (
        judge.pair_messages(one, other),
        judge.pair_messages(sample(language=language), sample(language=language)),
    )
    assert attacked[0] == clean[0]
    outside = [line for line in attacked[1]["content"].splitlines() if line and not line.startswith(">")]
    assert {line for line in outside if line not in clean[1]["content"]} <= {"Answer A:"}


def test_passages_are_merged_without_the_name_of_their_system() -> None:
    judge = replace(BETTER, shows=("answer", "passages"))
    one, other = sample("a"), sample("b")
    one = replace(
        one, answer=Answer("a", ranking=Ranking((ScoredPassage("d2", 1.0, "zebra"), ScoredPassage("d1", 0.5, "apple"))))
    )
    other = replace(
        other,
        answer=Answer("b", ranking=Ranking((ScoredPassage("d1", 0.9, "apple"), ScoredPassage("d3", 0.1, "melon")))),
    )
    straight, reverse = (
        judge.pair_messages(*both)[1]["content"].partition("\n\nDocuments")[2] for both in ((one, other), (other, one))
    )
    assert straight == reverse
    assert [line for line in straight.splitlines() if line.strip("> ")][1:] == ["> apple", "> melon", "> zebra"]
    passages = (Passage("p1", "second"), Passage("p2", "first"))
    prompt = judge.pair_messages(sample("a", supplied=passages), sample("b", supplied=passages))[1]["content"]
    assert prompt.index("second") < prompt.index("first")


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ({"labels": {"a": "x", "b": "y"}}, "a judge of pairs says A, B or tie; leave out labels="),
        ({"scale": (0, 2)}, "a judge of pairs says A, B or tie; leave out scale="),
        ({"values": {"a": 1}}, "a judge of pairs says A, B or tie; leave out values="),
        ({"shows": ("question",)}, 'shows: a judge of pairs compares answers; add "answer"'),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(declaration: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match="judge 'better': " + problem.replace("(", r"\(")):
        PromptedJudge("better", "Which?", pair=True, **declaration)


def test_a_judge_of_pairs_is_not_a_metric() -> None:
    catalog = Catalog()
    catalog.judges.register("better", BETTER)
    assert catalog.pair_judges.get("better") is BETTER
    assert catalog.pair_judges.get("preference") is PREFERENCE
    assert "better" not in catalog.metrics
    with pytest.raises(SettingError, match=r"the judge 'better' compares two answers and is no metric of one; ask it"):
        catalog.metrics.get("better", "test_x")
    with pytest.raises(SettingError, match="compares two answers; it cannot judge one"):
        asyncio.run(BETTER.ask(sample(), ScriptedLLM([])))
    of_metrics = panels_by_judge(
        panels(["better: m1, m2", "accuracy_judged: m1"]), catalog.metrics, catalog.pair_judges
    )
    assert list(of_metrics) == ["accuracy_judged"]


def votes(*pairs: tuple[str | None, str | None]) -> list[PairVote]:
    return [PairVote("m", at, orders(*pair)) for at, pair in enumerate(pairs, 1)]


def test_a_panel_decides_by_majority_or_by_mean() -> None:
    won, lost, unread = ("A", "B"), ("B", "A"), (None, "A")
    majority, mean = Panel(("m",), "majority"), Panel(("m",), "mean")
    assert decided_value(votes(won, won, lost), majority) == 1.0
    assert decided_value(votes(won, lost), majority) == 0.5
    assert decided_value(votes(won, won, lost), mean) == pytest.approx(2 / 3)
    assert decided_value(votes(won, unread), mean) is None
    assert decided_value(votes(lost, lost, unread), majority) == 0.0
