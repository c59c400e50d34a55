"""Datasets in OmniEval's tree of topics and tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets import omnieval
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage, Turn

GOOD: dict[str, object] = {"question": "Q?", "answer": ["A"], "relevant_passage": ["P"], "relevant_node": ["n1"]}

EXPECTED_PATH = "below the root, wanted <level 1>/<level 2>/<task>.jsonl; name the root of the tree, or one file"


@pytest.fixture
def tree(fixtures_dir: Path) -> Path:
    return fixtures_dir / "datasets" / "omnieval"


def by_id(path: Path) -> dict[str, Instance]:
    return {instance.id: instance for instance in omnieval.load(path)}


def write(folder: Path, *lines: object, place: str = "A/B/extractive_qa.jsonl") -> Path:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_path_of_a_record_gives_its_topic_and_task(tree: Path) -> None:
    instances = by_id(tree)
    assert list(instances) == [
        "b1",
        "投资-基金-多轮对话能力-1.1",
        "投资-基金-多轮对话能力-1.2",
        "投资-基金-抽取类问答-1",
        "投资-基金-抽取类问答-2",
    ]
    assert instances["投资-基金-抽取类问答-1"].facets == {
        "dataset": "omnieval",
        "topic_1": "投资",
        "topic": "基金",
        "task": "extractive_qa",
        "domain": "金融",
        "language": "zh",
        "evaluation": "2",
    }
    assert instances["b1"].facets == {
        "dataset": "omnieval", "topic_1": "Banking", "topic": "Retail", "task": "long_form_qa", "language": "en",
    }  # fmt: skip


def test_the_fields_of_a_record_are_read(tree: Path) -> None:
    one, two = (by_id(tree)[f"投资-基金-抽取类问答-{n}"] for n in (1, 2))
    assert one.gold == (("1.2%", "百分之一点二"),)
    assert one.qrels == {"fund-17": 1}
    assert one.passages == (Passage("p0", "晨星稳健基金的申购费率为1.2%。", role="positive", page="fund-17"),)
    assert one.origin.endswith("抽取类问答.jsonl:1")
    assert two.gold == (("海岸银行",),)
    assert two.qrels == {"fund-18": 1}
    minimal = by_id(tree)["b1"]
    assert (minimal.passages, minimal.qrels) == (None, {})


def test_each_turn_of_a_conversation_has_the_earlier_turns_as_history(tree: Path) -> None:
    first, second = (by_id(tree)[f"投资-基金-多轮对话能力-1.{n}"] for n in (1, 2))
    assert first.history == ()
    assert second.history == (Turn("晨星稳健基金什么时候成立？", "2015年"),)
    assert second.gold == (("30亿元", "三十亿元"),)
    assert second.facets["task"] == "conversational_qa"
    assert (second.facets["dialogue"], second.facets["round"]) == ("投资-基金-多轮对话能力-1", "2")
    assert [p.page for p in second.passages or ()] == ["fund-20", "fund-19"]


def test_a_single_file_of_the_tree_gets_its_topic_from_its_path(tree: Path) -> None:
    instances = omnieval.load(tree / "投资" / "基金" / "抽取类问答.jsonl")
    assert [instance.id for instance in instances] == ["抽取类问答-1", "抽取类问答-2"]
    assert instances[0].facets["topic_1"] == "投资"
    assert instances[0].facets["topic"] == "基金"
    assert instances[0].facets["task"] == "extractive_qa"
    assert instances[0].facets["dataset"] == "抽取类问答"


def test_a_conversation_without_turns_has_no_case(tmp_path: Path) -> None:
    write(tmp_path, [], [GOOD])
    assert [instance.id for instance in omnieval.load(tmp_path)] == ["A-B-extractive_qa-2.1"]


def test_a_conversation_without_turns_is_reported(tmp_path: Path) -> None:
    first = write(tmp_path, GOOD, [], [GOOD])
    other = write(tmp_path, GOOD, place="A/C/extractive_qa.jsonl")
    other.write_bytes(b"\n" + other.read_bytes() + b" [ ] \r\n[[]]\n")
    left_out = [(f"{first}:2", "a conversation of zero turns"), (f"{other}:3", "a conversation of zero turns")]
    assert list(omnieval.load.left_out(tmp_path)) == left_out
    assert list(omnieval.load.left_out(first)) == left_out[:1]


def test_passages_have_no_chunk_if_the_counts_differ(tmp_path: Path) -> None:
    path = write(tmp_path, {**GOOD, "relevant_node": ["n1", "n2"]})
    (instance,) = omnieval.load(path)
    assert instance.passages == (Passage("p0", "P", role="positive"),)
    assert instance.qrels == {"n1": 1, "n2": 1}


@pytest.mark.parametrize(
    ("passages", "nodes", "expected"),
    [
        (["P", "Q"], "n1", [("P", "n1"), ("Q", "n1")]),
        (["P", "Q"], ["n1", "n1"], [("P", "n1"), ("Q", "n1")]),
        (["P", "P", "Q"], ["n1", "n1", "n2"], [("P", "n1"), ("Q", "n2")]),
        (["P", "P", "Q"], ["n1", "n2"], [("P", ""), ("Q", "")]),  # no position matches them
        ([" ", "Q"], ["n1", "n2"], [("Q", "n2")]),
        ([], ["n1"], []),
    ],
)
def test_passages_and_chunks_are_matched_by_position(
    tmp_path: Path, passages: list[str], nodes: str | list[str], expected: list[tuple[str, str]]
) -> None:
    path = write(tmp_path, {**GOOD, "relevant_passage": passages, "relevant_node": nodes})
    (instance,) = omnieval.load(path)
    assert [(passage.text, passage.page) for passage in instance.passages or ()] == expected
    assert instance.qrels == dict.fromkeys([nodes] if isinstance(nodes, str) else nodes, 1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({**GOOD, "question": " "}, "question: found ' ', wanted a string that is not empty"),
        (
            {**GOOD, "answer": []},
            "answer: found an array of 0, wanted a string that is not empty or a list of at least one",
        ),
        ({**GOOD, "answer": ["A", ""]}, "answer[1]: found '', wanted a string that is not empty"),
        ({**GOOD, "answer": ""}, "answer: found '', wanted a string that is not empty or a list of at least one"),
        ({**GOOD, "relevant_node": 7}, "relevant_node: found 7, wanted a string or a list of strings"),
        ({**GOOD, "relevant_passage": [7]}, "relevant_passage[0]: found 7, wanted a string"),
        ({**GOOD, "task_name": 7}, None),
        ([GOOD, {**GOOD, "question": ""}], "turn 2: question: found '', wanted a string that is not empty"),
        ([GOOD, {"question": "Q?"}], "the field turn 2: answer is missing, wanted a string or a list of strings"),
        ([GOOD, 5], "found 5 for a record, wanted a JSON object"),
        ("text", "found 'text' for a record, wanted a JSON object"),
        (None, "found null for a record, wanted a JSON object"),
    ],
)
def test_a_bad_record_is_named_by_file_and_line(tmp_path: Path, line: object, problem: str | None) -> None:
    path = write(tmp_path, GOOD, line)
    if problem is None:  # the path gives the task
        assert len(omnieval.load(tmp_path)) == 2
        return
    with pytest.raises(DataError) as error:
        omnieval.load(tmp_path)
    assert str(error.value) == f"{path}:2: {problem}"


def test_an_id_is_unique_in_the_tree(tmp_path: Path) -> None:
    write(tmp_path, {**GOOD, "id": "x"})
    write(tmp_path, {**GOOD, "id": "x"}, place="A/C/extractive_qa.jsonl")
    with pytest.raises(DataError, match=r"C/extractive_qa.jsonl:1: the id 'x' is already in .*B/extractive_qa.jsonl:1"):
        omnieval.load(tmp_path)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("A/extractive_qa.jsonl", f"lies 1 level deep {EXPECTED_PATH}"),
        ("extractive_qa.jsonl", f"lies 0 levels deep {EXPECTED_PATH}"),
        ("A/B/C/extractive_qa.jsonl", f"lies 3 levels deep {EXPECTED_PATH}"),
        ("A/B/notes.txt", "holds no file <level 1>/<level 2>/<task>.jsonl; name the root of the tree, or one file"),
    ],
)
def test_a_tree_of_another_shape_is_refused(tmp_path: Path, place: str, problem: str) -> None:
    write(tmp_path, GOOD, place=place)
    with pytest.raises(DataError) as error:
        omnieval.load(tmp_path)
    assert str(error.value).endswith(problem)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(DataError, match="the file holds no record"):
        omnieval.load(path)
