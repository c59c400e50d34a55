"""Predictions of OmniEval and RGB, as cases and recorded answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets.imports import Importer, ImportRequest, ImportResult, omnieval_predictions, rgb_predictions
from pytest_rageval.errors import DataError

FUNDS = "投资 - 基金 - 抽取类问答.pred.jsonl"
TALKS = "投资 - 基金 - 多轮对话能力.pred.jsonl"
LINE: dict[str, Any] = {
    "id": "q1",
    "question": "Q?",
    "golden_answers": ["A"],
    "output": {"retrieval_result": [{"id": "c1", "title": "T", "contents": "C"}], "pred": "P"},
    "relevant_passage": ["R"],
    "relevant_node": "c1",
}


def took(importer: Importer, *paths: Path, system: str = "") -> ImportResult:
    taken = ImportResult()
    importer(ImportRequest(paths, system), taken)
    return taken


def written(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(line + "\n" for line in text), encoding="utf-8")
    return path


@pytest.fixture
def imports(fixtures_dir: Path) -> Path:
    return fixtures_dir / "imports"


def test_a_prediction_is_a_case_and_an_answer_of_one_id(imports: Path) -> None:
    taken = took(omnieval_predictions.import_rows, imports / "omnieval" / FUNDS, system="bge")
    assert taken.rows == 2
    assert taken.skipped == []
    assert taken.cases[1] == {
        "id": "1",
        "question": "青松基金何时成立？",
        "answers": ["2019年"],
        "topic_1": "投资",
        "topic": "基金",
        "task": "extractive_qa",
        "level": "knowledge_seeking",
        "passages": [{"id": "p0", "text": "管理费率为0.5%。", "role": "positive"}],
        "qrels": {"c8": 1},
    }
    assert taken.answers[1] == {
        "id": "1",
        "answer": "2018年",
        "ranking": [
            {"id": "c9", "text": "内容c9", "title": "标题c9"},
            {"id": "c8", "text": "内容c8", "title": "标题c8"},
        ],
        "system": "bge",
    }
    assert taken.fields == {"output.prompt": 2, "repeated passages of a ranking": 1}


def test_turns_that_share_an_id_are_numbered_and_know_those_before(imports: Path) -> None:
    taken = took(omnieval_predictions.import_rows, imports / "omnieval" / TALKS)
    assert [case["id"] for case in taken.cases] == ["0.1", "0.2", "1.1"]
    assert [answer["id"] for answer in taken.answers] == ["0.1", "0.2", "1.1"]
    assert [case["history"] for case in taken.cases] == [
        [],
        [{"question": "青松基金投资什么？", "answer": "债券"}],
        [],
    ]
    assert [(case["dialogue"], case["round"]) for case in taken.cases] == [("0", 1), ("0", 2), ("1", 1)]


def test_a_skipped_turn_is_missing_only_in_later_histories(tmp_path: Path) -> None:
    turns = [LINE, LINE | {"question": None}, LINE | {"question": "R?"}]
    taken = took(omnieval_predictions.import_rows, written(tmp_path / f"A - B - {TALKS[10:]}", *turns))
    assert [case["id"] for case in taken.cases] == ["q1.1", "q1.3"]
    assert taken.cases[1]["history"] == [{"question": "Q?", "answer": "A"}]
    assert len(taken.skipped) == 1


def test_ids_of_several_files_are_unique_as_in_the_dataset(imports: Path) -> None:
    taken = took(omnieval_predictions.import_rows, imports / "omnieval")
    assert sorted(str(case["id"]) for case in taken.cases) == [
        "保险-人寿保险-抽取类问答-0",
        "投资-基金-多轮对话能力-0.1",
        "投资-基金-多轮对话能力-0.2",
        "投资-基金-多轮对话能力-1.1",
        "投资-基金-抽取类问答-0",
        "投资-基金-抽取类问答-1",
    ]
    assert taken.notes == ["Several files have the same ids: each id starts with the name of its file."]


def test_a_closed_book_answer_has_no_ranking(tmp_path: Path) -> None:
    row = LINE | {"output": {"pred": "P", "retrieval_result": None}}
    taken = took(omnieval_predictions.import_rows, written(tmp_path / "A - B - C.pred.jsonl", row))
    assert taken.answers == [{"id": "q1", "answer": "P"}]


def test_distinct_ids_are_unchanged(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"A - B - {task}.pred.jsonl", LINE | {"id": task}) for task in ("x", "y")]
    assert [case["id"] for case in took(omnieval_predictions.import_rows, *paths).cases] == ["x", "y"]


def test_a_name_of_four_parts_has_a_domain_and_another_name_no_topic(tmp_path: Path) -> None:
    whole = took(
        omnieval_predictions.import_rows, written(tmp_path / "金融 - 投资 - 基金 - 对比类问答.pred.jsonl", LINE)
    )
    assert {key: whole.cases[0][key] for key in ("domain", "topic_1", "topic", "task")} == {
        "domain": "金融",
        "topic_1": "投资",
        "topic": "基金",
        "task": "contrast_qa",
    }
    bare = took(omnieval_predictions.import_rows, written(tmp_path / "all.jsonl", LINE))
    assert not {"domain", "topic_1", "topic", "task"} & set(bare.cases[0])
    assert "all.jsonl: the name is not <level 1> - <level 2> - <task>.pred.jsonl" in bare.notes[0]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": None}, "id: found null, wanted an integer or a string that is not empty"),
        ({"golden_answers": []}, "answers: found an array of 0, wanted a string that is not empty or"),
        ({"question": ""}, "question: found '', wanted a string that is not empty"),
        (
            {"output": None},
            "answer skipped: output: found null, wanted an object with pred and retrieval_result",
        ),
        ({"output": {}}, "answer skipped: the field output.pred is missing, wanted a string"),
        (
            {"output": {"pred": "P", "retrieval_result": [{}]}},
            "answer skipped: the field output.retrieval_result",
        ),
    ],
)
def test_skipped_rows_are_named(changed: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = written(tmp_path / "A - B - C.pred.jsonl", LINE, LINE | {"id": "q2"} | changed, "{", LINE | {"id": "q3"})
    taken = took(omnieval_predictions.import_rows, path)
    (where, first), (broken, _) = sorted(taken.skipped)
    assert where.endswith("A - B - C.pred.jsonl:2")
    assert first.startswith(why)
    assert broken.endswith("A - B - C.pred.jsonl:3")
    assert taken.rows == 4
    assert [answer["id"] for answer in taken.answers] == ["q1", "q3"]


def test_a_duplicate_question_in_a_file_without_conversations_is_skipped(tmp_path: Path) -> None:
    name = "A - B - 抽取类问答.pred.jsonl"
    taken = took(omnieval_predictions.import_rows, written(tmp_path / name, LINE, LINE, LINE | {"question": "R?"}))
    assert len(taken.cases) == len(taken.answers) == 1
    assert [why.partition(" is already ")[0] for _, why in taken.skipped] == [
        "an answer to 'q1'",
        "another case with the id 'q1'",
    ]


def test_a_folder_without_predictions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no file \*\.pred\.jsonl"):
        took(omnieval_predictions.import_rows, tmp_path)


def test_rgb_predictions_have_the_ids_of_their_dataset(imports: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    taken = took(rgb_predictions.import_rows, path)
    assert taken.skipped == []
    assert taken.cases[1] == {
        "id": "en_refine-18",
        "question": "Who runs the Grey Harbour museum, and since when?",
        "language": "en",
        "slots": ["Ann Reed", "2011"],
        "source": "en_refine",
        "noise_rate": 0.4,
        "passage_num": 2,
        "correct_rate": 0.0,
        "temperature": 0.2,
        "passages": ["The Grey Harbour shop opens at 10:00.", "The Grey Harbour museum opens at 9:00."],
    }
    assert taken.answers[1] == {"id": "en_refine-18", "answer": "insufficient information", "system": "gull-7b"}
    assert taken.fields == {"factlabel": 2, "label": 2}


def test_settings_in_which_files_differ_end_the_ids(imports: Path) -> None:
    taken = took(rgb_predictions.import_rows, imports / "rgb")
    assert [case["id"] for case in taken.cases] == [
        "en_refine-17-noise_rate=0.4",
        "en_refine-18-noise_rate=0.4",
        "en_refine-17-noise_rate=0.8",
    ]
    assert [answer["id"] for answer in taken.answers] == [case["id"] for case in taken.cases]


def test_two_models_answer_the_same_cases(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path / path.name.replace("gull-7b", "tern"))
    taken = took(rgb_predictions.import_rows, path, tmp_path)
    assert len(taken.cases) == 2
    assert [answer["system"] for answer in taken.answers] == ["gull-7b", "gull-7b", "tern", "tern"]
    assert taken.skipped == []


def test_files_of_rates_next_to_predictions_are_noted(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path)
    written(tmp_path / f"{path.stem}_result.json", {"all_rate": 0.5})
    taken = took(rgb_predictions.import_rows, tmp_path)
    assert (taken.rows, taken.skipped) == (2, [])
    [note] = taken.notes
    assert note.endswith("_result.json: skipped its rates, because the answers are scored again.")


def test_a_file_of_another_name_gives_its_name(tmp_path: Path) -> None:
    row = {"id": 3, "query": "Q?", "ans": "A", "prediction": "P", "docs": [], "noise_rate": 1.0}
    taken = took(rgb_predictions.import_rows, written(tmp_path / "mine.json", row))
    assert taken.cases == [
        {"id": "mine-3", "question": "Q?", "answers": "A", "source": "mine", "noise_rate": 1.0, "passages": []}
    ]
    assert taken.answers == [{"id": "mine-3", "answer": "P"}]


@pytest.mark.parametrize("noise", ["much", 2, True, [0.4]])
def test_an_invalid_noise_rate_is_named(noise: object, tmp_path: Path) -> None:
    row = {"id": 3, "query": "Q?", "ans": "A", "prediction": "P", "docs": [], "noise_rate": noise}
    taken = took(rgb_predictions.import_rows, written(tmp_path / "mine.json", row, row | {"id": 4, "noise_rate": 0.4}))
    [(where, why)] = taken.skipped
    assert where.endswith("mine.json:1")
    assert why.startswith("noise_rate: found ")
    assert [case["noise_rate"] for case in taken.cases] == [0.4]
    assert len(taken.answers) == 1


def test_temperatures_separate_the_files_of_one_model(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path / path.name.replace("temp0.2", "temp0.7"))
    taken = took(rgb_predictions.import_rows, path, tmp_path)
    assert taken.skipped == []
    assert [str(case["id"]).rpartition("-")[2] for case in taken.cases] == ["temperature=0.2"] * 2 + [
        "temperature=0.7"
    ] * 2
