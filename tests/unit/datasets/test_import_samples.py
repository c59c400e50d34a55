"""Import samples of RAGAS and DeepEval, and tables, as cases and recorded answers."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pytest_rageval.datasets.imports import Importer, ImportRequest, ImportResult
from pytest_rageval.datasets.imports.samples import deepeval, ragas, table
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.errors import DataError, MissingDependencyError

NOON, THREE = "The ferry leaves at noon.", "Tickets cost 3 euros."


def run_import(
    importer: Importer, *paths: Path, system: str = "", slots: bool = False, content_ids: bool = False
) -> ImportResult:
    result = ImportResult()
    importer(ImportRequest(paths, system, slots=slots, content_ids=content_ids), result)
    return result


def import_rows(tmp_path: Path, *rows: dict[str, Any], slots: bool = False, content_ids: bool = False) -> ImportResult:
    """Import rows of JSON Lines; each has a question and an answer unless it overrides them."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"question": "Q?", "answer": "A", **row}) for row in rows), encoding="utf-8")
    return run_import(table, path, slots=slots, content_ids=content_ids)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ranking_of(*texts: str) -> list[dict[str, str]]:
    return [{"id": content_id(text), "text": text} for text in texts]


@pytest.fixture
def imports(fixtures_dir: Path) -> Path:
    return fixtures_dir / "imports"


def skipped_rows(result: ImportResult) -> list[tuple[str, str]]:
    return [(where.rpartition("/")[2], why) for where, why in result.skipped]


def test_ragas_samples_are_cases_and_answers(imports: Path) -> None:
    result = run_import(ragas, imports / "ragas.jsonl", system="ours")
    assert result.cases == [
        {
            "id": "ragas-1",
            "question": "When does the ferry leave?",
            "answers": ["At noon."],
            "synthesizer_name": "single_hop",
            "passages": [{**ranking_of(NOON)[0], "role": "positive"}],
        },
        {"id": "ragas-2", "question": "What do tickets cost?", "answers": ["3 euros"]},
    ]
    assert result.answers == [
        {"id": "ragas-1", "answer": "At noon.", "system": "ours", "ranking": ranking_of(NOON, THREE)},
        {"id": "ragas-2", "answer": "", "system": "ours", "ranking": []},
    ]
    assert result.fields == {"repeated passages of a ranking": 1, "rubrics": 1}
    assert skipped_rows(result) == [
        ("ragas.jsonl:3", "the field reference or ground_truth is missing or empty"),
        ("ragas.jsonl:4", "question: found an array of 1, wanted a string that is not empty"),
    ]


def test_ragas_older_names_and_lists_in_csv_are_read(imports: Path) -> None:
    result = run_import(ragas, imports / "ragas.csv")
    assert [case["answers"] for case in result.cases] == [["At noon.", "noon"], ["3 euros"]]
    assert result.cases[0]["faithfulness"] == "0.5"
    assert result.answers == [{"id": "ragas-1", "answer": "At noon.", "ranking": ranking_of(NOON, THREE)}]


def test_reference_context_ids_become_judgements(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": 3, "response": "3", "retrieved_contexts": ["a", "b"]}
    row |= {"retrieved_context_ids": [7, 8], "reference_context_ids": [8]}
    path = write(tmp_path / "r.json", json.dumps([row]))
    result = run_import(ragas, path)
    assert result.cases == [{"id": "r-1", "question": "Q?", "answers": ["3"], "qrels": {"8": 1}}]
    assert result.answers[0]["ranking"] == [{"id": "7", "text": "a"}, {"id": "8", "text": "b"}]
    csv_file = write(tmp_path / "p.csv", 'user_input,reference,reference_context_ids\nQ?,A,"[7, 8]"\n')
    assert run_import(ragas, csv_file).cases[0]["qrels"] == {"7": 1, "8": 1}


@pytest.mark.parametrize(
    "text",
    [
        '{"question": ["Q?", "R?"], "ground_truth": ["A", "B"]}',
        '{"question": {"0": "Q?", "1": "R?"},\n "ground_truth": {"0": "A", "1": "B"}}',
        '{"samples": [\n{"user_input": "Q?", "reference": "A"},\n{"user_input": "R?", "reference": "B"}]}',
        '{"user_input": "Q?", "reference": "A"}\n\n{"user_input": "R?", "reference": "B"}',
        '[{"user_input": "Q?", "reference": "A"}, {"user_input": "R?", "reference": "B"}]',
    ],
)
def test_json_is_read_in_rows_and_in_columns(text: str, tmp_path: Path) -> None:
    result = run_import(ragas, write(tmp_path / "r.json", text))
    assert [(case["id"], case["question"], case["answers"]) for case in result.cases] == [
        ("r-1", "Q?", ["A"]),
        ("r-2", "R?", ["B"]),
    ]


def test_deepeval_goldens_and_test_cases_are_read(imports: Path) -> None:
    result = run_import(deepeval, imports / "deepeval.json")
    stop, buses = "Trams stop at 1 am.", "Buses run all night."
    assert result.cases[0] == {
        "id": "deepeval-1",
        "question": "When does the tram stop?",
        "answers": ["At 1 am."],
        "topic": "Trams",
        "task": "extractive_qa",
        "passages": [{**ranking_of(stop)[0], "role": "positive"}],
        "evidence": [{"page": "trams.md", "quote": stop}],
    }
    assert result.answers == [{"id": "deepeval-1", "answer": "At 1 am.", "ranking": ranking_of(stop, buses)}]
    assert len(result.cases) == 2
    assert result.fields == {"retrieval_context": 1}
    assert [why for _, why in result.skipped] == ["the field input is missing or empty"]
    csv_result = run_import(deepeval, imports / "deepeval.csv")
    assert csv_result.answers == result.answers
    assert csv_result.cases[0]["passages"] == result.cases[0]["passages"]


def test_the_columns_of_a_table_are_recognised_by_name(imports: Path) -> None:
    result = run_import(table, imports / "questions.csv")
    assert result.cases == [
        {
            "id": "questions-1",
            "question": "Wann öffnet das Museum?",
            "answers": ["9 Uhr", "9:00"],
            "topic": "Hours",
            "task": "extractive_qa",
            "Reviewed by": "Ann",
        },
        {
            "id": "questions-2",
            "question": "What does a ticket cost?",
            "answers": ["4 euros", "€4"],
            "topic": "Prices",
            "task": "extractive_qa",
        },
    ]
    assert skipped_rows(result) == [("questions.csv:6", "the field answer or answers is missing or empty")]


def test_a_table_may_have_the_optional_columns_of_the_native_format(tmp_path: Path) -> None:
    text = (
        "ID\tQuery\tAnswers\tAnswerable\tFake-Answers\tLang\tResponse\tSystem\tdataset\n"
        "q1\tQ?\t\tno\tX | Y\tzh-CN\tP\tmine\tother\n"
    )
    result = run_import(table, write(tmp_path / "t.tsv", text))
    assert result.skipped == []
    assert result.cases == [
        {"id": "q1", "question": "Q?", "fake_answers": ["X", "Y"], "answerable": False, "language": "zh-CN"}
    ]
    assert result.answers == [{"id": "q1", "answer": "P", "system": "mine"}]
    assert result.fields == {"dataset": 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r":1: the file holds no row; its first row has to name the columns"),
        ("question,answer,question\nQ,A,Q\n", r":1: two columns are named 'question'"),
        ("question,query,answer\nQ,R,A\n", r":2: the columns 'question' and 'query' mean the same; rename one"),
        (
            'question,answer\nQ,A\nQ,"A\n',
            r":3: the row is not valid CSV \(unexpected end of data\); save the table as CSV",
        ),
        ("question,answer\nQ,\xe4".encode("latin-1"), r":2: byte 0xe4 at offset 18 is not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read_is_an_error(text: str | bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=problem):
        run_import(table, write(tmp_path / "t.csv", text))


def test_cells_without_a_column_name_and_rows_with_too_many_cells_are_skipped(tmp_path: Path) -> None:
    result = run_import(table, write(tmp_path / "t.csv", ",question,answer\n0,Q,A\n,R,B\n2,S,C,D\n"))
    assert [case["question"] for case in result.cases] == ["Q", "R"]
    assert result.fields == {"a column without a name": 1}
    assert skipped_rows(result) == [("t.csv:4", "found 4 cells, wanted at most 3, as in the header")]
    assert result.rows == 3


def test_a_long_cell_is_read_whole(tmp_path: Path) -> None:
    long = "x" * 200_000
    result = run_import(table, write(tmp_path / "t.csv", f"question,answer\nQ,{long}\n"))
    assert result.cases[0]["answers"] == [long]


def workbook(path: Path, *rows: list[Any]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return book


def test_cells_of_a_spreadsheet_are_read_in_their_displayed_format(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = workbook(
        path,
        ["Question", "Answer", "Year", "Checked"],
        ["What is the fee?", 0.005, 2024.0, True],
        [None, None, None, None],
        ["When did it open?", date(2019, 1, 31), 2024, False],
        ["How many?", 1234567.89, None, None],
    )
    book.active["B2"].number_format = "0.0%"
    book.create_sheet("Notes")["A1"] = "to be checked"
    book.create_sheet("Empty")
    book.save(path)
    result = run_import(table, path)
    assert result.cases == [
        {"id": "t-1", "question": "What is the fee?", "answers": ["0.5%"], "Year": "2024", "Checked": "true"},
        {"id": "t-2", "question": "When did it open?", "answers": ["2019-01-31"], "Year": "2024", "Checked": "false"},
        {"id": "t-3", "question": "How many?", "answers": ["1234567.89"]},
    ]
    [note] = result.notes
    assert note.endswith("t.xlsx: skipped the sheet 'Notes'; only the first sheet is read.")


def test_an_invalid_spreadsheet_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.xlsx: openpyxl cannot read the spreadsheet"):
        run_import(table, write(tmp_path / "t.xlsx", "question,answer\n"))
    with pytest.raises(DataError, match=r"none\.xlsx: cannot be read: No such file"):
        run_import(table, tmp_path / "none.xlsx")


def test_a_spreadsheet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workbook(tmp_path / "t.xlsx", ["question", "answer"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pytest-rageval\[spreadsheet\]'"):
        run_import(table, tmp_path / "t.xlsx")


def test_a_table_may_name_its_columns_in_chinese(tmp_path: Path) -> None:
    text = "问题,答案,回答,一级主题,二级主题,任务\n谁?,张三,李四。,人事,职员,extractive_qa\n"
    result = run_import(table, write(tmp_path / "t.csv", text))
    (case,), (answer,) = result.cases, result.answers
    assert (case["topic_1"], case["topic"], case["task"]) == ("人事", "职员", "extractive_qa")
    assert answer["answer"] == "李四。"


TURNS = [{"question": "When?", "answer": "At noon."}, {"question": "Where?", "answer": "Here."}]


@pytest.mark.parametrize("name", ["history", "history_qa", "chat_history", "messages", "Chat History"])
@pytest.mark.parametrize(
    "value",
    [
        TURNS,
        [{"query": "When?", "response": "At noon."}, {"q": "Where?", "answers": ["Here.", "There."]}],
        [["When?", "At noon."], ["Where?", "Here."]],
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "When?"},
            {"role": "assistant", "content": "At noon."},
            {"role": "user", "content": [{"type": "text", "text": "Where?"}]},
            {"role": "assistant", "content": "Here."},
            {"role": "user", "content": "Q?"},
        ],
        [
            {"type": "human", "content": "When?"},
            {"type": "ai", "content": "At noon."},
            {"type": "human", "content": "Where?"},
            {"type": "ai", "content": "Here."},
        ],
        json.dumps(TURNS),
        repr([("When?", "At noon."), ("Where?", "Here.")]),
    ],
)
def test_earlier_turns_in_every_form_become_history(name: str, value: object, tmp_path: Path) -> None:
    result = import_rows(tmp_path, {name: value})
    assert result.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"], "history": TURNS}]
    assert set(result.fields) <= {f"{name}.system messages"}


def test_messages_may_contain_the_question_and_unanswered_turns(tmp_path: Path) -> None:
    user, assistant = ({"role": role, "content": "x"} for role in ("user", "assistant"))
    result = import_rows(
        tmp_path,
        {"question": None, "messages": [user, assistant, {**user, "content": "What?"}]},
        {"messages": [user, {**user, "content": "y"}, assistant]},
        {"messages": [{**user, "content": "Q?"}, assistant]},
        {"messages": [assistant, user, assistant]},
        {"question": None, "messages": [user, assistant]},
    )
    x = {"question": "x", "answer": "x"}
    assert [(case["question"], case.get("history")) for case in result.cases] == [
        ("What?", [x]),
        ("Q?", [{"question": "x", "answer": ""}, {"question": "y", "answer": "x"}]),
        ("Q?", None),
        ("Q?", [x]),
    ]
    assert result.fields == {
        "messages: an answer to the question of its row": 1,
        "messages.answers without a question": 1,
    }
    assert skipped_rows(result) == [("t.jsonl:5", "the field question or q is missing or empty")]
    assert result.lost


@pytest.mark.parametrize(
    "value", [7, "as before", {"question": "Q?"}, [7], [["a", "b", "c"]], [{"text": "x"}], [[1, 2]]]
)
def test_a_history_in_an_unknown_form_is_skipped_and_counted(value: object, tmp_path: Path) -> None:
    result = import_rows(tmp_path, {"chat_history": value})
    assert result.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"]}]
    assert result.fields == {"chat_history": 1}


@pytest.mark.parametrize(
    "value",
    [[["a", "b"], ["c"]], [["a", "b"], "c"], "[['a', 'b'], ['c']]", '[["a", "b"], ["c"]]', "[['a' 'b']\n ['c']]"],
)
def test_lists_within_a_list_of_answers_are_slots(value: object, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('question,answers\nQ?,"' + str(value).replace('"', '""') + '"\n', encoding="utf-8")
    result = run_import(table, path, slots=True)
    assert result.cases == [{"id": "t-1", "question": "Q?", "slots": [["a", "b"], ["c"]]}]
    [(where, why)] = skipped_rows(run_import(table, path))
    assert (where, why.partition(";")[0]) == ("t.csv:2", "answers: found lists within a list")


def test_slots_applies_to_false_answers_too_and_keeps_flat_lists_as_aliases(tmp_path: Path) -> None:
    nested = {"answer": [["a"], ["b", 2]], "fake_answers": [["x"], "y"]}
    result = import_rows(tmp_path, nested, {"answer": ["a", "b"]}, {"answer": [["a"], []]}, slots=True)
    assert result.cases == [
        {"id": "t-1", "question": "Q?", "slots": [["a"], ["b", "2"]], "fake_answers": [["x"], ["y"]]},
        {"id": "t-2", "question": "Q?", "answers": ["a", "b"]},
    ]
    assert skipped_rows(result) == [
        ("t.jsonl:3", "slots[1]: found an array of 0, wanted a string that is not empty or a list of at least one")
    ]


def test_references_are_passages(tmp_path: Path) -> None:
    same_id = [{"doc_id": 7, "contents": NOON, "title": "Ferry"}, {"doc_id": 7, "text": THREE, "score": 1.5, "url": ""}]
    result = import_rows(
        tmp_path,
        {"references": [NOON, THREE]},
        {"positive_references": same_id, "counterfactual_reference": {"doc_id": 7, "text": "The ferry is gone."}},
        {"reference_passages": json.dumps(same_id[:1])},
    )
    positive = [{**passage, "role": "positive"} for passage in ranking_of(NOON, THREE)]
    first = {"id": 7, "text": NOON, "title": "Ferry", "role": "positive"}
    counterfactual = {**ranking_of("The ferry is gone.")[0], "role": "counterfactual"}
    assert [case["passages"] for case in result.cases] == [positive, [first, positive[1], counterfactual], [first]]
    assert result.fields == {"positive_references.score": 1}


def test_a_reference_text_that_is_json_is_not_parsed(tmp_path: Path) -> None:
    price = '{"price": 4, "currency": "EUR"}'
    result = import_rows(tmp_path, {"references": price}, {"references": [price]}, {"references": [{"price": 4}]})
    assert [case["passages"] for case in result.cases] == [[{**ranking_of(price)[0], "role": "positive"}]] * 2
    [(where, why)] = skipped_rows(result)
    assert (where, why.partition(", wanted")[0]) == ("t.jsonl:3", "references[0]: found an object")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([{"foo": "x"}, "ok"], "references[0]: found an object"),
        (["ok", {"text": "ok"}, {"id": 7}], "references[2]: found an object"),
        ([["x"]], "references[0]: found an array of 1"),
        (["ok", " "], "references[1]: found ' '"),
        ([{"text": "ok"}, None], "references[1]: found null"),
        ([{"text": ["ok"]}], "references[0]: found an object"),
    ],
)
def test_a_reference_without_a_text_is_reported_under_its_name_in_the_row(
    value: object, problem: str, tmp_path: Path
) -> None:
    result = import_rows(tmp_path, {"references": value}, {"reference_passages": ["ok"]})
    assert len(result.cases) == 1
    expectation = "wanted a text, or an object with one under text, contents, content, passage, page_content or body"
    assert skipped_rows(result) == [("t.jsonl:1", f"{problem}, {expectation}")]


def test_an_answer_is_skipped_if_a_retrieved_context_has_no_text(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": "A", "response": "A", "retrieved_contexts": ["a", ["b"]]}
    result = run_import(ragas, write(tmp_path / "r.json", json.dumps([row])))
    [(where, why)] = skipped_rows(result)
    assert (where, why.partition(",")[0]) == (
        "r.json:1",
        "answer skipped: retrieved_contexts[1]: found an array of 1",
    )
    assert (len(result.cases), result.answers) == (1, [])


@pytest.mark.parametrize("fields", [{"gold": "B"}, {"history": TURNS, "chat_history": TURNS}])
def test_two_fields_with_one_meaning_skip_only_their_row(fields: dict[str, Any], tmp_path: Path) -> None:
    result = import_rows(tmp_path, {}, fields, {})
    assert [case["id"] for case in result.cases] == ["t-1", "t-3"]
    names = ("answer", "gold") if "gold" in fields else ("history", "chat_history")
    assert skipped_rows(result) == [("t.jsonl:2", "the fields {!r} and {!r} mean the same; remove one".format(*names))]


def test_ids_without_reference_texts_are_judgements(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": "A", "reference_contexts": [], "reference_context_ids": [7]}
    result = run_import(ragas, write(tmp_path / "r.json", json.dumps([row])))
    assert result.cases == [{"id": "r-1", "question": "Q?", "answers": ["A"], "qrels": {"7": 1}}]


def test_fields_of_the_native_format_are_unchanged(tmp_path: Path) -> None:
    native = {
        "slots": [["a"]],
        "passages": [{"id": "d1", "text": "T", "role": "negative"}],
        "qrels": {"d1": -1},
        "provenance": [["d1"]],
        "history": TURNS,
        "topic": "Funds",
    }
    result = import_rows(tmp_path, {"answer": None, **native}, content_ids=True)
    [case] = result.cases
    assert case == {"id": case["id"], "question": "Q?", **native}
    assert not result.lost


def test_passages_may_be_plain_texts(tmp_path: Path) -> None:
    result = import_rows(tmp_path, {"passages": [NOON]})
    assert result.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"], "passages": [NOON]}]


def test_rows_without_an_id_get_one_from_their_content(tmp_path: Path) -> None:
    rows = [{}, {"id": "mine"}, {"answer": "B"}, {"topic": "T"}, {}]
    result = import_rows(tmp_path, *rows, content_ids=True)
    ids = [str(case["id"]) for case in result.cases]
    assert ids[1] == "mine"
    assert len(set(ids)) == len(ids) == 4  # the last row repeats the first
    assert all(len(name) == 12 for name in ids if name != "mine")
    reversed_result = import_rows(tmp_path, *rows[::-1], content_ids=True)
    assert {ids[0], "mine", ids[2]} < {str(case["id"]) for case in reversed_result.cases}
    assert result.skipped == reversed_result.skipped == []


def test_an_empty_field_does_not_conflict_with_one_of_the_same_meaning(tmp_path: Path) -> None:
    result = import_rows(tmp_path, {"answers": [], "expected": None}, {"answer": "", "answers": ["B"]})
    assert [case["answers"] for case in result.cases] == [["A"], ["B"]]


def test_a_sheet_with_a_far_cell_is_refused_before_its_cells_are_loaded(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["question", "answer"], ["Q?", "A"]):
        book.active.append(row)
    book.create_sheet("far")["XFD1048576"] = "x"
    book.save(tmp_path / "t.xlsx")
    assert run_import(table, tmp_path / "t.xlsx").notes == [
        f"{tmp_path / 't.xlsx'}: skipped the sheet 'far'; only the first sheet is read."
    ]
    book.active["XFD1048576"] = "x"
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        DataError, match=r"reaches to XFD1048576, 17,179,869,184 cells, wanted at most 2,000,000; delete"
    ):
        run_import(table, tmp_path / "t.xlsx")
