"""Compare RGB's labels with its vectors and with a second implementation over its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.metrics.answers.counterfactual import FAKE_ANSWER_RATE
from pytest_rageval.metrics.published.rgb_compat import RGB_ALL_RATE_COMPAT, published_labels
from pytest_rageval.metrics.shared.detection import flags_error
from pytest_rageval.metrics.shared.matching import contains, meets
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance
from pytest_rageval.model.phrases import RGB_MARKERS
from pytest_rageval.model.sample import Sample

FILES = {"en_base": "en", "en_fact": "en", "zh_fact": "zh", "zh_refine": "zh"}


def rows(data: Path, stem: str) -> list[dict[str, Any]]:
    with (data / "rgb" / f"{stem}.json").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def gold_of(answer: Any) -> Gold:
    outer = answer if isinstance(answer, list) else [answer]
    return tuple(tuple(slot) if isinstance(slot, list) else (slot,) for slot in outer)


def labels_of_the_raw_record(prediction: str, answer: Any, dataset: str) -> list[int]:
    """Return the published labels by a second implementation, from the raw record."""
    if "zh" in dataset:
        prediction = "".join(c for c in prediction if c != " ")
    if prediction.find("信息不足") >= 0 or prediction.find("insufficient information") >= 0:
        return [-1]
    lowered = prediction.lower()
    labels = []
    for slot in [answer] if isinstance(answer, str) else answer:
        spellings = [slot] if isinstance(slot, str) else slot
        labels.append(0)
        for spelling in spellings:
            if lowered.find(spelling.lower()) >= 0:
                labels[-1] = 1
    return labels


def compat(text: str, gold: Gold, stem: str, noise_rate: str = "0") -> float | None:
    instance = Instance("x", "?", gold, language=FILES[stem])
    return RGB_ALL_RATE_COMPAT.compute(
        Sample(Case("x", instance, None, {"noise_rate": noise_rate}), Answer(text))
    ).value


@pytest.mark.parametrize(
    ("prediction", "answer", "language", "labels"),
    [
        ("There are 170 seats", "70", "en", (1,)),
        ("Insufficient information.", "70", "en", (0,)),
        ("Insufficient information.", ["70", ["Paris"]], "en", (0, 0)),
        ("insufficient information, but Paris", ["Paris"], "en", (-1,)),
        ("insufficient information", ["Paris"], "zh", (0,)),
        ("文档信息不足，因此我无法基于提供的文档回答该问题。", ["Paris"], "en", (-1,)),
        ("文档信息 不足", ["Paris"], "zh", (-1,)),
        ("文档信息 不足", ["Paris"], "en", (0,)),
        ("新款 SE 3", ["SE 3"], "zh", (0,)),
        ("新款 SE 3", [["SE 3", "SE3"]], "zh", (1,)),
        ("PARIS and lima", ["Paris", ["Quito", "Lima"], "Rome"], "en", (1, 1, 0)),
        ("anything", "", "en", (1,)),
        ("anything", [], "en", ()),
        ("anything", [[]], "en", (0,)),
    ],
)
def test_labels_equal_the_reference_vectors(
    prediction: str, answer: Any, language: str, labels: tuple[int, ...]
) -> None:
    assert published_labels(gold_of(answer), prediction, language) == labels
    assert tuple(labels_of_the_raw_record(prediction, answer, language)) == labels


def test_our_error_markers_correct_the_published_ones() -> None:
    assert not flags_error("There are no factual errors. Paris", RGB_MARKERS)
    assert flags_error("Factual errors exist.", RGB_MARKERS)


@pytest.mark.parametrize("stem", FILES)
def test_labels_of_whole_files_equal_the_published_rule(rageval_data: Path, stem: str) -> None:
    records = rows(rageval_data, stem)
    assert len(records) in (100, 300)
    correct = 0
    for row in records:
        gold = gold_of(row["answer"])
        texts = [
            row["positive"][0],
            " ".join(row["negative"]),
            f"{row['positive'][0]} insufficient information",
            "信息不足",
        ]
        for text in texts:
            labels = labels_of_the_raw_record(text, row["answer"], stem)
            assert list(published_labels(gold, text, FILES[stem])) == labels
            all_slots = 0 not in labels and 1 in labels
            assert compat(text, gold, stem) == float(all_slots)
            assert compat(text, gold, stem, "1") == float(all_slots or labels == [-1])
        correct += compat(texts[0], gold, stem) == 1.0
    assert correct > len(records) // 2


def test_the_published_rule_accepts_some_false_answers(rageval_data: Path) -> None:
    published, ours, unscorable = [], [], []
    for row in rows(rageval_data, "zh_fact"):
        gold, fake = gold_of(row["answer"]), gold_of(row["fakeanswer"])
        text = " ".join(slot[0] for slot in fake)
        published += [row["id"]] * (0 not in published_labels(gold, text, "zh"))
        ours += [row["id"]] * meets(gold, text)
        case = Case(f"zh_fact-{row['id']}", Instance("x", "?", gold, fake=fake, language="zh"), None, {})
        score = FAKE_ANSWER_RATE.compute(Sample(case, Answer(text)))
        unscorable += [row["id"]] * (score.reason == "not_applicable: fake_contains_gold")
        assert score.value in (None, 1.0)
    assert published == [0, 7, 82]
    assert ours == unscorable == [82]


@pytest.mark.parametrize(
    ("stem", "documents", "published", "ours"),
    [
        ("en_fact", 395, {43: 1, 73: 1}, {43: 1, 73: 1}),
        ("zh_fact", 418, {0: 3, 7: 5, 82: 3, 91: 2}, {82: 3, 91: 2}),
    ],
)
def test_counterfactual_passages_that_hold_the_gold(
    rageval_data: Path, stem: str, documents: int, published: dict[int, int], ours: dict[int, int]
) -> None:
    counts: dict[str, dict[int, int]] = {"published": {}, "ours": {}}
    total = 0
    for row in rows(rageval_data, stem):
        gold = gold_of(row["answer"])
        for passage in row["positive_wrong"]:
            total += 1
            verdicts = {
                "published": 0 not in published_labels(gold, passage, FILES[stem]),
                "ours": meets(gold, passage),
            }
            for rule, holds in verdicts.items():
                if holds:
                    counts[rule][row["id"]] = counts[rule].get(row["id"], 0) + 1
    assert total == documents
    assert counts == {"published": published, "ours": ours}


def test_our_matcher_rarely_differs_from_the_published_one(rageval_data: Path) -> None:
    differing = total = 0
    for stem, language in FILES.items():
        for row in rows(rageval_data, stem):
            gold = gold_of(row["answer"])
            for passage in row["positive"]:
                total += 1
                differing += meets(gold, passage) != (0 not in published_labels(gold, passage, language))
    assert total > 4000
    assert differing / total < 0.01


def test_every_published_match_that_ours_refuses_cuts_a_number(rageval_data: Path) -> None:
    for row in rows(rageval_data, "en_base"):
        for passage in row["positive"]:
            for slot in gold_of(row["answer"]):
                for alias in slot:
                    if alias.lower() in passage.lower() and not contains(passage, alias):
                        assert any(c.isdigit() for c in alias)
