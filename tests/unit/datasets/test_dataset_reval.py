"""Datasets in R-Eval's format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from pytest_rageval import lint
from pytest_rageval.datasets import BUILTIN, Loader, reval
from pytest_rageval.datasets.reval_tasks import TASKS
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance
from pytest_rageval.registry import Registry

GOOD: dict[str, object] = {
    "input": "Who?", "outputs": ["A"], "input_length": 1, "output_length": 1.0, "language": "en",
    "environment": "wiki", "dataset": "hotpotqa", "_id": "r1",
}  # fmt: skip

TASK_NAMES = ", ".join(TASKS)
STRING = "a string that is not empty"
ANSWERS = "a list of at least one answer, each a string that is not empty"

BAD_RECORDS: list[tuple[dict[str, object], str]] = [
    ({"input": ...}, f"the field input is missing, wanted {STRING}"),
    ({"input": " "}, f"input: found ' ', wanted {STRING}"),
    ({"outputs": ...}, f"the field outputs is missing, wanted {ANSWERS}"),
    ({"outputs": "A"}, f"outputs: found 'A', wanted {ANSWERS}"),
    ({"outputs": []}, f"outputs: found an array of 0, wanted {ANSWERS}"),
    ({"outputs": ["A", 7]}, f"outputs[1]: found 7, wanted {STRING}"),
    ({"outputs": [" "]}, f"outputs[0]: found ' ', wanted {STRING}"),
    ({"_id": None}, "_id: found null, wanted an integer or a string that is not empty"),
    ({"_id": "r0"}, "the _id 'r0' is already in 3-1_hotpotqa.jsonl:1, wanted each once"),
    ({"dataset": 3}, f"dataset: found 3, wanted {STRING}"),
    ({"environment": ""}, f"environment: found '', wanted {STRING}"),
    ({"ability": "x"}, "the key 'ability' is reserved by the plugin; rename it"),
]  # fmt: skip


def write(path: Path, *records: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def instance_of(path: Path, **change: object) -> Instance:
    """Return the instance of one record with these changes; ``...`` removes a key."""
    record = {key: value for key, value in {**GOOD, **change}.items() if value is not ...}
    (instance,) = reval.load(write(path, record))
    return instance


def test_the_format_is_registered_with_its_metrics() -> None:
    loaders: Registry[Loader] = Registry("dataset format", BUILTIN)
    assert loaders.get("reval") is reval.load
    assert reval.load.metrics == ("hotpot_f1", "exact_match")


@pytest.mark.parametrize(("change", "message"), BAD_RECORDS)
def test_a_bad_record_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = {key: value for key, value in {**GOOD, **change}.items() if value is not ...}
    with pytest.raises(DataError) as caught:
        reval.load(write(Path("3-1_hotpotqa.jsonl"), {**GOOD, "_id": "r0"}, bad))
    assert str(caught.value) == f"3-1_hotpotqa.jsonl:2: {message}"


def test_a_record_without_an_id_gets_the_published_id(tmp_path: Path) -> None:
    path = tmp_path / "any.jsonl"
    assert instance_of(path).id == "r1"
    text = (
        '{"input": "Wie gro\\u00df?", "outputs": ["A"], "input_length": 1, "output_length": 1.0, '
        '"language": "en", "environment": "wiki", "dataset": "hotpotqa"}'
    )
    assert (
        instance_of(path, _id=..., input="Wie groß?").id
        == hashlib.sha256(f"Tsinghua KoLA2 {text}".encode()).hexdigest()
    )


@pytest.mark.parametrize("key", TASKS)
def test_each_published_task_has_its_facets_with_any_file_name(tmp_path: Path, key: str) -> None:
    task = TASKS[key]
    environment = {"wiki": "wiki", "aminer": "scholar"}[task.domain]
    for name in ("x.jsonl", f"{task.id}_{key}.jsonl", f"2-8_{key}.jsonl"):
        facets = instance_of(tmp_path / name, dataset=key, environment=task.domain).facets
        assert facets == {
            "dataset": key, "task": key, "task_id": task.id, "level": task.level, "domain": task.domain,
            "environment": environment, "language": "en",
            **({"gold_kind": "label"} if key in ("profiling", "cpj") else {}),
        }  # fmt: skip
    assert instance_of(tmp_path / f"{task.id}_{key}.jsonl", dataset=..., environment=...).facets == facets


def test_another_dataset_needs_a_level_in_its_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    facets = instance_of(Path("2-9_mine.jsonl"), dataset="mine", environment="desk", topic="Hours").facets
    assert facets == {
        "dataset": "mine", "task": "mine", "task_id": "2-9", "level": "knowledge_understanding", "domain": "desk",
        "environment": "desk", "language": "en", "topic": "Hours",
    }  # fmt: skip
    hint = "name the file as 3-7_NAME.jsonl, in which 3 is the level, from 1 to 3"
    for name in ("mine.jsonl", "4-1_mine.jsonl", "0-1_mine.jsonl"):
        with pytest.raises(DataError) as caught:
            instance_of(Path(name), dataset="mine")
        assert str(caught.value) == f"{name}:1: dataset: found 'mine', wanted one of {TASK_NAMES}; or {hint}"
    with pytest.raises(DataError, match="the field dataset is missing"):
        instance_of(Path("mine.jsonl"), dataset=...)
    with pytest.raises(DataError, match="the field environment is missing"):
        instance_of(Path("1-7_mine.jsonl"), dataset=..., environment=...)


@pytest.mark.parametrize(
    ("outputs", "gold"),
    [
        (["A", "B", "A"], (("A", "B"),)),
        (["['AI', 'ML']"], (("AI",), ("ML",))),
        (["['AI', 'ML']", "['ML', 'AI']"], (("AI",), ("ML",))),
        (["['AI']", "AI", "KI"], (("AI", "KI"),)),
        (["['AI', 'ML']", "['AI', 'NLP']"], (("['AI', 'ML']", "['AI', 'NLP']"),)),
        (["['AI', 'ML']", "none"], (("['AI', 'ML']", "none"),)),
        (["[]"], (("[]",),)),
        (["[1, 2]"], (("[1, 2]",),)),
        (["['AI', ' ']"], (("['AI', ' ']",),)),
        (["('AI', 'ML')"], (("('AI', 'ML')",),)),
        (["[__import__('os').getcwd()]"], (("[__import__('os').getcwd()]",),)),
        (["['unclosed"], (("['unclosed",),)),
        (["[" * 5000], (("[" * 5000,),)),
    ],
    ids=str,
)
def test_a_list_of_texts_becomes_slots_without_evaluating_code(
    tmp_path: Path, outputs: list[str], gold: tuple[tuple[str, ...], ...]
) -> None:
    assert instance_of(tmp_path / "q.jsonl", outputs=outputs).gold == gold


def test_a_folder_loads_its_tasks_and_reports_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("season")
    write(folder / "3-1_hotpotqa.jsonl", GOOD)
    write(folder / "1-3_soay_easy.jsonl", {**GOOD, "_id": "r2", "dataset": "soay_easy", "environment": "aminer"})
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    (folder / "3-2_old").mkdir()
    assert [each.id for each in reval.load(folder)] == ["r2", "r1"]
    assert [path.name for path in reval.load.files(folder)] == ["1-3_soay_easy.jsonl", "3-1_hotpotqa.jsonl"]
    why = "its name is not <id>_<dataset>.jsonl"
    assert list(reval.load.left_out(folder)) == [("season/3-2_old", why), ("season/notes.txt", why)]
    assert list(reval.load.left_out(folder / "3-1_hotpotqa.jsonl")) == []
    findings = [(each.check, each.origin) for each in lint("reval:season") if each.check == "left_out"]
    assert findings == [("left_out", "season/3-2_old"), ("left_out", "season/notes.txt")]
    write(folder / "3-2_musique.jsonl", GOOD)
    with pytest.raises(DataError) as caught:
        reval.load(folder)
    problem = "the _id 'r1' is already in season/3-1_hotpotqa.jsonl:1, wanted each once"
    assert str(caught.value) == f"season/3-2_musique.jsonl:1: {problem}"


def test_a_folder_without_such_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("season/questions.jsonl"), GOOD)
    with pytest.raises(DataError) as caught:
        reval.load(Path("season"))
    problem = "holds no file <id>_<dataset>.jsonl; name one file, or rename the files"
    assert str(caught.value) == f"season: {problem}"
