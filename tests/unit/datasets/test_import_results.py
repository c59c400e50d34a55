"""Results and judges' replies of OmniEval, as scores."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from pytest_rageval.datasets.imports import (
    ImportRequest,
    ImportResult,
    omnieval_predictions,
    omnieval_replies,
    omnieval_results,
)
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, SettingError

FUNDS = "投资 - 基金 - 抽取类问答.pred.jsonl"
STOCKS = "投资 - 股票市场 - 抽取类问答.pred.jsonl"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    rows = [{"id": name, "topic": "基金", "task": "extractive_qa"} for name in ("q1", "q2")]
    rows.append({"id": "q3", "topic": "股票市场", "task": "extractive_qa"})
    lines = (json.dumps({"question": "Q?", "answers": ["A"], "topic_1": "投资", **row}) for row in rows)
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def took(path: Path, cases: Path | None, system: str = "") -> ImportResult:
    taken = ImportResult()
    omnieval_results.import_rows(ImportRequest((path,), system, cases), taken)
    return taken


def line(lists: dict[str, object], file: str = FUNDS) -> JsonObject:
    """Return a line of a result; means are not read."""
    maps = {metric: {"mean": float("nan"), "list": values} for metric, values in lists.items()}
    return {file: {"retrieval_res_map": None, "generation_res_map": maps}}


def result(folder: Path, *lines: object, judge: str = "rule") -> Path:
    path = folder / f"evaluation_result_{judge}.jsonl"
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def told(taken: ImportResult) -> list[tuple[object, object, object]]:
    return [(row["id"], row["metric"], row.get("value", row.get("reason"))) for row in taken.scores]


def test_results_of_all_judges_are_imported_whole(fixtures_dir: Path, tmp_path: Path) -> None:
    """The folder holds predictions of three topics and tasks, and what three judges say of their six answers."""
    folder, imported = fixtures_dir / "imports" / "omnieval", ImportResult()
    omnieval_predictions.import_rows(ImportRequest((folder,)), imported)
    cases = tmp_path / "cases.jsonl"
    cases.write_text("\n".join(map(json.dumps, imported.cases)), encoding="utf-8")
    taken = took(folder, cases, "bge")
    written = [
        values["list"].split(",")
        for path in folder.glob("evaluation_result_*.jsonl")
        for text in path.read_text(encoding="utf-8").splitlines()
        for file, maps in json.loads(text).items()
        if file.endswith(".pred.jsonl")
        for metrics in maps.values()
        for values in (metrics or {}).values()
    ]
    assert taken.rows == sum(map(len, written)) == 6 * 8
    assert len(taken.scores) == 6 * 10  # ROUGE is three metrics
    assert {row["system"] for row in taken.scores} == {"bge"}
    assert {str(row["metric"]) for row in taken.scores} == {
        *("RR", "omnieval_map_compat", "omnieval_em_compat", "omnieval_f1_compat", "rouge_1", "rouge_2", "rouge_l"),
        *("accuracy_judged", "completeness", "hallucination"),
    }
    of_funds = [each for each in told(taken) if str(each[0]).startswith("投资-基金-抽取类问答-")]
    assert [(str(name)[-1], metric, value) for name, metric, value in of_funds] == [
        ("0", "hallucination", 0.0),
        ("1", "hallucination", "out_of_range"),
        ("0", "accuracy_judged", 1.0),
        ("1", "accuracy_judged", "not_applicable_or_parse_error"),
        ("0", "completeness", "not_applicable_or_parse_error"),
        ("1", "completeness", 0.5),
        ("0", "RR", 1.0),
        ("1", "RR", 0.5),
        ("0", "omnieval_map_compat", 1.0),
        ("1", "omnieval_map_compat", 0.5),
        ("0", "omnieval_em_compat", 0.5),
        ("1", "omnieval_em_compat", 0.0),
        ("0", "rouge_1", 0.8),
        ("0", "rouge_2", 0.5),
        ("0", "rouge_l", 0.799999995),
        ("1", "rouge_1", 5e-09),
        ("1", "rouge_2", 0.1),
        ("1", "rouge_l", 5e-09),
        ("0", "omnieval_f1_compat", 0.7),
        ("1", "omnieval_f1_compat", 0.5),
    ]
    [(where, why)] = taken.skipped
    assert where.endswith("evaluation_result_model_judge-hallucination.jsonl:3")
    assert why == "hallucination of '投资-基金-抽取类问答-1' is out_of_range: '2.0'"
    assert taken.notes == []


def test_means_of_imported_scores_equal_the_averages_of_the_last_line(fixtures_dir: Path, tmp_path: Path) -> None:
    """The published averages leave out what is below 0, as scores without a value are left out here."""
    folder, imported = fixtures_dir / "imports" / "omnieval", ImportResult()
    omnieval_predictions.import_rows(ImportRequest((folder,)), imported)
    cases = tmp_path / "cases.jsonl"
    cases.write_text("\n".join(map(json.dumps, imported.cases)), encoding="utf-8")
    values: dict[object, list[float]] = {}
    for _, metric, value in told(took(folder, cases)):
        if isinstance(value, float):
            values.setdefault(metric, []).append(value)
    averages: dict[str, float | str] = {}
    for path in folder.glob("evaluation_result_*.jsonl"):
        for averaged in json.loads(path.read_text(encoding="utf-8").splitlines()[-1]).values():
            averages |= averaged or {}
    ours = {
        "accuracy": "accuracy_judged",
        "MRR": "RR",
        **{m: f"omnieval_{m.lower()}_compat" for m in ("MAP", "em", "f1")},
    }
    for metric in ("accuracy", "completeness", "MRR", "MAP", "em", "f1"):
        assert fmean(values[ours.get(metric, metric)]) == pytest.approx(averages[metric])
    rouge = [fmean(values[name]) for name in ("rouge_1", "rouge_2", "rouge_l")]
    assert rouge == pytest.approx([float(each) for each in str(averages["rouge"]).split(",")])


def test_a_line_is_of_the_cases_with_its_topic_and_task(tmp_path: Path, cases: Path) -> None:
    path = result(tmp_path, line({"em": "1.0"}, STOCKS), line({"em": "0.0,0.5"}), {"all_avg_generation_res_map": {}})
    taken = took(path, cases)
    assert told(taken) == [
        ("q3", "omnieval_em_compat", 1.0),
        ("q1", "omnieval_em_compat", 0.0),
        ("q2", "omnieval_em_compat", 0.5),
    ]
    assert taken.skipped == []


def test_a_file_without_a_topic_in_its_name_is_of_all_cases(tmp_path: Path, cases: Path) -> None:
    taken = took(result(tmp_path, line({"completeness": "0.5,-1,1.5"}, "mine.pred.jsonl")), cases)
    assert [value for _, _, value in told(taken)] == [0.5, "not_applicable_or_parse_error", "out_of_range"]


def test_a_topic_that_no_case_has_is_left_by_name(tmp_path: Path, cases: Path) -> None:
    taken = took(result(tmp_path, line({"em": "1.0"}, "保险 - 人寿保险 - 抽取类问答.pred.jsonl")), cases)
    [(where, why)] = taken.skipped
    assert where.endswith("evaluation_result_rule.jsonl:1")
    assert why.startswith("no case has the topic and task of '保险 - 人寿保险")


def test_a_value_that_several_judges_files_repeat_is_taken_once(tmp_path: Path, cases: Path) -> None:
    result(tmp_path, line({"accuracy": "1.0,0.5"}), judge="model_qwen")
    result(tmp_path, line({"accuracy": "1.0,0.5", "hallucination": "0.0,1.0"}), judge="model_qwen-merge")
    taken = took(tmp_path, cases)
    assert len(taken.scores) == 4
    assert (taken.skipped, taken.notes) == ([], ["2 values are in several files and were imported once."])
    result(tmp_path, line({"accuracy": "0.0,0.5"}), judge="other")
    [(_, why)] = took(tmp_path, cases).skipped
    assert why.startswith("accuracy_judged of 'q1' is already in")


def test_an_invalid_value_has_a_reason(tmp_path: Path, cases: Path) -> None:
    lists: dict[str, object] = {"f1": "nan,x", "em": "-1,1", "utilization": "1e-3,inf", "rouge": "0.1-0.2,0-0-0"}
    taken = took(result(tmp_path, line(lists)), cases)
    assert [row.get("value", row.get("reason")) for row in taken.scores] == [
        *("not_a_number", "not_a_number", "out_of_range", 1.0, 0.001, "out_of_range"),
        *("not_a_number",) * 3,
        *(0.0,) * 3,
    ]
    assert len(taken.skipped) == 7


def test_a_list_of_another_length_is_left_whole(tmp_path: Path, cases: Path) -> None:
    taken = took(result(tmp_path, line({"f1": "0.5", "em": "1,0", "accuracy": None})), cases)
    assert [row["metric"] for row in taken.scores] == ["omnieval_em_compat"] * 2
    assert [why.partition(",")[0] for _, why in taken.skipped] == [
        f"'{FUNDS}': f1: found 1 values for 2 cases",
        f"'{FUNDS}': accuracy: found an object",
    ]


def test_each_malformed_result_line_is_reported(tmp_path: Path, cases: Path) -> None:
    path = result(tmp_path, "{", "[1]", {FUNDS: 3}, {FUNDS: {"generation_res_map": 7}}, line({"em": "1,0"}))
    taken = took(path, cases)
    assert len(taken.scores) == 2
    assert [(where.rpartition(":")[2], why.partition(",")[0]) for where, why in taken.skipped] == [
        ("1", "is not one JSON object: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("2", "found an array of 1"),
        ("3", f"'{FUNDS}': found 3 without retrieval_res_map or generation_res_map"),
        ("4", f"'{FUNDS}': generation_res_map: found 7"),
    ]


@pytest.mark.parametrize("text", ["", "{}", "[1]", "{", '{"retrieval_res_map": {}, "generation_res_map": {}}'])
def test_another_file_is_an_error(text: str, tmp_path: Path, cases: Path) -> None:
    with pytest.raises(DataError, match=r"evaluation_result_rule\.jsonl: has no result of OmniEval; wanted lines {"):
        took(result(tmp_path, text), cases)


def test_a_result_needs_its_cases(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"add --cases FILE"):
        took(tmp_path / "evaluation_result_rule.jsonl", None)


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
    taken = ImportResult()
    omnieval_replies.import_rows(ImportRequest((path,)), taken)
    assert taken.scores == [
        {"id": "1", "metric": "accuracy_judged", "system": "a", "value": 1.0},
        {"id": "1", "metric": "hallucination", "reason": "out_of_range"},
        {"id": "2", "metric": "completeness", "reason": "not_applicable_or_parse_error"},
    ]
    assert [where[-2:] for where, _ in taken.skipped] == [":2", ":3", ":5"]
    assert taken.fields == {"judge": 1}
