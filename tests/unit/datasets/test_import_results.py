"""Import results and judge replies of OmniEval as scores."""

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


def run_import(path: Path, cases: Path | None, system: str = "") -> ImportResult:
    result = ImportResult()
    omnieval_results.import_rows(ImportRequest((path,), system, cases), result)
    return result


def result_line(lists: dict[str, object], file: str = FUNDS) -> JsonObject:
    """Return a line of a result file; its means are ignored."""
    maps = {metric: {"mean": float("nan"), "list": values} for metric, values in lists.items()}
    return {file: {"retrieval_res_map": None, "generation_res_map": maps}}


def write_result(folder: Path, *lines: object, judge: str = "rule") -> Path:
    path = folder / f"evaluation_result_{judge}.jsonl"
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def values_of(result: ImportResult) -> list[tuple[object, object, object]]:
    return [(row["id"], row["metric"], row.get("value", row.get("reason"))) for row in result.scores]


def test_results_of_all_judges_are_imported_whole(fixtures_dir: Path, tmp_path: Path) -> None:
    """The folder has predictions of three topics and tasks, and scores of six answers by three judges."""
    folder, predictions = fixtures_dir / "imports" / "omnieval", ImportResult()
    omnieval_predictions.import_rows(ImportRequest((folder,)), predictions)
    cases = tmp_path / "cases.jsonl"
    cases.write_text("\n".join(map(json.dumps, predictions.cases)), encoding="utf-8")
    result = run_import(folder, cases, "bge")
    lists = [
        values["list"].split(",")
        for path in folder.glob("evaluation_result_*.jsonl")
        for text in path.read_text(encoding="utf-8").splitlines()
        for file, maps in json.loads(text).items()
        if file.endswith(".pred.jsonl")
        for metrics in maps.values()
        for values in (metrics or {}).values()
    ]
    assert result.rows == sum(map(len, lists)) == 6 * 8
    assert len(result.scores) == 6 * 10  # ROUGE is three metrics
    assert {row["system"] for row in result.scores} == {"bge"}
    assert {str(row["metric"]) for row in result.scores} == {
        *("RR", "omnieval_map_compat", "omnieval_em_compat", "omnieval_f1_compat", "rouge_1", "rouge_2", "rouge_l"),
        *("accuracy_judged", "completeness", "hallucination"),
    }
    fund_scores = [each for each in values_of(result) if str(each[0]).startswith("投资-基金-抽取类问答-")]
    assert [(str(name)[-1], metric, value) for name, metric, value in fund_scores] == [
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
    [(where, why)] = result.skipped
    assert where.endswith("evaluation_result_model_judge-hallucination.jsonl:3")
    assert why == "hallucination of '投资-基金-抽取类问答-1' is out_of_range: '2.0'"
    assert result.notes == []


def test_means_of_imported_scores_equal_the_averages_of_the_last_line(fixtures_dir: Path, tmp_path: Path) -> None:
    """The published averages ignore values below 0, which are imported without a value."""
    folder, predictions = fixtures_dir / "imports" / "omnieval", ImportResult()
    omnieval_predictions.import_rows(ImportRequest((folder,)), predictions)
    cases = tmp_path / "cases.jsonl"
    cases.write_text("\n".join(map(json.dumps, predictions.cases)), encoding="utf-8")
    values: dict[object, list[float]] = {}
    for _, metric, value in values_of(run_import(folder, cases)):
        if isinstance(value, float):
            values.setdefault(metric, []).append(value)
    averages: dict[str, float | str] = {}
    for path in folder.glob("evaluation_result_*.jsonl"):
        for line_averages in json.loads(path.read_text(encoding="utf-8").splitlines()[-1]).values():
            averages |= line_averages or {}
    metric_names = {
        "accuracy": "accuracy_judged",
        "MRR": "RR",
        **{m: f"omnieval_{m.lower()}_compat" for m in ("MAP", "em", "f1")},
    }
    for metric in ("accuracy", "completeness", "MRR", "MAP", "em", "f1"):
        assert fmean(values[metric_names.get(metric, metric)]) == pytest.approx(averages[metric])
    rouge = [fmean(values[name]) for name in ("rouge_1", "rouge_2", "rouge_l")]
    assert rouge == pytest.approx([float(each) for each in str(averages["rouge"]).split(",")])


def test_a_result_belongs_to_the_cases_with_its_topic_and_task(tmp_path: Path, cases: Path) -> None:
    path = write_result(
        tmp_path, result_line({"em": "1.0"}, STOCKS), result_line({"em": "0.0,0.5"}), {"all_avg_generation_res_map": {}}
    )
    result = run_import(path, cases)
    assert values_of(result) == [
        ("q3", "omnieval_em_compat", 1.0),
        ("q1", "omnieval_em_compat", 0.0),
        ("q2", "omnieval_em_compat", 0.5),
    ]
    assert result.skipped == []


def test_a_result_without_a_topic_in_its_file_name_belongs_to_all_cases(tmp_path: Path, cases: Path) -> None:
    result = run_import(write_result(tmp_path, result_line({"completeness": "0.5,-1,1.5"}, "mine.pred.jsonl")), cases)
    assert [value for _, _, value in values_of(result)] == [0.5, "not_applicable_or_parse_error", "out_of_range"]


def test_a_result_with_a_topic_of_no_case_is_skipped(tmp_path: Path, cases: Path) -> None:
    result = run_import(
        write_result(tmp_path, result_line({"em": "1.0"}, "保险 - 人寿保险 - 抽取类问答.pred.jsonl")), cases
    )
    [(where, why)] = result.skipped
    assert where.endswith("evaluation_result_rule.jsonl:1")
    assert why.startswith("no case has the topic and task of '保险 - 人寿保险")


def test_a_value_in_several_files_is_imported_once(tmp_path: Path, cases: Path) -> None:
    write_result(tmp_path, result_line({"accuracy": "1.0,0.5"}), judge="model_qwen")
    write_result(tmp_path, result_line({"accuracy": "1.0,0.5", "hallucination": "0.0,1.0"}), judge="model_qwen-merge")
    result = run_import(tmp_path, cases)
    assert len(result.scores) == 4
    assert (result.skipped, result.notes) == ([], ["2 values are in several files and were imported once."])
    write_result(tmp_path, result_line({"accuracy": "0.0,0.5"}), judge="other")
    [(_, why)] = run_import(tmp_path, cases).skipped
    assert why.startswith("accuracy_judged of 'q1' is already in")


def test_an_invalid_value_has_a_reason(tmp_path: Path, cases: Path) -> None:
    lists: dict[str, object] = {"f1": "nan,x", "em": "-1,1", "utilization": "1e-3,inf", "rouge": "0.1-0.2,0-0-0"}
    result = run_import(write_result(tmp_path, result_line(lists)), cases)
    assert [row.get("value", row.get("reason")) for row in result.scores] == [
        *("not_a_number", "not_a_number", "out_of_range", 1.0, 0.001, "out_of_range"),
        *("not_a_number",) * 3,
        *(0.0,) * 3,
    ]
    assert len(result.skipped) == 7


def test_a_list_with_the_wrong_length_is_skipped(tmp_path: Path, cases: Path) -> None:
    result = run_import(write_result(tmp_path, result_line({"f1": "0.5", "em": "1,0", "accuracy": None})), cases)
    assert [row["metric"] for row in result.scores] == ["omnieval_em_compat"] * 2
    assert [why.partition(",")[0] for _, why in result.skipped] == [
        f"'{FUNDS}': f1: found 1 values for 2 cases",
        f"'{FUNDS}': accuracy: found an object",
    ]


def test_each_malformed_result_line_is_reported(tmp_path: Path, cases: Path) -> None:
    path = write_result(
        tmp_path, "{", "[1]", {FUNDS: 3}, {FUNDS: {"generation_res_map": 7}}, result_line({"em": "1,0"})
    )
    result = run_import(path, cases)
    assert len(result.scores) == 2
    assert [(where.rpartition(":")[2], why.partition(",")[0]) for where, why in result.skipped] == [
        ("1", "is not one JSON object: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("2", "found an array of 1"),
        ("3", f"'{FUNDS}': found 3 without retrieval_res_map or generation_res_map"),
        ("4", f"'{FUNDS}': generation_res_map: found 7"),
    ]


@pytest.mark.parametrize("text", ["", "{}", "[1]", "{", '{"retrieval_res_map": {}, "generation_res_map": {}}'])
def test_a_file_without_results_is_an_error(text: str, tmp_path: Path, cases: Path) -> None:
    with pytest.raises(DataError, match=r"evaluation_result_rule\.jsonl: has no result of OmniEval; wanted lines {"):
        run_import(write_result(tmp_path, text), cases)


def test_a_result_needs_its_cases(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"add --cases FILE"):
        run_import(tmp_path / "evaluation_result_rule.jsonl", None)


def test_replies_are_scored_by_the_published_rules(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "metric": "accuracy", "reply": '{"prediction": 2}', "system": "a"},
        {"id": 1, "metric": "accuracy", "reply": '{"prediction": 2}', "system": "a"},
        {"id": 1, "metric": "hallucination", "reply": "{'prediction': 2}", "judge": "j"},
        {"id": 2, "metric": "completeness", "reply": "no idea"},
        {"id": 2, "reply": "{}"},
    ]
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    result = ImportResult()
    omnieval_replies.import_rows(ImportRequest((path,)), result)
    assert result.scores == [
        {"id": "1", "metric": "accuracy_judged", "system": "a", "value": 1.0},
        {"id": "1", "metric": "hallucination", "reason": "out_of_range"},
        {"id": "2", "metric": "completeness", "reason": "not_applicable_or_parse_error"},
    ]
    assert [where[-2:] for where, _ in result.skipped] == [":2", ":3", ":5"]
    assert result.fields == {"judge": 1}
