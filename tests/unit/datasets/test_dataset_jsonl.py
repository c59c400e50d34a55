"""Datasets in JSON Lines, the native format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets import jsonl
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage, Turn

FACET = "a string, number or boolean, because an unknown key becomes a facet"

BAD_RECORDS: list[tuple[dict[str, object], str]] = [
    ({"id": None}, "id: found null, wanted an integer or a string that is not empty"),
    ({"id": " "}, "id: found ' ', wanted an integer or a string that is not empty"),
    ({"id": True}, "id: found true, wanted an integer or a string that is not empty"),
    ({"id": 1.5}, "id: found 1.5, wanted an integer or a string that is not empty"),
    ({"question": ""}, "question: found '', wanted a string that is not empty"),
    ({"question": ["Q?"]}, "question: found an array of 1, wanted a string that is not empty"),
    ({"answers": None}, "answers: found null, wanted a string that is not empty or a list of at least one"),
    ({"answers": []}, "answers: found an array of 0, wanted a string that is not empty or a list of at least one"),
    ({"answers": ["x", None]}, "answers[1]: found null, wanted a string that is not empty"),
    ({"answers": ["x", " "]}, "answers[1]: found ' ', wanted a string that is not empty"),
    ({"answers": [["x"]]}, "answers[0]: found an array of 1, wanted a string that is not empty"),
    ({"answers": 70}, "answers: found 70, wanted a string that is not empty or a list of at least one"),
    (
        {"slots": ["x"]},
        "found both answers and slots, wanted one: answers (any one is right) or slots (each must be met)",
    ),
    (
        {"answers": ..., "slots": "x"},
        "slots: found 'x', wanted a list of slots, each a string or a list of strings",
    ),
    (
        {"answers": ..., "slots": [[]]},
        "slots[0]: found an array of 0, wanted a string that is not empty or a list of at least one",
    ),
    ({"answers": ..., "slots": ["x", ["y", ""]]}, "slots[1][1]: found '', wanted a string that is not empty"),
    ({"answers": ...}, 'found neither answers nor slots, wanted one of them, or "answerable": false'),
    (
        {"answers": ..., "anwsers": "x"},
        "found neither answers nor slots, wanted one of them, or \"answerable\": false; the key 'anwsers' is similar",
    ),
    (
        {"answers": ..., "qrels": {"d1": 1}, "anwsers": "x"},
        "found neither answers nor slots, wanted one of them, or \"answerable\": false; the key 'anwsers' is similar",
    ),
    ({"answerable": "no"}, "answerable: found 'no', wanted true or false"),
    ({"fake_answers": [""]}, "fake_answers[0]: found '', wanted a string that is not empty"),
    ({"language": 3}, "language: found 3, wanted a string that is not empty"),
    ({"language": "-CN"}, "language: found '-CN', wanted a language tag such as en or zh-CN"),
    (
        {"answers": [], "answerable": True},
        "answers: found an array of 0, wanted a string that is not empty or a list of at least one",
    ),
    (
        {"question": ..., "queston": "Q?"},
        "the field question is missing, wanted a string that is not empty; the key 'queston' is similar",
    ),
    (
        {"id": ..., "ID": 1},
        "the field id is missing, wanted an integer or a string that is not empty; the key 'ID' is similar",
    ),
    ({"passages": "text"}, "passages: found 'text', wanted a list of objects with id and text, or of strings"),
    ({"passages": [3]}, "passages[0]: found 3, wanted an object with id and text, or a string"),
    ({"passages": [{"id": "a"}]}, "the field passages[0].text is missing, wanted a string that is not empty"),
    (
        {"passages": [{"text": "a"}]},
        "the field passages[0].id is missing, wanted an integer or a string that is not empty",
    ),
    (
        {"passages": [{"id": "a", "text": "t", "tittle": "x"}]},
        "unknown key 'tittle' in passages[0]; did you mean 'title'?",
    ),
    (
        {"passages": [{"id": "a", "text": "t", "role": "gold"}]},
        "passages[0].role: found 'gold', wanted one of positive, negative, counterfactual, or no role",
    ),
    (
        {"passages": [{"id": "a", "text": "t", "group": -1}]},
        "passages[0].group: found -1, wanted an integer of at least 0",
    ),
    (
        {"passages": [{"id": "d1", "text": "t"}, "u"]},
        "passages[1].id: found 'd1', wanted an id that no other passage of the record has",
    ),
    ({"qrels": ["d1"]}, "qrels: found an array of 1, wanted an object of passage ids and integer grades"),
    ({"qrels": {"d1": 0.5}}, "qrels.d1: found 0.5, wanted an integer"),
    ({"qrels": {"d1": True}}, "qrels.d1: found true, wanted an integer"),
    ({"provenance": "p1"}, "provenance: found 'p1', wanted a list of sets of page ids, each a list"),
    ({"provenance": ["p1"]}, "provenance[0]: found 'p1', wanted a list of at least one page id"),
    ({"provenance": [["p1"], []]}, "provenance[1]: found an array of 0, wanted a list of at least one page id"),
    ({"provenance": [[7, ""]]}, "provenance[0].1: found '', wanted an integer or a string that is not empty"),
    ({"history": "x"}, "history: found 'x', wanted a list of objects with question and answer"),
    ({"history": [{"question": "Q?"}]}, "the field history[0].answer is missing, wanted a string"),
    (
        {"history": [{"question": "Q?", "answer": "A", "a": 1}]},
        "unknown key 'a' in history[0]; known: answer, question",
    ),
    ({"topic": None}, f"topic: found null, wanted {FACET}; known: {', '.join(jsonl.KEYS)}"),
    ({"pasages": ["x"]}, f"pasages: found an array of 1, wanted {FACET}; did you mean 'passages'?"),
    ({"noise_rate": "0.4"}, "noise_rate: found '0.4', wanted a number in 0..1"),
    ({"correct_rate": 1.5}, "correct_rate: found 1.5, wanted a number in 0..1"),
    ({"noise_realised": 0.4}, "the key 'noise_realised' is reserved by the plugin; rename it"),
    ({"min_n": 5}, "the key 'min_n' is reserved by the plugin; rename it"),
    ({"repeat": 2}, "the key 'repeat' is reserved by the plugin; rename it"),
    ({"dataset": "x"}, "the key 'dataset' is reserved by the plugin; rename it"),
    ({" ": "x"}, "found the key ' ', wanted a name that is not empty"),
    ({"to\x1bpic": []}, f"to\\x1bpic: found an array of 0, wanted {FACET}; known: {', '.join(jsonl.KEYS)}"),
]


def load(tmp_path: Path, *records: dict[str, object], name: str = "cases.jsonl") -> tuple[Instance, ...]:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return jsonl.load(path)


@pytest.mark.parametrize(("change", "message"), BAD_RECORDS)
def test_a_bad_record_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    good: dict[str, object] = {"id": "q", "question": "Q?", "answers": ["A"]}
    bad = {key: value for key, value in {**good, "id": "r", **change}.items() if value is not ...}
    with pytest.raises(DataError) as error:
        load(tmp_path, good, bad)
    assert str(error.value) == f"cases.jsonl:2: {message}"


@pytest.mark.parametrize("missing", ["id", "question"])
def test_a_required_field_that_is_missing_is_named(tmp_path: Path, missing: str) -> None:
    record: dict[str, object] = {"id": "q", "question": "Q?", "answers": ["A"]}
    del record[missing]
    with pytest.raises(DataError, match=rf"cases\.jsonl:1: the field {missing} is missing, wanted an? "):
        load(tmp_path, record)


def test_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    record: dict[str, object] = {"id": 7, "question": "Q?", "answers": ["A"]}
    with pytest.raises(DataError, match=r"cases\.jsonl:3: the id '7' is already in line 1, wanted each once"):
        load(tmp_path, record, {**record, "id": "8"}, {**record, "id": "7"})


def test_every_field_of_the_fixture_is_loaded(fixtures_dir: Path) -> None:
    instances = {i.id: i for i in jsonl.load(fixtures_dir / "datasets" / "cases.jsonl")}
    assert list(instances) == ["aliases", "string", "slots", "5", "unanswerable", "groups"]
    aliases = instances["aliases"]
    assert aliases.gold == (("1931", "in 1931"),)
    assert aliases.passages is None
    assert aliases.facets == {
        "dataset": "cases", "language": "en", "topic": "Bridges", "task": "extractive_qa",
        "year": "1931", "checked": "true", "weight": "0.5",
    }  # fmt: skip
    assert instances["string"].gold == (("1988年",),)
    assert instances["string"].language == instances["string"].facets["language"] == "zh"
    slots = instances["slots"]
    assert (slots.gold, slots.fake) == ((("Ash", "River Ash"), ("Tarn",)), (("Moor",), ("Elm",)))
    assert slots.passages is not None
    assert slots.passages[0] == Passage("d1", "At Corran the Ash meets the Tarn.", "Corran", "positive")
    assert slots.qrels == {"d1": 2, "d2": 0}
    assert slots.origin.endswith("datasets/cases.jsonl:3")
    five = instances["5"]
    assert five.fake == (("Tom Reed", "T. Reed"),)
    assert five.history == (Turn("When was the bridge opened?", "1931"),)
    assert [p.id for p in five.passages or ()] == ["d0", "d1"]
    unanswerable = instances["unanswerable"]
    assert (unanswerable.gold, unanswerable.answerable, unanswerable.passages) == ((), False, ())
    assert unanswerable.facets["answerable"] == "false"
    assert [p.group for p in instances["groups"].passages or ()] == [0, 1, None]


def test_provenance_is_alternative_sets_of_pages(tmp_path: Path) -> None:
    base: dict[str, object] = {"question": "Q?", "answers": ["A"]}
    sets, none = load(tmp_path, {**base, "id": 1, "provenance": [["p1", 2], ["p3"]]}, {**base, "id": 2})
    assert (sets.provenance, none.provenance) == ((("p1", "2"), ("p3",)), ())
    assert "provenance" not in sets.facets


def test_fake_answers_are_aliases_or_slots_like_the_gold(tmp_path: Path) -> None:
    base: dict[str, object] = {"question": "Q?"}
    one, two, three, four = load(
        tmp_path,
        {**base, "id": 1, "answers": "A", "fake_answers": "F"},
        {**base, "id": 2, "answers": "A", "fake_answers": [["F", "G"], "H"]},
        {**base, "id": 3, "slots": ["A"], "fake_answers": "F"},
        {**base, "id": 4, "slots": ["A"], "fake_answers": ["F", "G"]},
    )
    assert [i.fake for i in (one, two, three, four)] == [
        (("F",),), (("F", "G"), ("H",)), (("F",),), (("F",), ("G",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dataset"), [("a.jsonl", "a"), ("a.rag.jsonl", "a"), ("a-v1.2.jsonl", "a-v1.2"), ("a.json", "a")]
)
def test_the_dataset_is_the_name_of_the_file(tmp_path: Path, name: str, dataset: str) -> None:
    (instance,) = load(tmp_path, {"id": 1, "question": "Q?", "answers": "A"}, name=name)
    assert instance.facets["dataset"] == dataset


@pytest.mark.parametrize(("tag", "primary"), [("zh-CN", "zh"), ("zh_Hant_TW", "zh"), ("EN", "en"), (" pt-br ", "pt")])
def test_a_language_tag_is_reduced_to_its_primary_tag(tmp_path: Path, tag: str, primary: str) -> None:
    (instance,) = load(tmp_path, {"id": 1, "question": "Q?", "answers": "A", "language": tag})
    assert (instance.language, instance.facets["language"]) == (primary, primary)


@pytest.mark.parametrize("form", ["answers", "slots"])
def test_an_unanswerable_record_needs_no_answers(tmp_path: Path, form: str) -> None:
    (instance,) = load(tmp_path, {"id": 1, "question": "Q?", form: [], "answerable": False})
    assert (instance.gold, instance.answerable) == ((), False)


def test_a_record_keeps_its_language(tmp_path: Path) -> None:
    (instance,) = load(tmp_path, {"id": 1, "question": "Où ?", "answers": "A", "language": "fr"})
    assert (instance.language, instance.facets["language"]) == ("fr", "fr")


def test_a_record_may_be_unlabelled(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": "q1", "question": "When?", "labelled": false}\n', encoding="utf-8")
    (instance,) = jsonl.load(path)
    assert (instance.gold, instance.answerable, instance.facets["labelled"]) == ((), None, "false")


@pytest.mark.parametrize("key", [{"provenance": [["p1", "p2"]]}, {"qrels": {"d1": 1}}], ids=["provenance", "qrels"])
def test_a_record_with_retrieval_judgements_needs_no_gold(tmp_path: Path, key: dict[str, object]) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"id": "q1", "question": "Q?", **key}), encoding="utf-8")
    (instance,) = jsonl.load(path)
    assert (instance.gold, instance.answerable) == ((), None)
