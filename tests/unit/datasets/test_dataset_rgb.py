"""Datasets in RGB's format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets import rgb
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance

FILES = ("en", "en_refine", "en_int", "en_fact", "zh", "zh_refine", "zh_int", "zh_fact")

BASE: dict[str, object] = {"id": 1, "query": "Q?", "answer": "A", "positive": ["p"], "negative": ["n"]}
FACT = {**BASE, "fakeanswer": "F", "positive_wrong": ["w"]}

BAD_RECORDS: list[tuple[dict[str, object], str]] = [
    ({**BASE, "id": [1]}, "id: found an array of 1, wanted an integer or a string that is not empty"),
    ({**BASE, "query": 3}, "query: found 3, wanted a string that is not empty"),
    ({**BASE, "answer": []}, "answer: found an array of 0, wanted a list of slots, each a string or a list of strings"),
    ({**BASE, "answer": [["A", None]]}, "answer[0][1]: found null, wanted a string that is not empty"),
    ({**BASE, "answer": None}, "answer: found null, wanted a string that is not empty or a list of at least one"),
    ({**BASE, "positive": "p"}, "positive: found 'p', wanted a list of strings, or of lists of strings"),
    ({**BASE, "positive": ["p", 1]}, "positive[1]: found 1, wanted a string"),
    ({**BASE, "positive": [["p"], "q"]}, "positive[1]: found 'q', wanted a list of at least one string, as in"),
    ({**BASE, "positive": [["p"], []]}, "positive[1]: found an array of 0, wanted a list of at least one string"),
    ({**BASE, "positive": [["p", None]]}, "positive[0][1]: found null, wanted a string"),
    ({**BASE, "negative": None}, "negative: found null, wanted a list of strings"),
    ({**FACT, "positive_wrong": []}, "found 0 positive_wrong for 1 positive, wanted one for each, in order"),
    ({**FACT, "positive_wrong": ["v", "w"]}, "found 2 positive_wrong for 1 positive, wanted one for each, in order"),
    ({**FACT, "fakeanswer": [1]}, "fakeanswer[0]: found 1, wanted a string that is not empty or a list of"),
    ({**BASE, "topic": ["x"]}, "topic: found an array of 1, wanted a string, number or boolean, because"),
    ({**BASE, "ability": "x"}, "the key 'ability' is reserved by the plugin; rename it"),
]  # fmt: skip


def load(tmp_path: Path, *records: dict[str, object], name: str = "en_x.json") -> tuple[Instance, ...]:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return rgb.load(path)


@pytest.mark.parametrize(("record", "message"), BAD_RECORDS)
def test_a_bad_record_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as error:
        load(tmp_path, {**BASE, "id": 0}, record)
    assert str(error.value).startswith(f"en_x.json:2: {message}")


@pytest.mark.parametrize("missing", ["query", "answer", "positive", "negative", "fakeanswer", "positive_wrong"])
def test_a_required_field_that_is_missing_is_named(tmp_path: Path, missing: str) -> None:
    record = {key: value for key, value in FACT.items() if key != missing}
    with pytest.raises(DataError, match=rf"en_x\.json:1: the field {missing} is missing, wanted a"):
        load(tmp_path, record)


def test_a_duplicate_id_as_number_and_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"en_x\.json:2: the id '1' is already in line 1, wanted each once"):
        load(tmp_path, BASE, {**BASE, "id": "1"})


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_loads(fixtures_dir: Path, name: str) -> None:
    instances = rgb.load(fixtures_dir / "datasets" / "rgb" / f"{name}.json")
    assert instances
    for instance in instances:
        assert instance.id.startswith(f"{name}-")
        assert instance.facets["dataset"] == name
        assert instance.language == instance.facets["language"] == name[:2]
        assert instance.gold
        roles = {p.role for p in instance.passages or ()}
        assert ("counterfactual" in roles) == bool(instance.fake) == ("fact" in name)
        assert any(p.group is not None for p in instance.passages or ()) == ("int" in name)


def test_answers_may_have_four_shapes(fixtures_dir: Path) -> None:
    golds = [i.gold for i in rgb.load(fixtures_dir / "datasets" / "rgb" / "en.json")]
    assert golds == [
        (("1931",),),
        (("Ida Brandt",),),
        (("1 June", "June 1", "June 1st"),),
        (("Ash", "River Ash"), ("Tarn", "River Tarn"), ("Wexley",)),
        (("green",),),
    ]


def test_passages_have_ids_roles_and_groups(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "datasets" / "rgb"
    fact = rgb.load(folder / "zh_fact.json")[0]
    assert [(p.id, p.role) for p in fact.passages or ()] == [
        ("p0", "positive"), ("p1", "positive"), ("w0", "counterfactual"), ("w1", "counterfactual"), ("n0", "negative"),
    ]  # fmt: skip
    assert fact.fake == (("南桥",), ("北桥",))
    integration = rgb.load(folder / "zh_int.json")[0]
    assert [(p.id, p.group) for p in integration.passages or ()] == [
        ("p0.0", 0), ("p0.1", 0), ("p1.0", 1), ("n0", None), ("n1", None), ("n2", None),
    ]  # fmt: skip
    assert not {"answer1", "answer2"} & set(integration.facets)


def test_other_keys_become_facets_and_string_ids_are_kept(fixtures_dir: Path) -> None:
    instances = rgb.load(fixtures_dir / "datasets" / "rgb" / "en.json")
    assert instances[2].facets == {"dataset": "en", "language": "en", "topic": "Fairs", "task": "extractive_qa"}
    assert instances[3].id == "en-3b"


def test_an_array_crlf_and_a_byte_order_mark_give_the_same_records(fixtures_dir: Path, tmp_path: Path) -> None:
    folder = fixtures_dir / "datasets" / "rgb"
    lines = (folder / "en.json").read_bytes()
    (tmp_path / "en.json").write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"))
    (tmp_path / "en_array.json").write_bytes(lines)
    plain = rgb.load(tmp_path / "en_array.json")
    assert [i.id for i in rgb.load(tmp_path / "en.json")] == [i.id for i in rgb.load(folder / "en.json")]
    assert [(i.id, i.gold, i.passages) for i in rgb.load(folder / "en_array.json")] == [
        (i.id, i.gold, i.passages) for i in plain[:3]
    ]


@pytest.mark.parametrize(
    ("name", "query", "language"),
    [("zh_x.json", "Q?", "zh"), ("en.json", "问", "en"), ("mine.json", "问", "zh"), ("energy.json", "问", "zh")],
)
def test_the_language_comes_from_the_record_the_file_name_or_the_question(
    tmp_path: Path, name: str, query: str, language: str
) -> None:
    (instance,) = load(tmp_path, {**BASE, "query": query}, name=name)
    assert instance.language == language
    (instance,) = load(tmp_path, {**BASE, "query": query, "language": "fr-CA"}, name=name)
    assert instance.language == instance.facets["language"] == "fr"


@pytest.mark.parametrize(
    ("name", "rows", "passages"),
    [("en_base", 300, 0), ("en_fact", 100, 0), ("zh_fact", 100, 0), ("zh_refine", 300, 7715)],
)
def test_the_published_files_load(rageval_data: Path, name: str, rows: int, passages: int) -> None:
    instances = rgb.load(rageval_data / "rgb" / f"{name}.json")
    assert len(instances) == len({i.id for i in instances}) == rows
    assert {i.language for i in instances} == {name[:2]}
    if passages:
        assert sum(len(i.passages or ()) for i in instances) == passages
