"""Results and judges' replies of OmniEval, as scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.imports import Order, Taken, omnieval_replies, omnieval_results
from pytest_rageval.errors import DataError, SettingError

NAME = "evaluation_result_投资 - 基金 - 抽取类问答.jsonl"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    rows = [{"id": name, "topic": "基金", "task": "extractive_qa"} for name in ("q1", "q2")]
    rows.append({"id": "q3", "topic": "股票市场", "task": "extractive_qa"})
    lines = (json.dumps({"question": "Q?", "answers": ["A"], "topic_1": "投资", **row}) for row in rows)
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def took(path: Path, cases: Path | None, system: str = "") -> Taken:
    taken = Taken()
    omnieval_results.take(Order((path,), system, cases), taken)
    return taken


def result(folder: Path, lists: dict[str, object], name: str = NAME) -> Path:
    maps = {metric: {"mean": float("nan"), "list": values} for metric, values in lists.items()}
    path = folder / name
    path.write_text(json.dumps({"generation_res_map": maps}, indent=2), encoding="utf-8")
    return path


def test_each_value_is_a_score_of_its_case(fixtures_dir: Path, cases: Path) -> None:
    taken = took(fixtures_dir / "imports" / "omnieval", cases, "bge")
    assert [(row["metric"], row["id"], row.get("value", row.get("reason"))) for row in taken.scores] == [
        ("RR", "q1", 1.0),
        ("RR", "q2", 0.5),
        ("accuracy_judged", "q1", 1.0),
        ("accuracy_judged", "q2", "not_applicable_or_parse_error"),
        ("hallucination", "q1", 0.0),
        ("hallucination", "q2", "out_of_range"),
        ("rouge_1", "q1", 0.8),
        ("rouge_2", "q1", 0.5),
        ("rouge_l", "q1", 0.799999995),
        ("rouge_1", "q2", 5e-09),
        ("rouge_2", "q2", 0.1),
        ("rouge_l", "q2", 5e-09),
    ]
    assert {row["system"] for row in taken.scores} == {"bge"}
    [(where, why)] = taken.left
    assert where.endswith(f"{NAME}:hallucination")
    assert why == "hallucination of 'q2' is out_of_range: '2.0'"


def test_a_result_that_names_no_topic_is_of_all_cases(tmp_path: Path, cases: Path) -> None:
    taken = took(result(tmp_path, {"completeness": "0.5,-1,1.5"}, "evaluation_result_all.jsonl"), cases)
    assert [(row["id"], row.get("value"), row.get("reason")) for row in taken.scores] == [
        ("q1", 0.5, None),
        ("q2", None, "not_applicable_or_parse_error"),
        ("q3", None, "out_of_range"),
    ]


def test_the_folder_may_name_the_topic(tmp_path: Path, cases: Path) -> None:
    folder = tmp_path / "投资 - 股票市场 - 抽取类问答"
    folder.mkdir()
    taken = took(result(folder, {"em": [1.0]}, "evaluation_result_x.jsonl"), cases)
    assert taken.scores == [{"id": "q3", "metric": "omnieval_em_compat", "value": 1.0}]


def test_what_is_no_value_has_a_reason(tmp_path: Path, cases: Path) -> None:
    lists: dict[str, object] = {"f1": "nan,x", "em": "-1,1", "utilization": "1e-3,inf", "rouge": "0.1-0.2,0-0-0"}
    taken = took(result(tmp_path, lists), cases)
    assert [row.get("value", row.get("reason")) for row in taken.scores] == [
        *("not_a_number", "not_a_number", "out_of_range", 1.0, 0.001, "out_of_range"),
        *("not_a_number",) * 3,
        *(0.0,) * 3,
    ]
    assert len(taken.left) == 7


def test_a_list_of_another_length_is_left_whole(tmp_path: Path, cases: Path) -> None:
    taken = took(result(tmp_path, {"f1": "0.5", "em": "1,0", "accuracy": None}), cases)
    assert [row["metric"] for row in taken.scores] == ["omnieval_em_compat"] * 2
    assert [why.partition(",")[0] for _, why in taken.left] == [
        "found 1 values for 2 cases",
        "found an object",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", r"found an object without retrieval_res_map or generation_res_map; name a result of OmniEval"),
        ("[1]", r"found an array of 1 without"),
        ("{", r"is not one JSON object: Expecting property name"),
    ],
)
def test_another_file_is_an_error(text: str, problem: str, tmp_path: Path, cases: Path) -> None:
    path = tmp_path / "evaluation_result_x.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=problem):
        took(path, cases)


def test_a_result_needs_its_cases(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"say --cases FILE"):
        took(tmp_path / NAME, None)


def test_replies_are_read_as_published(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "metric": "accuracy", "reply": '{"prediction": 2}', "system": "a"},
        {"id": 1, "metric": "accuracy", "reply": '{"prediction": 2}', "system": "a"},
        {"id": 1, "metric": "hallucination", "reply": "{'prediction': 2}", "judge": "j"},
        {"id": 2, "metric": "completeness", "reply": "no idea"},
        {"id": 2, "reply": "{}"},
    ]
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    taken = Taken()
    omnieval_replies.take(Order((path,)), taken)
    assert taken.scores == [
        {"id": "1", "metric": "accuracy_judged", "system": "a", "value": 1.0},
        {"id": "1", "metric": "hallucination", "reason": "out_of_range"},
        {"id": "2", "metric": "completeness", "reason": "not_applicable_or_parse_error"},
    ]
    assert [where[-2:] for where, _ in taken.left] == [":2", ":3", ":5"]
    assert taken.fields == {"judge": 1}
