"""Samples of RAGAS and DeepEval, and tables, as cases and recorded answers."""

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


def took(
    importer: Importer, *paths: Path, system: str = "", slots: bool = False, content_ids: bool = False
) -> ImportResult:
    taken = ImportResult()
    importer(ImportRequest(paths, system, slots=slots, content_ids=content_ids), taken)
    return taken


def took_rows(tmp_path: Path, *rows: dict[str, Any], slots: bool = False, content_ids: bool = False) -> ImportResult:
    """Return what is taken of rows of JSON Lines, each a question with an answer unless it says otherwise."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"question": "Q?", "answer": "A", **row}) for row in rows), encoding="utf-8")
    return took(table, path, slots=slots, content_ids=content_ids)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ranked(*texts: str) -> list[dict[str, str]]:
    return [{"id": content_id(text), "text": text} for text in texts]


@pytest.fixture
def imports(fixtures_dir: Path) -> Path:
    return fixtures_dir / "imports"


def reasons(taken: ImportResult) -> list[tuple[str, str]]:
    return [(where.rpartition("/")[2], why) for where, why in taken.skipped]


def test_ragas_samples_are_cases_and_answers(imports: Path) -> None:
    taken = took(ragas, imports / "ragas.jsonl", system="ours")
    assert taken.cases == [
        {
            "id": "ragas-1",
            "question": "When does the ferry leave?",
            "answers": ["At noon."],
            "synthesizer_name": "single_hop",
            "passages": [{**ranked(NOON)[0], "role": "positive"}],
        },
        {"id": "ragas-2", "question": "What do tickets cost?", "answers": ["3 euros"]},
    ]
    assert taken.answers == [
        {"id": "ragas-1", "answer": "At noon.", "system": "ours", "ranking": ranked(NOON, THREE)},
        {"id": "ragas-2", "answer": "", "system": "ours", "ranking": []},
    ]
    assert taken.fields == {"repeated passages of a ranking": 1, "rubrics": 1}
    assert reasons(taken) == [
        ("ragas.jsonl:3", "the field reference or ground_truth is missing or empty"),
        ("ragas.jsonl:4", "question: found an array of 1, wanted a string that is not empty"),
    ]


def test_ragas_older_names_and_lists_in_csv_are_read(imports: Path) -> None:
    taken = took(ragas, imports / "ragas.csv")
    assert [case["answers"] for case in taken.cases] == [["At noon.", "noon"], ["3 euros"]]
    assert taken.cases[0]["faithfulness"] == "0.5"
    assert taken.answers == [{"id": "ragas-1", "answer": "At noon.", "ranking": ranked(NOON, THREE)}]


def test_ids_of_contexts_judge_the_ranking(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": 3, "response": "3", "retrieved_contexts": ["a", "b"]}
    row |= {"retrieved_context_ids": [7, 8], "reference_context_ids": [8]}
    path = written(tmp_path / "r.json", json.dumps([row]))
    taken = took(ragas, path)
    assert taken.cases == [{"id": "r-1", "question": "Q?", "answers": ["3"], "qrels": {"8": 1}}]
    assert taken.answers[0]["ranking"] == [{"id": "7", "text": "a"}, {"id": "8", "text": "b"}]
    printed = written(tmp_path / "p.csv", 'user_input,reference,reference_context_ids\nQ?,A,"[7, 8]"\n')
    assert took(ragas, printed).cases[0]["qrels"] == {"7": 1, "8": 1}


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
def test_json_comes_in_rows_and_in_columns(text: str, tmp_path: Path) -> None:
    taken = took(ragas, written(tmp_path / "r.json", text))
    assert [(case["id"], case["question"], case["answers"]) for case in taken.cases] == [
        ("r-1", "Q?", ["A"]),
        ("r-2", "R?", ["B"]),
    ]


def test_deepeval_goldens_and_test_cases_are_read(imports: Path) -> None:
    taken = took(deepeval, imports / "deepeval.json")
    stop, buses = "Trams stop at 1 am.", "Buses run all night."
    assert taken.cases[0] == {
        "id": "deepeval-1",
        "question": "When does the tram stop?",
        "answers": ["At 1 am."],
        "topic": "Trams",
        "task": "extractive_qa",
        "passages": [{**ranked(stop)[0], "role": "positive"}],
        "evidence": [{"page": "trams.md", "quote": stop}],
    }
    assert taken.answers == [{"id": "deepeval-1", "answer": "At 1 am.", "ranking": ranked(stop, buses)}]
    assert len(taken.cases) == 2
    assert taken.fields == {"retrieval_context": 1}
    assert [why for _, why in taken.skipped] == ["the field input is missing or empty"]
    in_csv = took(deepeval, imports / "deepeval.csv")
    assert in_csv.answers == taken.answers
    assert in_csv.cases[0]["passages"] == taken.cases[0]["passages"]


def test_a_table_is_known_by_its_columns(imports: Path) -> None:
    taken = took(table, imports / "questions.csv")
    assert taken.cases == [
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
    assert reasons(taken) == [("questions.csv:6", "the field answer or answers is missing or empty")]


def test_a_table_may_have_optional_columns_of_our_format(tmp_path: Path) -> None:
    text = (
        "ID\tQuery\tAnswers\tAnswerable\tFake-Answers\tLang\tResponse\tSystem\tdataset\n"
        "q1\tQ?\t\tno\tX | Y\tzh-CN\tP\tmine\tother\n"
    )
    taken = took(table, written(tmp_path / "t.tsv", text))
    assert taken.skipped == []
    assert taken.cases == [
        {"id": "q1", "question": "Q?", "fake_answers": ["X", "Y"], "answerable": False, "language": "zh-CN"}
    ]
    assert taken.answers == [{"id": "q1", "answer": "P", "system": "mine"}]
    assert taken.fields == {"dataset": 1}


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
        took(table, written(tmp_path / "t.csv", text))


def test_a_cell_without_a_name_is_left_and_one_too_many_leaves_its_row(tmp_path: Path) -> None:
    taken = took(table, written(tmp_path / "t.csv", ",question,answer\n0,Q,A\n,R,B\n2,S,C,D\n"))
    assert [case["question"] for case in taken.cases] == ["Q", "R"]
    assert taken.fields == {"a column without a name": 1}
    assert reasons(taken) == [("t.csv:4", "found 4 cells, wanted at most 3, as in the header")]
    assert taken.rows == 3


def test_a_long_cell_is_read_whole(tmp_path: Path) -> None:
    long = "x" * 200_000
    taken = took(table, written(tmp_path / "t.csv", f"question,answer\nQ,{long}\n"))
    assert taken.cases[0]["answers"] == [long]


def workbook(path: Path, *rows: list[Any]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return book


def test_a_spreadsheet_is_read_as_shown(tmp_path: Path) -> None:
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
    taken = took(table, path)
    assert taken.cases == [
        {"id": "t-1", "question": "What is the fee?", "answers": ["0.5%"], "Year": "2024", "Checked": "true"},
        {"id": "t-2", "question": "When did it open?", "answers": ["2019-01-31"], "Year": "2024", "Checked": "false"},
        {"id": "t-3", "question": "How many?", "answers": ["1234567.89"]},
    ]
    [note] = taken.notes
    assert note.endswith("t.xlsx: skipped the sheet 'Notes'; only the first sheet is read.")


def test_an_invalid_spreadsheet_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.xlsx: openpyxl cannot read the spreadsheet"):
        took(table, written(tmp_path / "t.xlsx", "question,answer\n"))
    with pytest.raises(DataError, match=r"none\.xlsx: cannot be read: No such file"):
        took(table, tmp_path / "none.xlsx")


def test_a_spreadsheet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workbook(tmp_path / "t.xlsx", ["question", "answer"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pytest-rageval\[spreadsheet\]'"):
        took(table, tmp_path / "t.xlsx")


def test_a_table_may_name_its_columns_in_chinese(tmp_path: Path) -> None:
    text = "问题,答案,回答,一级主题,二级主题,任务\n谁?,张三,李四。,人事,职员,extractive_qa\n"
    taken = took(table, written(tmp_path / "t.csv", text))
    (case,), (answer,) = taken.cases, taken.answers
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
def test_earlier_turns_are_history_in_every_form(name: str, value: object, tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {name: value})
    assert taken.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"], "history": TURNS}]
    assert set(taken.fields) <= {f"{name}.system messages"}


def test_messages_may_hold_the_question_and_open_turns(tmp_path: Path) -> None:
    user, assistant = ({"role": role, "content": "x"} for role in ("user", "assistant"))
    taken = took_rows(
        tmp_path,
        {"question": None, "messages": [user, assistant, {**user, "content": "What?"}]},
        {"messages": [user, {**user, "content": "y"}, assistant]},
        {"messages": [{**user, "content": "Q?"}, assistant]},
        {"messages": [assistant, user, assistant]},
        {"question": None, "messages": [user, assistant]},
    )
    x = {"question": "x", "answer": "x"}
    assert [(case["question"], case.get("history")) for case in taken.cases] == [
        ("What?", [x]),
        ("Q?", [{"question": "x", "answer": ""}, {"question": "y", "answer": "x"}]),
        ("Q?", None),
        ("Q?", [x]),
    ]
    assert taken.fields == {
        "messages: an answer to the question of its row": 1,
        "messages.answers without a question": 1,
    }
    assert reasons(taken) == [("t.jsonl:5", "the field question or q is missing or empty")]
    assert taken.lost


@pytest.mark.parametrize(
    "value", [7, "as before", {"question": "Q?"}, [7], [["a", "b", "c"]], [{"text": "x"}], [[1, 2]]]
)
def test_a_history_of_no_known_form_is_left_by_name(value: object, tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {"chat_history": value})
    assert taken.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"]}]
    assert taken.fields == {"chat_history": 1}


@pytest.mark.parametrize(
    "value",
    [[["a", "b"], ["c"]], [["a", "b"], "c"], "[['a', 'b'], ['c']]", '[["a", "b"], ["c"]]', "[['a' 'b']\n ['c']]"],
)
def test_lists_within_a_list_of_answers_are_slots(value: object, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('question,answers\nQ?,"' + str(value).replace('"', '""') + '"\n', encoding="utf-8")
    taken = took(table, path, slots=True)
    assert taken.cases == [{"id": "t-1", "question": "Q?", "slots": [["a", "b"], ["c"]]}]
    [(where, why)] = reasons(took(table, path))
    assert (where, why.partition(";")[0]) == ("t.csv:2", "answers: found lists within a list")


def test_slots_are_of_false_answers_too_and_a_flat_list_is_aliases(tmp_path: Path) -> None:
    parts = {"answer": [["a"], ["b", 2]], "fake_answers": [["x"], "y"]}
    taken = took_rows(tmp_path, parts, {"answer": ["a", "b"]}, {"answer": [["a"], []]}, slots=True)
    assert taken.cases == [
        {"id": "t-1", "question": "Q?", "slots": [["a"], ["b", "2"]], "fake_answers": [["x"], ["y"]]},
        {"id": "t-2", "question": "Q?", "answers": ["a", "b"]},
    ]
    assert reasons(taken) == [
        ("t.jsonl:3", "slots[1]: found an array of 0, wanted a string that is not empty or a list of at least one")
    ]


def test_references_are_passages(tmp_path: Path) -> None:
    same_id = [{"doc_id": 7, "contents": NOON, "title": "Ferry"}, {"doc_id": 7, "text": THREE, "score": 1.5, "url": ""}]
    taken = took_rows(
        tmp_path,
        {"references": [NOON, THREE]},
        {"positive_references": same_id, "counterfactual_reference": {"doc_id": 7, "text": "The ferry is gone."}},
        {"reference_passages": json.dumps(same_id[:1])},
    )
    positive = [{**passage, "role": "positive"} for passage in ranked(NOON, THREE)]
    first = {"id": 7, "text": NOON, "title": "Ferry", "role": "positive"}
    gone = {**ranked("The ferry is gone.")[0], "role": "counterfactual"}
    assert [case["passages"] for case in taken.cases] == [positive, [first, positive[1], gone], [first]]
    assert taken.fields == {"positive_references.score": 1}


def test_a_text_that_is_json_stays_a_text(tmp_path: Path) -> None:
    price = '{"price": 4, "currency": "EUR"}'
    taken = took_rows(tmp_path, {"references": price}, {"references": [price]}, {"references": [{"price": 4}]})
    assert [case["passages"] for case in taken.cases] == [[{**ranked(price)[0], "role": "positive"}]] * 2
    [(where, why)] = reasons(taken)
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
def test_a_reference_without_a_text_is_named_as_the_row_names_it(value: object, problem: str, tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {"references": value}, {"reference_passages": ["ok"]})
    assert len(taken.cases) == 1
    wanted = "wanted a text, or an object with one under text, contents, content, passage, page_content or body"
    assert reasons(taken) == [("t.jsonl:1", f"{problem}, {wanted}")]


def test_a_retrieved_context_without_a_text_leaves_its_answer(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": "A", "response": "A", "retrieved_contexts": ["a", ["b"]]}
    taken = took(ragas, written(tmp_path / "r.json", json.dumps([row])))
    [(where, why)] = reasons(taken)
    assert (where, why.partition(",")[0]) == (
        "r.json:1",
        "answer skipped: retrieved_contexts[1]: found an array of 1",
    )
    assert (len(taken.cases), taken.answers) == (1, [])


@pytest.mark.parametrize("more", [{"gold": "B"}, {"history": TURNS, "chat_history": TURNS}])
def test_two_fields_with_one_meaning_skip_only_their_row(more: dict[str, Any], tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {}, more, {})
    assert [case["id"] for case in taken.cases] == ["t-1", "t-3"]
    names = ("answer", "gold") if "gold" in more else ("history", "chat_history")
    assert reasons(taken) == [("t.jsonl:2", "the fields {!r} and {!r} mean the same; remove one".format(*names))]


def test_ids_without_reference_texts_are_judgements(tmp_path: Path) -> None:
    row = {"user_input": "Q?", "reference": "A", "reference_contexts": [], "reference_context_ids": [7]}
    taken = took(ragas, written(tmp_path / "r.json", json.dumps([row])))
    assert taken.cases == [{"id": "r-1", "question": "Q?", "answers": ["A"], "qrels": {"7": 1}}]


def test_records_of_our_own_format_keep_what_they_say(tmp_path: Path) -> None:
    own = {
        "slots": [["a"]],
        "passages": [{"id": "d1", "text": "T", "role": "negative"}],
        "qrels": {"d1": -1},
        "provenance": [["d1"]],
        "history": TURNS,
        "topic": "Funds",
    }
    taken = took_rows(tmp_path, {"answer": None, **own}, content_ids=True)
    [case] = taken.cases
    assert case == {"id": case["id"], "question": "Q?", **own}
    assert not taken.lost


def test_passages_may_be_plain_texts(tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {"passages": [NOON]})
    assert taken.cases == [{"id": "t-1", "question": "Q?", "answers": ["A"], "passages": [NOON]}]


def test_ids_come_from_content_where_rows_have_none(tmp_path: Path) -> None:
    rows = [{}, {"id": "mine"}, {"answer": "B"}, {"topic": "T"}, {}]
    taken = took_rows(tmp_path, *rows, content_ids=True)
    ids = [str(case["id"]) for case in taken.cases]
    assert ids[1] == "mine"
    assert len(set(ids)) == len(ids) == 4  # the last row is the first one again
    assert all(len(name) == 12 for name in ids if name != "mine")
    again = took_rows(tmp_path, *rows[::-1], content_ids=True)
    assert {ids[0], "mine", ids[2]} < {str(case["id"]) for case in again.cases}
    assert taken.skipped == again.skipped == []


def test_an_empty_column_is_not_the_second_of_its_kind(tmp_path: Path) -> None:
    taken = took_rows(tmp_path, {"answers": [], "expected": None}, {"answer": "", "answers": ["B"]})
    assert [case["answers"] for case in taken.cases] == [["A"], ["B"]]


def test_a_sheet_with_a_far_cell_is_refused_before_its_cells_are_made(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["question", "answer"], ["Q?", "A"]):
        book.active.append(row)
    book.create_sheet("far")["XFD1048576"] = "x"
    book.save(tmp_path / "t.xlsx")
    assert took(table, tmp_path / "t.xlsx").notes == [
        f"{tmp_path / 't.xlsx'}: skipped the sheet 'far'; only the first sheet is read."
    ]
    book.active["XFD1048576"] = "x"
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        DataError, match=r"reaches to XFD1048576, 17,179,869,184 cells, wanted at most 2,000,000; delete"
    ):
        took(table, tmp_path / "t.xlsx")
