"""Import predictions of OmniEval and RGB as cases and recorded answers."""

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


def run_import(importer: Importer, *paths: Path, system: str = "") -> ImportResult:
    result = ImportResult()
    importer(ImportRequest(paths, system), result)
    return result


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(line + "\n" for line in text), encoding="utf-8")
    return path


@pytest.fixture
def imports(fixtures_dir: Path) -> Path:
    return fixtures_dir / "imports"


def test_a_prediction_is_a_case_and_an_answer_with_one_id(imports: Path) -> None:
    result = run_import(omnieval_predictions.import_rows, imports / "omnieval" / FUNDS, system="bge")
    assert result.rows == 2
    assert result.skipped == []
    assert result.cases[1] == {
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
    assert result.answers[1] == {
        "id": "1",
        "answer": "2018年",
        "ranking": [
            {"id": "c9", "text": "内容c9", "title": "标题c9"},
            {"id": "c8", "text": "内容c8", "title": "标题c8"},
        ],
        "system": "bge",
    }
    assert result.fields == {"output.prompt": 2, "repeated passages of a ranking": 1}


def test_turns_with_one_id_are_numbered_and_have_the_earlier_turns_as_history(imports: Path) -> None:
    result = run_import(omnieval_predictions.import_rows, imports / "omnieval" / TALKS)
    assert [case["id"] for case in result.cases] == ["0.1", "0.2", "1.1"]
    assert [answer["id"] for answer in result.answers] == ["0.1", "0.2", "1.1"]
    assert [case["history"] for case in result.cases] == [
        [],
        [{"question": "青松基金投资什么？", "answer": "债券"}],
        [],
    ]
    assert [(case["dialogue"], case["round"]) for case in result.cases] == [("0", 1), ("0", 2), ("1", 1)]


def test_a_skipped_turn_is_missing_only_in_later_histories(tmp_path: Path) -> None:
    turns = [LINE, LINE | {"question": None}, LINE | {"question": "R?"}]
    result = run_import(omnieval_predictions.import_rows, write(tmp_path / f"A - B - {TALKS[10:]}", *turns))
    assert [case["id"] for case in result.cases] == ["q1.1", "q1.3"]
    assert result.cases[1]["history"] == [{"question": "Q?", "answer": "A"}]
    assert len(result.skipped) == 1


def test_ids_from_several_files_start_with_the_file_name(imports: Path) -> None:
    result = run_import(omnieval_predictions.import_rows, imports / "omnieval")
    assert sorted(str(case["id"]) for case in result.cases) == [
        "保险-人寿保险-抽取类问答-0",
        "投资-基金-多轮对话能力-0.1",
        "投资-基金-多轮对话能力-0.2",
        "投资-基金-多轮对话能力-1.1",
        "投资-基金-抽取类问答-0",
        "投资-基金-抽取类问答-1",
    ]
    assert result.notes == ["Several files have the same ids: each id starts with the name of its file."]


def test_a_closed_book_answer_has_no_ranking(tmp_path: Path) -> None:
    row = LINE | {"output": {"pred": "P", "retrieval_result": None}}
    result = run_import(omnieval_predictions.import_rows, write(tmp_path / "A - B - C.pred.jsonl", row))
    assert result.answers == [{"id": "q1", "answer": "P"}]


def test_distinct_ids_are_unchanged(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"A - B - {task}.pred.jsonl", LINE | {"id": task}) for task in ("x", "y")]
    assert [case["id"] for case in run_import(omnieval_predictions.import_rows, *paths).cases] == ["x", "y"]


def test_a_file_name_of_four_parts_gives_a_domain_and_an_unknown_name_no_topic(tmp_path: Path) -> None:
    four_parts = run_import(
        omnieval_predictions.import_rows, write(tmp_path / "金融 - 投资 - 基金 - 对比类问答.pred.jsonl", LINE)
    )
    assert {key: four_parts.cases[0][key] for key in ("domain", "topic_1", "topic", "task")} == {
        "domain": "金融",
        "topic_1": "投资",
        "topic": "基金",
        "task": "contrast_qa",
    }
    unknown_name = run_import(omnieval_predictions.import_rows, write(tmp_path / "all.jsonl", LINE))
    assert not {"domain", "topic_1", "topic", "task"} & set(unknown_name.cases[0])
    assert "all.jsonl: the name is not <level 1> - <level 2> - <task>.pred.jsonl" in unknown_name.notes[0]


@pytest.mark.parametrize(
    ("change", "why"),
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
def test_skipped_rows_are_reported(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "A - B - C.pred.jsonl", LINE, LINE | {"id": "q2"} | change, "{", LINE | {"id": "q3"})
    result = run_import(omnieval_predictions.import_rows, path)
    (where, first), (broken, _) = sorted(result.skipped)
    assert where.endswith("A - B - C.pred.jsonl:2")
    assert first.startswith(why)
    assert broken.endswith("A - B - C.pred.jsonl:3")
    assert result.rows == 4
    assert [answer["id"] for answer in result.answers] == ["q1", "q3"]


def test_a_duplicate_question_in_a_file_without_conversations_is_skipped(tmp_path: Path) -> None:
    name = "A - B - 抽取类问答.pred.jsonl"
    result = run_import(omnieval_predictions.import_rows, write(tmp_path / name, LINE, LINE, LINE | {"question": "R?"}))
    assert len(result.cases) == len(result.answers) == 1
    assert [why.partition(" is already ")[0] for _, why in result.skipped] == [
        "an answer to 'q1'",
        "another case with the id 'q1'",
    ]


def test_a_folder_without_predictions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no file \*\.pred\.jsonl"):
        run_import(omnieval_predictions.import_rows, tmp_path)


def test_rgb_predictions_have_the_ids_of_their_dataset(imports: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    result = run_import(rgb_predictions.import_rows, path)
    assert result.skipped == []
    assert result.cases[1] == {
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
    assert result.answers[1] == {"id": "en_refine-18", "answer": "insufficient information", "system": "gull-7b"}
    assert result.fields == {"factlabel": 2, "label": 2}


def test_ids_end_with_the_settings_that_differ_between_files(imports: Path) -> None:
    result = run_import(rgb_predictions.import_rows, imports / "rgb")
    assert [case["id"] for case in result.cases] == [
        "en_refine-17-noise_rate=0.4",
        "en_refine-18-noise_rate=0.4",
        "en_refine-17-noise_rate=0.8",
    ]
    assert [answer["id"] for answer in result.answers] == [case["id"] for case in result.cases]


def test_two_models_answer_the_same_cases(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path / path.name.replace("gull-7b", "tern"))
    result = run_import(rgb_predictions.import_rows, path, tmp_path)
    assert len(result.cases) == 2
    assert [answer["system"] for answer in result.answers] == ["gull-7b", "gull-7b", "tern", "tern"]
    assert result.skipped == []


def test_files_of_rates_are_skipped_with_a_note(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path)
    write(tmp_path / f"{path.stem}_result.json", {"all_rate": 0.5})
    result = run_import(rgb_predictions.import_rows, tmp_path)
    assert (result.rows, result.skipped) == (2, [])
    [note] = result.notes
    assert note.endswith("_result.json: skipped its rates, because the answers are scored again.")


def test_ids_start_with_the_file_name_if_it_is_not_a_published_one(tmp_path: Path) -> None:
    row = {"id": 3, "query": "Q?", "ans": "A", "prediction": "P", "docs": [], "noise_rate": 1.0}
    result = run_import(rgb_predictions.import_rows, write(tmp_path / "mine.json", row))
    assert result.cases == [
        {"id": "mine-3", "question": "Q?", "answers": "A", "source": "mine", "noise_rate": 1.0, "passages": []}
    ]
    assert result.answers == [{"id": "mine-3", "answer": "P"}]


@pytest.mark.parametrize("noise", ["much", 2, True, [0.4]])
def test_an_invalid_noise_rate_is_reported(noise: object, tmp_path: Path) -> None:
    row = {"id": 3, "query": "Q?", "ans": "A", "prediction": "P", "docs": [], "noise_rate": noise}
    result = run_import(
        rgb_predictions.import_rows, write(tmp_path / "mine.json", row, row | {"id": 4, "noise_rate": 0.4})
    )
    [(where, why)] = result.skipped
    assert where.endswith("mine.json:1")
    assert why.startswith("noise_rate: found ")
    assert [case["noise_rate"] for case in result.cases] == [0.4]
    assert len(result.answers) == 1


def test_ids_end_with_the_temperature_if_files_of_one_model_differ(imports: Path, tmp_path: Path) -> None:
    [path, _] = sorted((imports / "rgb").iterdir())
    shutil.copy(path, tmp_path / path.name.replace("temp0.2", "temp0.7"))
    result = run_import(rgb_predictions.import_rows, path, tmp_path)
    assert result.skipped == []
    assert [str(case["id"]).rpartition("-")[2] for case in result.cases] == ["temperature=0.2"] * 2 + [
        "temperature=0.7"
    ] * 2
