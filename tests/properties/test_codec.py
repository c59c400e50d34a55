from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.codec import decode_outcome, encode_instance, encode_outcome, without_texts
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

MARK = "§"
"""A character that stands in every text of the data and of the answers, and nowhere else."""

SHORT = st.text(max_size=8)
NAMES = st.text("abcé基0.-_:/ ", min_size=1, max_size=8)
TEXTS = SHORT.map(lambda text: MARK + text)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 10**12)

usages = st.builds(Usage, st.none() | COUNTS, st.none() | COUNTS, st.none() | NUMBERS, st.none() | NUMBERS)
rankings = st.builds(
    Ranking, st.lists(st.builds(ScoredPassage, NAMES, st.none() | NUMBERS, TEXTS, TEXTS), max_size=4).map(tuple)
)
details = st.dictionaries(TEXTS, st.one_of(st.none(), st.booleans(), st.integers(), NUMBERS, TEXTS), max_size=3)
answers = st.builds(
    Answer,
    TEXTS,
    st.none() | rankings,
    st.none() | st.booleans(),
    st.lists(st.builds(Step, TEXTS, details), max_size=2).map(tuple),
    st.none() | usages,
)
scores = st.one_of(NUMBERS.map(Score), NAMES.map(lambda reason: Score(reason=reason)))
outcomes = st.builds(
    Outcome,
    nodeid=NAMES,
    case_id=NAMES,
    testbed=NAMES,
    facets=st.dictionaries(NAMES, NAMES, max_size=4),
    system=NAMES,
    status=st.sampled_from(["scored", "error", "skipped"]),
    answer=st.none() | answers,
    scores=st.dictionaries(NAMES, scores, max_size=3),
    supplied=st.lists(NAMES, max_size=4).map(tuple),
    error=st.none() | TEXTS,
    error_type=st.none() | NAMES,
)
golds = st.lists(st.lists(TEXTS, min_size=1, max_size=2).map(tuple), max_size=3).map(tuple)
passages = st.builds(Passage, NAMES, TEXTS, TEXTS, st.sampled_from(["", "positive", "negative", "counterfactual"]))
instances = st.builds(
    Instance,
    id=NAMES,
    question=TEXTS,
    gold=golds,
    passages=st.none() | st.lists(passages, max_size=3, unique_by=lambda p: p.id).map(tuple),
    fake=golds,
    history=st.lists(st.builds(Turn, TEXTS, TEXTS), max_size=2).map(tuple),
)


@given(outcomes)
def test_an_outcome_comes_back_from_json_as_itself(outcome: Outcome) -> None:
    encoded = encode_outcome(outcome)
    text = json.dumps(encoded, ensure_ascii=False, allow_nan=False)
    assert json.loads(text) == encoded
    assert decode_outcome(json.loads(text)) == outcome


@given(outcomes, st.booleans())
def test_coding_twice_changes_nothing(outcome: Outcome, texts: bool) -> None:
    encoded = encode_outcome(outcome) if texts else without_texts(encode_outcome(outcome))
    again = encode_outcome(decode_outcome(encoded))
    assert (again if texts else without_texts(again)) == encoded


@given(instances)
def test_an_instance_is_builtins(instance: Instance) -> None:
    encoded = encode_instance(instance)
    assert json.loads(json.dumps(encoded, ensure_ascii=False, allow_nan=False)) == encoded
    assert set(encoded["passages"]) == {p.id for p in instance.passages or ()}


@given(outcomes, instances)
def test_no_text_of_the_data_or_of_an_answer_is_left(outcome: Outcome, instance: Instance) -> None:
    for encoded in (encode_outcome(outcome), encode_instance(instance)):
        before = json.dumps(encoded, ensure_ascii=False)
        assert MARK not in json.dumps(without_texts(encoded), ensure_ascii=False)
        assert json.dumps(encoded, ensure_ascii=False) == before


@given(outcomes)
def test_everything_but_texts_stays_when_they_are_left_out(outcome: Outcome) -> None:
    bare = decode_outcome(without_texts(encode_outcome(outcome)))
    for name in ("nodeid", "case_id", "testbed", "facets", "system", "status", "scores", "supplied", "error_type"):
        assert getattr(bare, name) == getattr(outcome, name)
    assert (bare.answer is None) == (outcome.answer is None)
    if bare.answer is not None and outcome.answer is not None:
        assert (bare.answer.usage, bare.answer.abstained) == (outcome.answer.usage, outcome.answer.abstained)
        if outcome.answer.ranking is not None:
            assert bare.answer.ranking is not None
            assert bare.answer.ranking.doc_ids == outcome.answer.ranking.doc_ids
