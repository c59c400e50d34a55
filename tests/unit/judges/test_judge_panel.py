"""Panels of judges: majority, mean, and how a panel fits its metric."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.judge_samples import POLITE, STARS, sample

from pytest_rageval.errors import SettingError
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.panel import Panel, Rule, combine_votes, panel_of_metric
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_metric, judged_score
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict, Vote

EMPTY_REPLY = "parse_error: the reply is empty"
LABEL_VALUES: dict[str, float | None] = {"full": 1, "half": 0.5, "none": 0, "aside": None}
COMPLETE = PromptedJudge("complete", "Is it all there?", labels=dict.fromkeys(LABEL_VALUES, "so"), values=LABEL_VALUES)


def votes(*labels: str | float | None, problem: str = EMPTY_REPLY) -> list[Vote]:
    """Return one vote for each label; None gives a vote that could not be read."""
    return [
        Vote(f"m{number}", Verdict(problem=problem) if label is None else Verdict(label))
        for number, label in enumerate(labels)
    ]


def combine(rule: Rule, *labels: str | float | None) -> Any:
    """Return the combined label of the votes, or the problem if there is none."""
    verdict = combine_votes(votes(*labels), rule, LABEL_VALUES)
    return verdict.problem if verdict.label is None else verdict.label


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("full", "full", "none"), "full"),
        (("full", "none"), "judges_disagree: full x 1, none x 1"),
        (("half", "full", "none"), "judges_disagree: full x 1, half x 1, none x 1"),
        (
            ("full", "full", "half", "none"),
            "judges_disagree: full x 2, half x 1, none x 1",
        ),  # two of four are not more than half
        (("aside", "aside", "full"), "aside"),
        (("full", "full", None), "full"),
        (("full", "none", None), "judges_disagree: full x 1, none x 1"),
        (("full", None), "parse_error: 1 of 2 votes gave no label"),
        ((None, None, "full"), "parse_error: 2 of 3 votes gave no label"),
        ((None, None), EMPTY_REPLY),
        ((3, 3, 5), 3),
    ],
)
def test_the_majority_is_more_than_half_of_the_labels(labels: Any, expected: object) -> None:
    assert combine("majority", *labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((1, 2, 4), 7 / 3),
        ((5, 5), 5),
        ((0.1, 0.1, 0.1), 0.1),
        ((2, 4, None), 3),
        ((2, None, None), "parse_error: 2 of 3 votes gave no label"),
        (("full", "half"), 0.75),
        (("full", "half", "aside"), 0.75),
        (("aside", "aside", "full"), "not_applicable: 2 of 3 votes gave no label"),
        (("aside", "aside"), "not_applicable: aside"),
        (("aside", None, "full"), "not_applicable: 2 of 3 votes gave no label"),
    ],
)
def test_the_mean_uses_numbers_or_the_values_of_labels(labels: Any, expected: object) -> None:
    assert combine("mean", *labels) == expected


def test_a_combined_verdict_keeps_its_votes_and_a_single_vote_is_the_verdict() -> None:
    assert combine_votes(votes("full", "none"), "majority", {}).votes == tuple(votes("full", "none"))
    single_vote = Vote("m", Verdict("full", "why", ("reply",)))
    assert combine_votes([single_vote], "majority", {}) is single_vote.verdict


LABELS = st.none() | st.sampled_from([*LABEL_VALUES])
NUMBERS = st.none() | st.integers(1, 5)


@given(st.lists(LABELS, min_size=2, max_size=7) | st.lists(NUMBERS, min_size=2, max_size=7), st.randoms(), st.data())
def test_the_order_of_votes_does_not_matter(labels: list[Any], random: Any, data: st.DataObject) -> None:
    rule: Rule = data.draw(st.sampled_from(["majority", "mean"]))
    all_votes = votes(*labels)
    shuffled_votes = random.sample(all_votes, len(all_votes))
    one, other = combine_votes(all_votes, rule, LABEL_VALUES), combine_votes(shuffled_votes, rule, LABEL_VALUES)
    assert (one.label, one.problem) == (other.label, other.problem)


@given(st.sampled_from([1, 0.1, 1 / 3, "full", "none"]), st.integers(1, 9), st.integers(0, 8))
def test_unanimous_votes_win_under_either_rule(label: Any, times: int, n_unread: int) -> None:
    all_votes = votes(*[label] * times, *[None] * min(n_unread, times - 1))
    assert combine_votes(all_votes, "majority", LABEL_VALUES).label == label
    worth = LABEL_VALUES[label] if isinstance(label, str) else label
    mean = combine_votes(all_votes, "mean", LABEL_VALUES).label
    assert mean == (label if len(all_votes) == 1 else worth)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=7))
def test_a_mean_of_numbers_is_between_them(numbers: list[int]) -> None:
    label = combine_votes(votes(*numbers), "mean", {}).label
    assert isinstance(label, (int, float))
    assert min(numbers) <= label <= max(numbers)


def score_of(judge: Judge, rule: Rule, *labels: str | float | None) -> Any:
    base = sample()
    verdict = combine_votes(votes(*labels), rule, getattr(judge, "values", None) or {})
    score = judged_score(Sample(base.case, base.answer, verdicts={judge.name: verdict}), judge)
    return score.reason if score.value is None else score.value


def test_the_verdict_of_a_panel_is_scored_like_a_vote() -> None:
    assert score_of(STARS, "mean", 2, 3) == 0.375
    assert score_of(STARS, "majority", 2, 3, 3) == 0.5
    assert score_of(COMPLETE, "mean", "full", "half") == 0.75
    assert score_of(COMPLETE, "majority", "half", "half", "none") == 0.5
    assert score_of(COMPLETE, "majority", "aside", "aside", "none") == "not_applicable: aside"
    assert score_of(POLITE, "majority", "rude", "polite") == "judges_disagree: polite x 1, rude x 1"


def test_a_panel_gets_the_rule_that_fits_its_metric() -> None:
    panel = Panel(("a", "b"))
    wise = FunctionJudge("wise", lambda sample, model: 0.5)
    rules = [panel_of_metric(panel, judged_metric(judge))[1].rule for judge in (STARS, POLITE, COMPLETE, wise)]
    assert rules == ["mean", "majority", "majority", "mean"]
    assert panel_of_metric(Panel(("a",), "majority"), judged_metric(STARS)) == ("stars", Panel(("a",), "majority"))
    assert panel_of_metric(Panel(("a",), "mean"), judged_metric(COMPLETE))[1].rule == "mean"
    bit = PromptedJudge("bit", "Is it so?", scale=(0, 1))
    assert panel_of_metric(panel, judged_metric(bit))[1].rule == "majority"


@pytest.mark.parametrize(
    ("panel", "metric", "sentence"),
    [
        (Panel(("a",)), Metric("plain", lambda sample: None), "plain asks no model for a verdict"),  # type: ignore[arg-type,return-value]
        (Panel(("a",)), judged_metric(FunctionJudge("brief", len)), "brief asks no model for a verdict"),
        (
            Panel(("a",), swapped=True),
            judged_metric(FunctionJudge("wise", lambda sample, model: 1)),
            "the judge of wise cannot be asked in another order",
        ),
        (Panel(("a",), "mean"), judged_metric(POLITE), "politeness is 0 or 1, and a mean is neither"),
    ],
)
def test_an_unsupported_panel_setting_is_refused(panel: Panel, metric: Metric, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        panel_of_metric(panel, metric)


def test_each_model_votes_in_every_repeat_and_once_in_the_other_order() -> None:
    panel = Panel(("a", "b"), repeat=2, swapped=True)
    of_a = [("a", 1, False), ("a", 2, False), ("a", 1, True)]
    assert list(panel.ballots()) == [*of_a, *(("b", repeat, swapped) for _, repeat, swapped in of_a)]
    assert panel.votes_each == 3


def test_a_prompted_judge_is_asked_in_the_other_order() -> None:
    other = POLITE.swapped
    assert other is not None
    assert (list(other.labels or ()), other.shows) == (["rude", "polite"], ("answer", "question"))
    system, user = (message["content"] for message in other.messages(sample("Sure.", question="May I?")))
    assert system.index("a guest would mind") < system.index("nobody would mind")
    assert user.index("> Sure.") < user.index("> May I?")
    again = other.swapped
    assert again is not None
    assert again.messages(sample()) == POLITE.messages(sample())
    assert STARS.swapped is not None
    assert PromptedJudge("length", "Is it long?", scale=(1, 5), shows=("answer",)).swapped is None
