"""What the help desk must be able to do. Each record of ../data becomes a test for every setting."""

from __future__ import annotations

from pytest_rageval import rag_case

NOISE = [0, 0.4, 0.8]  # the share of passages that do not hold the answer


@rag_case(
    "rgb:../data/en_desk.json",
    ability="noise_robustness",
    noise_rate=NOISE,
    gates=["accuracy >= 0.75", "accuracy[noise_rate=0.8] >= 0.5"],
)
@rag_case("jsonl:../data/zh_desk.jsonl", ability="noise_robustness", noise_rate=NOISE, gates=["accuracy >= 0.7"])
def test_noise(rag):
    """A single question, with ever fewer passages that answer it. An empty body is enough."""


@rag_case("jsonl:../data/follow_ups.jsonl", ability="noise_robustness", noise_rate=NOISE, gates=["accuracy >= 0.75"])
def test_follow_up(rag):
    """A question that is understood only from the one before it."""
    assert len(rag.answer.text) < 400, "an answer at a help desk is a few sentences"


@rag_case("rgb:../data/en_desk.json", ability="noise_robustness", noise_rate=0.4, where={"topic": "Lost property"})
def test_lost_property(rag):
    """No average here: every one of these must be right, or its own test fails."""
    rag.check("accuracy >= 1")
    assert not rag.answer.abstained


@rag_case(
    "jsonl:../data/hearsay.jsonl",
    ability="counterfactual_robustness",
    noise_rate=0.4,
    gates=["error_detection_rate >= 0.7", "error_correction_rate >= 0.7", "fake_answer_rate <= 0.3"],
)
def test_hearsay(rag):
    """Passages that are wrong, about things that the desk knows better (most of them: see assistant/facts.py)."""


@rag_case(
    "jsonl:../data/counter.jsonl",
    metrics=["token_f1", "R@5", "nDCG@5"],
    gates=[
        "R@5 >= 0.9",
        "kilt:token_f1 >= 0.2",
        "R@5[language=*] >= baseline",
        "kilt:token_f1[language=*] >= baseline",
    ],
)
def test_counter(rag):
    """Nothing is handed over here: the notices are found first (rag_corpus in pyproject.toml), then the desk reads."""
