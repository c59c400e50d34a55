"""Laws of the codec: outcomes and instances survive JSON, and texts can be removed."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.codec import decode_instance, decode_outcome, encode_instance, encode_outcome, without_texts
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.verdict import Verdict, Vote

MARK = "§"
"""A character in every text of the data and of the answers, and nowhere else."""

SHORT = st.text(max_size=8)
NAMES = st.text("abcé基0.-_:/ ", min_size=1, max_size=8)
TEXTS = SHORT.map(lambda text: MARK + text)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 10**12)

usages = st.builds(Usage, st.none() | COUNTS, st.none() | COUNTS, st.none() | NUMBERS, st.none() | NUMBERS)
rankings = st.builds(
    Ranking, st.lists(st.builds(ScoredPassage, NAMES, st.none() | NUMBERS, TEXTS, TEXTS, NAMES), max_size=4).map(tuple)
)
details = st.dictionaries(TEXTS, st.one_of(st.none(), st.booleans(), st.integers(), NUMBERS, TEXTS), max_size=3)
answers = st.builds(
    Answer,
    TEXTS,
    st.none() | rankings,
    st.none() | st.booleans(),
    st.lists(st.builds(Step, NAMES, details), max_size=2).map(tuple),
    st.none() | usages,
)
calls = st.builds(
    Calls, COUNTS, COUNTS, COUNTS, st.none() | COUNTS, st.none() | COUNTS, st.none() | NUMBERS, st.none() | NUMBERS
)
labels = NAMES | NUMBERS | st.integers(-(10**6), 10**6)
replies = st.lists(TEXTS, max_size=2).map(tuple)
problems = st.sampled_from(["judge_unavailable", f"parse_error: {MARK} is no label", f": {MARK}"])
by = st.sampled_from(["judge", "rule"])
ballot_verdicts = st.builds(Verdict, labels, TEXTS, replies, by=by) | st.builds(
    Verdict, st.none(), TEXTS, replies, problems
)
votes = st.just(()) | st.lists(
    st.builds(Vote, NAMES, ballot_verdicts, COUNTS, st.booleans()), min_size=2, max_size=3
).map(tuple)
verdicts = st.builds(lambda verdict, ballots: replace(verdict, votes=ballots), ballot_verdicts, votes)
reasons = NAMES.filter(lambda reason: ": " not in reason)  # the text after it quotes data
scores = st.one_of(NUMBERS.map(Score), reasons.map(lambda reason: Score(reason=reason)))
judge_scores = st.one_of(
    st.builds(Score, NUMBERS, st.none(), verdicts),
    st.builds(Score, st.none(), problems | NAMES, verdicts),
    problems.map(lambda problem: Score(None, problem, Verdict(problem=problem))),
    st.builds(Score, st.none(), reasons, st.none() | verdicts, NUMBERS),
)
outcomes = st.builds(
    Outcome,
    nodeid=NAMES,
    case_id=NAMES,
    testbed=NAMES,
    facets=st.dictionaries(NAMES, NAMES, max_size=4),
    system=NAMES,
    status=st.sampled_from(["scored", "error", "skipped"]),
    answer=st.none() | answers,
    scores=st.dictionaries(NAMES, scores | judge_scores, max_size=3),
    supplied=st.lists(NAMES, max_size=4).map(tuple),
    error=st.none() | TEXTS,
    error_type=st.none() | NAMES,
    calls=st.none() | calls,
    history=st.none() | st.lists(st.builds(Turn, TEXTS, TEXTS), max_size=2).map(tuple),
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
def test_an_outcome_survives_a_round_trip_through_json(outcome: Outcome) -> None:
    encoded = encode_outcome(outcome)
    text = json.dumps(encoded, ensure_ascii=False, allow_nan=False)
    assert json.loads(text) == encoded
    assert decode_outcome(json.loads(text)) == outcome


@given(outcomes, st.booleans())
def test_encoding_a_decoded_outcome_changes_nothing(outcome: Outcome, texts: bool) -> None:
    encoded = encode_outcome(outcome) if texts else without_texts(encode_outcome(outcome))
    again = encode_outcome(decode_outcome(encoded))
    assert (again if texts else without_texts(again)) == encoded


@given(instances)
def test_an_encoded_instance_has_json_types_only(instance: Instance) -> None:
    encoded = encode_instance(instance)
    assert json.loads(json.dumps(encoded, ensure_ascii=False, allow_nan=False)) == encoded
    assert set(encoded["passages"]) == {p.id for p in instance.passages or ()}
    again = decode_instance(instance.id, encoded, {"language": "zh"})
    assert again.language == "zh"
    assert encode_instance(again) == encoded


@given(outcomes, instances)
def test_without_texts_removes_all_texts_of_data_and_answers(outcome: Outcome, instance: Instance) -> None:
    for encoded in (encode_outcome(outcome), encode_instance(instance)):
        before = json.dumps(encoded, ensure_ascii=False)
        assert MARK not in json.dumps(without_texts(encoded), ensure_ascii=False)
        assert json.dumps(encoded, ensure_ascii=False) == before


@given(outcomes)
def test_removing_texts_keeps_all_other_values(outcome: Outcome) -> None:
    bare = decode_outcome(without_texts(encode_outcome(outcome)))
    for name in ("nodeid", "case_id", "testbed", "facets", "system", "status", "supplied", "error_type", "calls"):
        assert getattr(bare, name) == getattr(outcome, name)
    for name, score in outcome.scores.items():
        bare_score = bare.scores[name]
        if score.verdict is None:
            assert bare_score == score
            continue
        assert bare_score.verdict is not None
        assert (bare_score.value, bare_score.verdict.label) == (score.value, score.verdict.label)
        assert (bare_score.verdict.rationale, bare_score.verdict.replies) == ("", ())
        expected_votes = [(vote.model, vote.repeat, vote.swapped, vote.verdict.label) for vote in score.verdict.votes]
        assert [
            (vote.model, vote.repeat, vote.swapped, vote.verdict.label) for vote in bare_score.verdict.votes
        ] == expected_votes
    assert (bare.answer is None) == (outcome.answer is None)
    if bare.answer is not None and outcome.answer is not None:
        assert (bare.answer.usage, bare.answer.abstained) == (outcome.answer.usage, outcome.answer.abstained)
        if outcome.answer.ranking is not None:
            assert bare.answer.ranking is not None
            assert bare.answer.ranking.doc_ids == outcome.answer.ranking.doc_ids


def test_a_verdict_is_encoded_next_to_its_value_and_its_problem_once() -> None:
    replies = ("yes?", "yes")
    scores = {
        "judged": Score(1.0, None, Verdict("yes", "it says so", replies)),
        "graded": Score(0.5, None, Verdict(3)),
        "silent": Score(None, "parse_error: 'hm'", Verdict(None, "", ("hm",), "parse_error: 'hm'")),
        "other": Score(None, "not_applicable", Verdict(None, problem="judge_unavailable")),
        "odd": Score(1.0, None, Verdict(float("nan"))),
        "ruled": Score(1.0, None, Verdict("right", by="rule")),
    }
    outcome = Outcome("t[q]", "q", "t", {}, "s", "scored", scores=scores, calls=Calls(2, 1, 3, 10, None, 0.5, None))
    encoded = encode_outcome(outcome)
    bare = {"rationale": "", "replies": []}
    assert encoded["scores"] == {
        "judged": {"value": 1.0, "label": "yes", "rationale": "it says so", "replies": ["yes?", "yes"]},
        "graded": {"value": 0.5, "label": 3, **bare},
        "silent": {"value": None, "reason": "parse_error: 'hm'", "label": None, "rationale": "", "replies": ["hm"]},
        "other": {"value": None, "reason": "not_applicable", "label": None, **bare, "problem": "judge_unavailable"},
        "odd": {"value": 1.0, "label": None, **bare, "problem": "not_finite"},
        "ruled": {"value": 1.0, "label": "right", **bare, "by": "rule"},
    }
    assert encoded["calls"] == {
        "calls": 2, "replayed": 1, "attempts": 3, "prompt_tokens": 10, "completion_tokens": None,
        "cost_usd": 0.5, "spent_usd": None,
    }  # fmt: skip
    assert without_texts(encoded)["scores"] == {
        "judged": {"value": 1.0, "label": "yes"},
        "graded": {"value": 0.5, "label": 3},
        "silent": {"value": None, "reason": "parse_error", "label": None},
        "other": {"value": None, "reason": "not_applicable", "label": None, "problem": "judge_unavailable"},
        "odd": {"value": 1.0, "label": None, "problem": "not_finite"},
        "ruled": {"value": 1.0, "label": "right", "by": "rule"},
    }


def test_an_outcome_without_the_key_calls_is_decoded() -> None:
    encoded = encode_outcome(Outcome("t[q]", "q", "t", {}, "s", "scored", scores={"accuracy": Score(1.0)}))
    assert encoded.pop("calls") is None
    assert decode_outcome(encoded).calls is None
