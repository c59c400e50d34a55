"""Import logs of ReAct, R-Eval, ToolBench and RaLLe as cases and recorded answers with traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.datasets.imports import (
    Importer,
    ImportRequest,
    ImportResult,
    ralle_output,
    react_log,
    reval_log,
    toolbench,
)

TRANSCRIPT = (
    "Thought 1: I should look.\nAction 1: Search[museum]\nObservation 1: It opens at 9:00.\n"
    "Thought 2: Done.\nAction 2: Finish[9:00]\nObservation 2: Episode finished, reward = 1"
)
RUN: dict[str, Any] = {
    "id": "q1", "question": "When does it open?", "gold": "9:00", "answer": "9:00", "steps": 2,
    "transcript": TRANSCRIPT,
}  # fmt: skip
LOG: dict[str, Any] = {
    "question": "When does it open?", "answer": "9:00", "prediction": "9:00", "correct": True, "reward": 1.0,
    "halted": False, "error": False, "prompt": "Examples ...", "scratchpad": f"\n{TRANSCRIPT}", "exe_time": 2.5,
}  # fmt: skip
SEARCH = {"name": "Search", "arguments": "museum", "result": "It opens at 9:00."}
STEPS = [
    {"kind": "thought", "detail": {"text": "I should look."}},
    {"kind": "tool", "detail": SEARCH},
    {"kind": "thought", "detail": {"text": "Done."}},
]
END = {"kind": "end", "detail": {"reason": "finished"}}


def run_import(importer: Importer, *paths: Path, system: str = "") -> ImportResult:
    result = ImportResult()
    importer(ImportRequest(paths, system), result)
    return result


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class TestReactLog:
    def test_a_run_is_a_case_and_an_answer_with_its_steps(self, tmp_path: Path) -> None:
        result = run_import(
            react_log.import_rows, write(tmp_path / "runs.jsonl", RUN | {"topic": "Hours"}), system="mini"
        )
        assert result.cases == [{"id": "q1", "question": "When does it open?", "answers": "9:00", "topic": "Hours"}]
        assert result.answers == [
            {"id": "q1", "answer": "9:00", "system": "mini", "workflow": "react", "trace": [*STEPS, END]}
        ]
        assert not result.lost

    def test_an_empty_answer_means_the_step_limit(self, tmp_path: Path) -> None:
        truncated_run = RUN | {"answer": "", "transcript": TRANSCRIPT.partition("Thought 2")[0]}
        (answer,) = run_import(react_log.import_rows, write(tmp_path / "runs.jsonl", truncated_run)).answers
        assert answer["trace"] == [*STEPS[:2], {"kind": "end", "detail": {"reason": "step_limit"}}]

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (
                {"transcript": "It opens at 9:00."},
                "transcript: found 'It opens at 9:00.', wanted a transcript with lines",
            ),
            ({"transcript": None}, "transcript: found null, wanted a string"),
            ({"answer": None}, "answer: found null, wanted a string"),
            ({"gold": None}, "answers: found null, wanted a string that is not empty or a list of at least one"),
            ({"id": ""}, "id: found '', wanted an integer or a string that is not empty"),
        ],
    )
    def test_a_bad_run_is_reported_by_its_line(self, change: dict[str, Any], why: str, tmp_path: Path) -> None:
        result = run_import(react_log.import_rows, write(tmp_path / "runs.jsonl", RUN, RUN | {"id": "q2"} | change))
        assert [row["id"] for row in result.answers] == ["q1"]
        ((where, problem),) = result.skipped
        assert where.endswith("runs.jsonl:2")
        assert problem.startswith(why)


ACTIONS = [f"Action {number}: Search[x]" for number in range(1, 11)]
UNREACHABLE = "Observation 1: Could not find that page, please try again."
FOLDER = "ReactAgent_wiki_run_Agent_gpt-4-1106_128000"


class TestRevalLog:
    def test_a_run_is_a_case_and_an_answer_with_its_steps_and_time(self, tmp_path: Path) -> None:
        path = write(tmp_path / FOLDER / "hotpotqa_log.jsonl", LOG)
        result = run_import(reval_log.import_rows, path)
        (case,), (answer,) = result.cases, result.answers
        name = case.pop("id")
        assert str(name).startswith("hotpotqa-")
        assert case == {
            "question": "When does it open?", "answers": "9:00", "task": "hotpotqa", "task_id": "3-1",
            "level": "knowledge_application", "domain": "wiki", "correct": True, "reward": 1.0,
        }  # fmt: skip
        assert answer == {
            "id": name, "answer": "9:00", "system": "react@gpt-4-1106", "workflow": "react", "model": "gpt-4-1106",
            "usage": {"latency_s": 2.5}, "trace": [*STEPS, END],
        }  # fmt: skip
        assert not result.lost

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"halted": True, "prediction": "", "scratchpad": ACTIONS[:9]}, "context_limit"),
            ({"halted": True, "prediction": "", "scratchpad": ACTIONS[:10]}, "step_limit"),
            ({"halted": True, "prediction": "", "scratchpad": []}, "context_limit"),
            ({"error": True}, "model_error"),
            ({"prediction": ""}, "empty_answer"),
            ({"scratchpad": [ACTIONS[0], UNREACHABLE]}, "tool_unavailable"),
        ],
    )  # fmt: skip
    def test_the_trace_ends_with_a_reason(self, change: dict[str, Any], reason: str, tmp_path: Path) -> None:
        row = LOG | change
        row["scratchpad"] = "\n".join(row["scratchpad"]) if isinstance(row["scratchpad"], list) else row["scratchpad"]
        (answer,) = run_import(reval_log.import_rows, write(tmp_path / "csj_log.jsonl", row)).answers
        trace: Any = answer["trace"]
        assert trace[-1]["detail"]["reason"] == reason

    def test_an_unknown_scratchpad_gives_no_steps(self, tmp_path: Path) -> None:
        row = LOG | {"scratchpad": "It opens at 9:00."}
        (answer,) = run_import(reval_log.import_rows, write(tmp_path / "mine_log.jsonl", row)).answers
        assert "trace" not in answer
        (answer,) = run_import(
            reval_log.import_rows, write(tmp_path / "mine_log.jsonl", row | {"halted": True})
        ).answers
        assert answer["trace"] == [{"kind": "end", "detail": {"reason": "context_limit"}}]

    def test_two_systems_share_their_cases(self, tmp_path: Path) -> None:
        other = FOLDER.replace("gpt-4-1106", "tulu-7b")
        for folder, right in ((FOLDER, True), (other, False)):
            write(tmp_path / folder / "cpj_log.jsonl", LOG | {"correct": right})
        result = run_import(reval_log.import_rows, tmp_path)
        (case,) = result.cases
        assert "correct" not in case
        assert case["gold_kind"] == "label"
        assert [row["system"] for row in result.answers] == ["react@gpt-4-1106", "react@tulu-7b"]
        assert result.fields["correct"] == 2
        assert result.lost

    def test_gold_lists_are_slots(self, tmp_path: Path) -> None:
        rows = [LOG | {"answer": "['AI', 'ML']"}, LOG | {"answer": "[1, 2]"}, LOG | {"answer": 12}]
        cases = run_import(reval_log.import_rows, write(tmp_path / "soay_easy_log.jsonl", *rows)).cases
        assert [case.get("slots", case.get("answers")) for case in cases] == [["AI", "ML"], "[1, 2]", "12"]

    def test_a_bad_line_is_reported(self, tmp_path: Path) -> None:
        rows = [LOG | {"halted": "no"}, LOG | {"prediction": None}, {"question": ""}, LOG]
        result = run_import(reval_log.import_rows, write(tmp_path / "csj_log.jsonl", *rows))
        assert [problem for _, problem in result.skipped] == [
            "question: found '', wanted a string that is not empty",
            "halted: found 'no', wanted true or false",
            "prediction: found null, wanted a string",
        ]
        assert len(result.answers) == 1


def node(kind: str, description: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"node_type": kind, "description": description, "children": list(children), "expand_num": 0, **more}


def call(
    name: str, arguments: str, code: int, observation: str, *children: dict[str, Any], **more: Any
) -> dict[str, Any]:
    inner = node(
        "Action Input", arguments, *children, observation=observation, observation_code=code, expand_num=1, **more
    )
    return node("Action", name, inner)


ANSWER = json.dumps({"return_type": "give_answer", "final_answer": "9:00"})
GIVE_UP = json.dumps({"return_type": "give_up_and_restart"})
ERROR_RESULT, HOURS_RESULT = '{"error": "no such", "response": ""}', '{"error": "", "response": "9:00"}'
FAILED_BRANCH = call("search", "{}", 1, ERROR_RESULT, call("Finish", GIVE_UP, 4, "", depth=4), depth=2)
ANSWER_BRANCH = node(
    "Thought", "Now the hours.",
    call("hours", '{"day": "Monday"}', 0, HOURS_RESULT,
         node("Thought", "Enough.", call("Finish", ANSWER, 3, "", depth=7), expand_num=1, depth=5), depth=3),
)  # fmt: skip


def tree(*children: dict[str, Any], **answer: Any) -> dict[str, Any]:
    log = {"query": "When does it open?", "final_answer": ANSWER, "query_count": 5, "total_tokens": 90, **answer}
    return {"win": True, "tree": {"tree": node("Action Input", "", *children)}, "answer_generation": log}


class TestToolbench:
    def test_the_tree_is_the_trace(self, tmp_path: Path) -> None:
        result = run_import(
            toolbench.import_rows,
            write(tmp_path / "G1_10_ChatGPT_DFS_woFilter_w2.json", tree(FAILED_BRANCH, ANSWER_BRANCH)),
        )
        assert result.cases == [{"id": "G1_10", "question": "When does it open?", "labelled": False}]
        (answer,) = result.answers
        trace: Any = answer.pop("trace")
        assert answer == {
            "id": "G1_10", "answer": "9:00", "system": "ChatGPT_DFS_woFilter_w2", "workflow": "dfsdt",
            "model": "ChatGPT", "usage": {"total_tokens": 90},
        }  # fmt: skip
        assert [(step["kind"], step["detail"]) for step in trace] == [
            ("branch", {"path": "0", "depth": 2, "outcome": "open"}),
            ("completion", {"parent": 0}),
            ("tool", {"name": "search", "arguments": {}, "result": ERROR_RESULT, "invalid": True, "parent": 0}),
            ("branch", {"path": "0.0", "depth": 4, "outcome": "gave_up", "parent": 0}),
            ("completion", {"parent": 3}),
            ("branch", {"path": "1", "depth": 3, "outcome": "open"}),
            ("completion", {"parent": 5}),
            ("thought", {"text": "Now the hours.", "parent": 5}),
            ("tool", {"name": "hours", "arguments": {"day": "Monday"}, "result": HOURS_RESULT, "parent": 5}),
            ("branch", {"path": "1.0", "depth": 5, "outcome": "open", "parent": 5}),
            ("completion", {"parent": 9}),
            ("thought", {"text": "Enough.", "parent": 9}),
            ("branch", {"path": "1.0.0", "depth": 7, "outcome": "answer", "parent": 9}),
            ("completion", {"parent": 12}),
            ("end", {"reason": "finished"}),
        ]  # fmt: skip
        assert not result.lost

    @pytest.mark.parametrize(
        ("log", "answer", "reason"),
        [
            (tree(FAILED_BRANCH, final_answer="", query_count=2), "", "gave_up"),
            (tree(FAILED_BRANCH, final_answer=GIVE_UP, query_count=2), "", "gave_up"),
            (tree(ANSWER_BRANCH, final_answer="", query_count=3), "", "step_limit"),
            (tree(ANSWER_BRANCH, final_answer="", query_count=200), "", "call_limit"),
            (
                tree(ANSWER_BRANCH, final_answer="", query_count=3) | {"forward_args": {"max_query_count": 3}},
                "",
                "call_limit",
            ),
            (tree(ANSWER_BRANCH, final_answer="At 9:00.", query_count=3), "At 9:00.", "finished"),
            (
                tree(ANSWER_BRANCH, final_answer={"return_type": "give_answer", "final_answer": " "}),
                " ",
                "empty_answer",
            ),
        ],
    )
    def test_the_trace_ends_with_a_reason(self, log: object, answer: str, reason: str, tmp_path: Path) -> None:
        (row,) = run_import(toolbench.import_rows, write(tmp_path / "1_DFS.json", log)).answers
        trace: Any = row["trace"]
        assert (row["answer"], trace[-1]["detail"]["reason"]) == (answer, reason)

    def test_a_failed_service_is_an_error_of_its_step(self, tmp_path: Path) -> None:
        calls = [call("a", "x", 5, "timed out"), call("b", "[1]", 0, '{"error": "broken", "response": ""}')]
        (row,) = run_import(toolbench.import_rows, write(tmp_path / "1_DFS.json", tree(*calls))).answers
        trace: Any = row["trace"]
        details = [step["detail"] for step in trace if step["kind"] == "tool"]
        assert [(detail["arguments"], detail["error"]) for detail in details] == [("x", "code 5"), ("[1]", "broken")]
        assert sum(step["kind"] == "completion" for step in trace) == 5

    def test_ids_from_several_folders_start_with_the_folder(self, tmp_path: Path) -> None:
        for folder, question in (("G1_answer", "When?"), ("G2_answer", "Where?")):
            write(tmp_path / folder / "10_ChatGPT_DFS_woFilter_w2.json", tree(ANSWER_BRANCH, query=question))
        assert [case["id"] for case in run_import(toolbench.import_rows, tmp_path).cases] == [
            "G1_answer-10",
            "G2_answer-10",
        ]

    @pytest.mark.parametrize(
        ("text", "where", "why"),
        [
            ("", "1", "invalid JSON at column 1 (Expecting value), wanted one JSON object"),
            ("[]", "1", "found an array of 0 for a record, wanted a JSON object"),
            ('{"tree": 1,\n "x" 2}', "2", "invalid JSON at column 6"),
            ("{}\n{}", "2", "found more text after the object, wanted one JSON object"),
            ("{}", "1", "the field answer_generation is missing, wanted an object"),
            ('{"answer_generation": {}}', "1", "the field tree is missing, wanted an object"),
            ('{"answer_generation": {}, "tree": {"tree": {}}}', "1", "the field answer_generation.query is missing"),
            (json.dumps(tree({"children": []})), "1", "the field tree.tree.children[0].node_type is missing"),
            (json.dumps(tree(node("Leaf", ""))), "1", "tree.tree.children[0].node_type: found 'Leaf', wanted Thought,"),
            (json.dumps(tree(node("Action Input", ""))), "1", "tree.tree.children[0].node_type: found 'Action Input'"),
            (json.dumps(tree(ANSWER_BRANCH, query_count=1)), "1", "query_count is 1, but the tree has 3 replies"),
            (json.dumps(tree(ANSWER_BRANCH, query_count="x")), "1", "answer_generation.query_count: found 'x', wanted"),
            (
                json.dumps(tree(ANSWER_BRANCH, final_answer=3)),
                "1",
                "answer_generation.final_answer: found 3, wanted a string",
            ),
            ('{"tree":' * 10**5, "1", "the JSON is nested too deep for a record"),
        ],
        ids=range(14),
    )  # fmt: skip
    def test_a_bad_file_is_reported_in_one_sentence(self, text: str, where: str, why: str, tmp_path: Path) -> None:
        (tmp_path / "1_DFS.json").write_text(text, encoding="utf-8")
        ((place, problem),) = run_import(toolbench.import_rows, tmp_path).skipped
        assert place.endswith(f"1_DFS.json:{where}")
        assert problem.startswith(why)


PAGE = {"wikipedia_id": 12, "wikipedia_title": "Museum", "doc_id": 7, "text": "It opens at 9:00."}
OUTPUT: dict[str, Any] = {
    "id": "q1",
    "input": "When does it open?",
    "output": [
        {"prompt": "museum hours", "provenance": [PAGE, PAGE | {"doc_id": "8", "wikipedia_id": -1}]},
        {"prompt": "It opens at 9:00. When?", "answer": " 9:00\n"},
        {"prompt": "Museum", "answer": "Museum"},
    ],
}


class TestRalleOutput:
    def test_a_line_is_an_answer_with_its_actions_and_ranking(self, tmp_path: Path) -> None:
        result = run_import(ralle_output.import_rows, write(tmp_path / "output.jsonl", OUTPUT), system="e5")
        assert result.cases == [{"id": "q1", "question": "When does it open?", "labelled": False}]
        passages = [
            {"id": "7", "page": "12", "title": "Museum", "text": "It opens at 9:00."},
            {"id": "8", "title": "Museum", "text": "It opens at 9:00."},
        ]
        prompt = [{"role": "user", "content": "It opens at 9:00. When?"}]
        assert result.answers == [
            {
                "id": "q1",
                "answer": "Museum",
                "system": "e5",
                "ranking": passages,
                "trace": [
                    {"kind": "retrieve", "detail": {"query": "museum hours", "passages": passages}},
                    {"kind": "completion", "detail": {"prompt": prompt, "text": " 9:00\n"}},
                    {"kind": "identity", "detail": {"text": "Museum"}},
                ],
            }
        ]
        assert not result.lost

    def test_a_row_without_an_answer_or_a_retrieval_is_imported_without_it(self, tmp_path: Path) -> None:
        retrieval, completion = OUTPUT["output"][:1], OUTPUT["output"][1:2]
        rows = [OUTPUT | {"output": retrieval}, OUTPUT | {"id": "q2", "output": completion}]
        first, second = run_import(ralle_output.import_rows, write(tmp_path / "output.jsonl", *rows)).answers
        assert (first["answer"], second["answer"]) == ("", "9:00")
        assert "ranking" not in second

    @pytest.mark.parametrize(
        ("row", "why"),
        [
            ({}, "the field output is missing, wanted a list"),
            (OUTPUT | {"output": ["x"]}, "output[0]: found 'x', wanted a list"),
            (OUTPUT | {"output": [{"prompt": "x"}]}, "the field output[0].answer is missing, wanted a string, or"),
            (OUTPUT | {"output": [{"answer": "x"}]}, "the field output[0].prompt is missing, wanted a string"),
            ({"id": "q1", "output": [{"provenance": [], "answer": "x"}]}, "the field output[0].prompt is missing"),
            ({"id": "q1", "output": []}, "the field input is missing, wanted a string that is not empty"),
            (OUTPUT | {"output": [{"prompt": "x", "provenance": [{}]}]}, "the field output[0].provenance[0].wiki"),
        ],
    )  # fmt: skip
    def test_a_bad_line_is_reported(self, row: dict[str, Any], why: str, tmp_path: Path) -> None:
        ((where, problem),) = run_import(ralle_output.import_rows, write(tmp_path / "output.jsonl", row)).skipped
        assert where.endswith("output.jsonl:1")
        assert problem.startswith(why)
