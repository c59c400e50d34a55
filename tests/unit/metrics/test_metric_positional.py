"""positional_token_match: the share of tokens at equal positions, computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.kilt import HOTPOT_F1
from pytest_rageval.metrics.answers.positional import POSITIONAL_TOKEN_MATCH
from pytest_rageval.model.case import Gold

WORDS = st.lists(st.sampled_from(["a", "b", "Paris", "the", ",", "."]), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("Paris France", slots("Paris"), 0.5),
        ("the Paris", slots("Paris"), 0.0),
        ("a b c", slots("a b c"), 1.0),
        ("", slots("x"), 0.0),
        (" \n", slots("x"), 0.0),
        ("", slots(""), 0.0),
        ("Rome, Italy", slots("Rome; Italy"), 2 / 3),
        ("PARIS.", slots(["Lima", "Paris"]), 0.5),
        ("1,000 people", slots("1000 people"), 1.0),
        ("Ann and Bo", slots(["Cy", "Ann"], "Bo"), 1 / 3),
        ("北京大学很大", slots("北京大学"), 0.5),
        ("yes", (), "not_applicable: no_gold"),
    ],
)
def test_a_token_counts_only_at_its_position(text: str, gold: Gold, expected: float | str) -> None:
    score = value(POSITIONAL_TOKEN_MATCH, sample(text, gold))
    assert score == (expected if isinstance(expected, str) else pytest.approx(expected))


@given(WORDS, WORDS, st.lists(WORDS, max_size=3))
def test_more_references_never_lower_the_share_and_an_equal_text_scores_1(
    text: list[str], reference: list[str], others: list[list[str]]
) -> None:
    def score_with(*references: list[str]) -> float:
        score = value(POSITIONAL_TOKEN_MATCH, sample(" ".join(text), slots([" ".join(each) for each in references])))
        assert isinstance(score, float)
        return score

    assert 0 <= score_with(reference) <= score_with(reference, *others) <= 1
    assert score_with(text) == 1.0
    assert score_with(["zzz"]) == 0.0


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("yes it is", slots("yes"), 0.0),
        ("Paris France", slots("Paris"), 2 / 3),
        ("the", slots("a"), 0.0),
        ("", slots("the"), 0.0),
        ("", slots(""), 0.0),
        ("['AI', 'ML']", slots("['ML', 'AI']"), 1.0),
        ("['AI', 'ML']", slots("ML", "AI"), 1.0),
        ("Associate Professor", slots("Professor"), 2 / 3),
    ],
)
def test_hotpot_f1_scores_like_the_script_of_hotpotqa(text: str, gold: Gold, expected: float) -> None:
    assert value(HOTPOT_F1, sample(text, gold)) == pytest.approx(expected)
