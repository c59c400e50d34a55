from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.codec import decode_instance, decode_outcome, encode_instance, encode_outcome, without_texts
from pytest_rageval.model.evidence import EvidenceUnit
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage

OUTCOME = Outcome(
    nodeid="test_a.py::test_a[q1]",
    case_id="q1",
    testbed="test_a.py::test_a",
    facets={"noise_rate": "0.4"},
    system="mine",
    status="scored",
    answer=Answer(
        "Paris.",
        Ranking((ScoredPassage("d1", 1.5, "about Paris", "Paris"), ScoredPassage("d2"))),
        False,
        (Step("search", {"query": "capital", "k": 3, "score": 0.5, "cached": True, "error": None}),),
        Usage(10, 2, 0.001, 0.2),
    ),
    scores={"accuracy": Score(1.0), "faithfulness": Score(reason="judge_unavailable")},
    supplied=("d1", "d2"),
    data="0123456789abcdef",
    said="fedcba9876543210",
    evidence=0.5,
)
INSTANCE = Instance(
    "q1",
    "Which?",
    (("Paris", "the capital"), ("1889",)),
    (Passage("p0", "about Paris", "Paris", "positive", 0), Passage("n0", "noise", role="negative")),
    (("Lyon",),),
    history=(Turn("Who?", "Her."),),
)


def test_evidence_is_stored_as_in_the_record_and_read_back() -> None:
    quote_unit = EvidenceUnit("visit.md", "opens at 9:00")
    instance = replace(INSTANCE, evidence=((quote_unit, EvidenceUnit("shop.md", span=(3, 9), grade=2)), (quote_unit,)))
    encoded = encode_instance(instance)
    quote = {"page": "visit.md", "quote": "opens at 9:00", "grade": 1}
    assert encoded["evidence"] == [[quote, {"page": "shop.md", "span": [3, 9], "grade": 2}], [quote]]
    assert decode_instance("q1", json.loads(json.dumps(encoded)), {}).evidence == instance.evidence
    stripped = {"page": "visit.md", "grade": 1}
    assert without_texts(encoded)["evidence"] == [
        [stripped, {"page": "shop.md", "span": [3, 9], "grade": 2}],
        [stripped],
    ]
    assert "evidence" not in encode_instance(INSTANCE)


def test_an_outcome_is_stored_in_the_documented_form() -> None:
    assert encode_outcome(OUTCOME) == {
        "nodeid": "test_a.py::test_a[q1]",
        "testbed": "test_a.py::test_a",
        "case_id": "q1",
        "facets": {"noise_rate": "0.4"},
        "system": "mine",
        "status": "scored",
        "answer": {
            "text": "Paris.",
            "abstained": False,
            "ranking": [{"doc_id": "d1", "score": 1.5, "text": "about Paris", "title": "Paris"},
                        {"doc_id": "d2", "score": None}],
            "trace": [{"kind": "search",
                       "detail": {"query": "capital", "k": 3, "score": 0.5, "cached": True, "error": None}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.001, "latency_s": 0.2},
        },
        "scores": {"accuracy": {"value": 1.0}, "faithfulness": {"value": None, "reason": "judge_unavailable"}},
        "supplied": ["d1", "d2"],
        "error": None,
        "error_type": None,
        "calls": None,
        "data": "0123456789abcdef",
        "said": "fedcba9876543210",
        "evidence": 0.5,
    }  # fmt: skip


def test_answer_seen_is_stored_only_if_it_is_known() -> None:
    assert "answer_seen" not in encode_outcome(OUTCOME)
    with_share = replace(OUTCOME, evidence=None, answer_seen=0.5)
    assert encode_outcome(with_share)["answer_seen"] == 0.5
    assert decode_outcome(encode_outcome(with_share)).answer_seen == 0.5


def test_a_long_answer_is_truncated_with_a_note() -> None:
    longest, longer = "x" * 2**20, "x" * (2**20 + 1_500)
    stored_texts = [
        encode_outcome(replace(OUTCOME, answer=Answer(text)))["answer"]["text"] for text in (longest, longer)
    ]
    assert stored_texts == [longest, f"{longest}\n[1,500 more characters are not stored]"]


def test_an_instance_is_stored_with_its_whole_pool() -> None:
    assert encode_instance(INSTANCE) == {
        "question": "Which?",
        "gold": [["Paris", "the capital"], ["1889"]],
        "history": [{"question": "Who?", "answer": "Her."}],
        "passages": {
            "p0": {"text": "about Paris", "role": "positive", "title": "Paris"},
            "n0": {"text": "noise", "role": "negative"},
        },
        "fake": [["Lyon"]],
    }
    minimal = {"question": "?", "gold": [], "history": [], "passages": {}}
    assert encode_instance(Instance("q", "?")) == minimal


def test_without_texts_removes_every_text() -> None:
    outcome = replace(OUTCOME, status="error", error="ValueError: Paris.", error_type="system_error")
    encoded = encode_outcome(outcome)
    stripped = without_texts(encoded)
    assert stripped == {
        **encoded,
        "answer": {
            "text": None,
            "abstained": False,
            "ranking": [{"doc_id": "d1", "score": 1.5}, {"doc_id": "d2", "score": None}],
            "trace": [{"kind": "search", "detail": {}}],
            "usage": encoded["answer"]["usage"],
        },
        "error": None,
    }
    assert encoded == encode_outcome(outcome)
    assert without_texts(encode_instance(INSTANCE)) == {
        "passages": {"p0": {"role": "positive"}, "n0": {"role": "negative"}}
    }
    without_answer = encode_outcome(replace(OUTCOME, answer=None))
    assert without_texts(without_answer) == without_answer
    without_ranking = encode_outcome(replace(OUTCOME, answer=Answer("Paris.")))
    assert without_texts(without_ranking)["answer"]["ranking"] is None
    assert decode_outcome(stripped).answer is not None
    quoting = replace(
        OUTCOME, scores={"mine": Score(None, "parse_error: no number in 'Paris.'"), "x": Score(None, "late")}
    )
    scores = without_texts(encode_outcome(quoting))["scores"]
    assert {name: score["reason"] for name, score in scores.items()} == {"mine": "parse_error", "x": "late"}


@pytest.mark.parametrize(
    ("detail", "stripped"),
    [
        (
            {"name": "search", "arguments": {"title": "x"}, "seconds": 0.5, "invalid": True, "parent": 0},
            {"name": "search", "seconds": 0.5, "invalid": True, "parent": 0},
        ),
        (
            {"query": "x", "retriever": "bm25", "passages": [{"id": "a", "text": "x", "score": 0.5}, "x"]},
            {"retriever": "bm25", "passages": [{"id": "a", "score": 0.5}]},
        ),
        (
            {"model": "m", "prompt": [{"role": "user"}], "text": "x", "prompt_tokens": 3, "completion_tokens": 1,
             "attempts": 2, "replayed": True, "finish_reason": "stop", "tool_calls": [{"name": "x"}], "cost_usd": 0.5},
            {"model": "m", "prompt_tokens": 3, "completion_tokens": 1, "attempts": 2, "replayed": True,
             "finish_reason": "stop"},
        ),
        ({"reason": "gave_up", "detail": "x"}, {"reason": "gave_up"}),
        ({"path": "0.1", "depth": 2, "outcome": "open", "mine": "x"}, {"path": "0.1", "depth": 2, "outcome": "open"}),
        ({"error": "ValueError: x"}, {"error": "ValueError"}),
        ({"error": "httpx.ConnectError"}, {"error": "httpx.ConnectError"}),
        ({"error": "x is wrong"}, {"error": "error"}),
        ({"name": {"x": "x"}, "error": None}, {}),
    ],
)  # fmt: skip
def test_a_step_without_texts_keeps_names_and_numbers(detail: dict[str, Any], stripped: dict[str, Any]) -> None:
    encoded = encode_outcome(replace(OUTCOME, answer=Answer("", trace=(Step("tool", detail),))))
    assert without_texts(encoded)["answer"]["trace"] == [{"kind": "tool", "detail": stripped}]


NAN = float("nan")


class Text(str):
    pass


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(Text("Paris")), Answer("Paris")),
        (Answer(cast("str", np.str_("Paris"))), Answer("Paris")),
        (Answer("half \ud83d of a pair, 基"), Answer("half \\ud83d of a pair, 基")),
        (Answer("", abstained=cast("bool", np.bool_(True))), Answer("", abstained=True)),
        (
            Answer("", Ranking((ScoredPassage(cast("str", 7), cast("float", np.float32(0.5)), "\udc00", Text("t")),))),
            Answer("", Ranking((ScoredPassage("7", 0.5, "\\udc00", "t"),))),
        ),
        (
            Answer("", Ranking((ScoredPassage("a", NAN), ScoredPassage("b", float("-inf"))))),
            Answer("", Ranking((ScoredPassage("a"), ScoredPassage("b")))),
        ),
        (
            Answer("", usage=Usage(cast("int", np.int64(3)), cast("int", 2.0), NAN, cast("float", np.float64(0.5)))),
            Answer("", usage=Usage(3, 2, None, 0.5)),
        ),
        (
            Answer("", trace=(Step(Text("tool"), cast("Any", {"args": ["x"], "n": np.int64(1), 2: NAN})),)),
            Answer("", trace=(Step("tool", {"args": ["x"], "n": 1, "2": "nan"}),)),
        ),
    ],
    ids=["str", "numpy str", "surrogate", "numpy bool", "passage", "not finite", "usage", "detail"],
)  # fmt: skip
def test_values_of_a_system_are_stored_as_builtins(answer: Answer, expected: Answer) -> None:
    encoded = encode_outcome(replace(OUTCOME, answer=answer))
    text = json.dumps(encoded, ensure_ascii=False, allow_nan=False)
    assert text.encode("utf-8")
    assert only_builtins(encoded)
    assert decode_outcome(json.loads(text)).answer == expected


def test_values_of_metrics_loaders_and_exceptions_are_stored_as_builtins() -> None:
    outcome = replace(
        OUTCOME,
        facets={Text("topic"): Text("A"), "half": "\ud83d"},
        scores={"mine": Score(cast("float", np.float64(0.5))), "int": Score(1), "why": Score(reason=Text("\udfff"))},
        supplied=(Text("d1"),),
        error="ValueError: \ud83d",
    )  # fmt: skip
    encoded = encode_outcome(outcome)
    assert only_builtins(encoded)
    assert encoded["facets"] == {"topic": "A", "half": "\\ud83d"}
    assert encoded["scores"] == {
        "mine": {"value": 0.5},
        "int": {"value": 1.0},
        "why": {"value": None, "reason": "\\udfff"},
    }
    assert (encoded["supplied"], encoded["error"]) == (["d1"], "ValueError: \\ud83d")
    surrogate = Text("\ud83d")
    instance = Instance(
        "q",
        surrogate,
        ((surrogate,),),
        (Passage(surrogate, surrogate, surrogate),),
        ((surrogate,),),
        {surrogate: cast("int", np.int64(2))},
        (Turn(surrogate, surrogate),),
        provenance=((surrogate,),),
    )
    encoded = encode_instance(instance)
    assert only_builtins(encoded)
    assert json.dumps(encoded, ensure_ascii=False).encode("utf-8")
    assert (encoded["qrels"], encoded["provenance"]) == ({"\\ud83d": 2}, [["\\ud83d"]])


def test_without_texts_keeps_judgements_and_pages() -> None:
    instance = Instance("q", "?", (("A",),), qrels={"d#1": 1}, provenance=(("d",),))
    assert without_texts(encode_instance(instance)) == {
        "passages": {}, "qrels": {"d#1": 1}, "provenance": [["d"]],
    }  # fmt: skip
    ranking = Ranking((ScoredPassage("d#1", 0.5, "text", "title", "d"), ScoredPassage("e")))
    outcome = encode_outcome(replace(OUTCOME, answer=Answer("A", ranking)))
    assert decode_outcome(outcome).answer == Answer("A", ranking)
    stripped = without_texts(outcome)["answer"]["ranking"]
    assert stripped == [{"doc_id": "d#1", "score": 0.5, "page": "d"}, {"doc_id": "e", "score": None}]


def only_builtins(value: object) -> bool:
    if type(value) is dict:
        return all(type(key) is str and only_builtins(item) for key, item in value.items())
    if type(value) is list:
        return all(map(only_builtins, value))
    return value is None or type(value) in (str, int, float, bool)
