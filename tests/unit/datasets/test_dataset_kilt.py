"""Datasets in KILT's format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets import BUILTIN, Loader, kilt
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance
from pytest_rageval.registry import Registry

OUTPUT: list[object] = [{"answer": "A", "provenance": [{"wikipedia_id": "1"}]}]
GOOD: dict[str, object] = {"id": "q", "input": "Q?", "output": OUTPUT}

BAD_RECORDS: list[tuple[dict[str, object], str]] = [
    ({"id": None}, "id: found null, wanted an integer or a string that is not empty"),
    ({"input": ...}, "the field input is missing, wanted a string that is not empty"),
    ({"input": " "}, "input: found ' ', wanted a string that is not empty"),
    (
        {"output": ..., "outputs": 1},
        "the field output is missing, wanted a list of objects with answer and provenance; "
        "the key 'outputs' is similar",
    ),
    ({"output": "A"}, "output: found 'A', wanted a list of objects with answer and provenance"),
    ({"output": ["A"]}, "output[0]: found 'A', wanted a list of objects with answer and provenance"),
    ({"output": [{"answer": 7}]}, "output[0].answer: found 7, wanted a string"),
    (
        {"output": [{"answer": "A", "provenance": {}}]},
        "output[0].provenance: found an object, wanted a list of objects with wikipedia_id",
    ),
    (
        {"output": [{"provenance": [{"title": "T"}]}]},
        "the field output[0].provenance[0].wikipedia_id is missing, wanted an integer or a string that is not empty",
    ),
    (
        {"output": [{"provenance": [{"wikipedia_id": 1.5}]}]},
        "output[0].provenance[0].wikipedia_id: found 1.5, wanted an integer or a string that is not empty",
    ),
    (
        {"output": [{"answer": " "}]},
        "output: found no answer and no provenance, wanted at least one of them",
    ),
    ({"language": 3}, "language: found 3, wanted a string that is not empty"),
    ({"dataset": "x"}, "the key 'dataset' is reserved by the plugin; rename it"),
]


def load(tmp_path: Path, *records: dict[str, object], name: str = "q.jsonl") -> tuple[Instance, ...]:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return kilt.load(path)


@pytest.mark.parametrize(("change", "message"), BAD_RECORDS)
def test_a_bad_record_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = {key: value for key, value in {**GOOD, "id": "r", **change}.items() if value is not ...}
    with pytest.raises(DataError) as error:
        load(tmp_path, GOOD, bad)
    assert str(error.value) == f"q.jsonl:2: {message}"


def test_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"q\.jsonl:2: the id '7' is already in line 1, wanted each once"):
        load(tmp_path, {**GOOD, "id": 7}, {**GOOD, "id": "7"})


def test_answers_are_aliases_and_each_provenance_is_an_evidence_set(fixtures_dir: Path) -> None:
    lamp, seven, unanswered = kilt.load(fixtures_dir / "datasets" / "nq-dev-kilt.jsonl")
    assert (lamp.id, lamp.question) == ("lamp", "who lit the first lamp of Ostrava lighthouse")
    assert lamp.gold == (("Ana Brook", "A. Brook"),)
    assert lamp.provenance == (("410", "411"), ("412",))
    assert (lamp.passages, dict(lamp.qrels)) == (None, {})
    assert lamp.facets == {"dataset": "nq-dev-kilt", "language": "en", "task": "open_domain_qa"}
    assert lamp.origin.endswith("nq-dev-kilt.jsonl:1")
    assert (seven.id, seven.language, seven.gold, seven.provenance) == ("7", "zh", (("1902年",),), ())
    assert (unanswered.gold, unanswered.provenance) == ((), (("410",), ()))


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("fever-train-kilt", "fact_checking"),
        ("triviaqa-dev_id-kilt", "open_domain_qa"),
        ("structured_zeroshot-test_without_answers-kilt", "slot_filling"),
        ("wow-dev", None),
        ("mine-dev-kilt", None),
        ("mywow-dev-kilt", None),
    ],
)
def test_only_published_file_names_give_the_task(tmp_path: Path, name: str, task: str | None) -> None:
    (instance,) = load(tmp_path, GOOD, name=f"{name}.jsonl")
    assert instance.facets.get("task") == task


def test_an_extra_key_becomes_a_facet_and_overrides_that_of_the_file(tmp_path: Path) -> None:
    (instance,) = load(tmp_path, {**GOOD, "task": "mine", "meta": {"x": [1]}, "topic": 3}, name="nq-dev-kilt.jsonl")
    assert instance.facets == {"dataset": "nq-dev-kilt", "language": "en", "task": "mine", "topic": "3"}


def test_ralle_files_use_the_same_loader() -> None:
    formats: Registry[Loader] = Registry("dataset format", BUILTIN)
    assert formats.get("ralle") is formats.get("kilt") is kilt.load
