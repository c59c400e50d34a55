"""``rageval import``: files, output and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.datasets.jsonl import load
from pytest_rageval.datasets.recorded import load_recorded
from pytest_rageval.model.case import Passage, Turn
from pytest_rageval.systems.chains.chain_file import read_chain

Import = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def imports(fixtures_dir: Path) -> Path:
    return fixtures_dir / "imports"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Import:
    """Return a function that runs the command in an empty folder and returns the status and both streams."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, list[str], str]:
        status = main(["import", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return call


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def test_imported_rows_are_written_and_load(imports: Path, command: Import) -> None:
    status, out, err = command("omnieval-predictions", imports / "omnieval", "--system", "bge")
    assert (status, err) == (0, "")
    assert out == [
        "6 cases of 6 rows -> cases.jsonl",
        "6 answers of 6 rows -> cases.answers.jsonl",
        "Several files have the same ids: each id starts with the name of its file.",
        "not needed: output.prompt (6)",
        "not needed: repeated passages of a ranking (1)",
    ]
    assert files() == ["cases.answers.jsonl", "cases.jsonl"]
    instances, answers = load(Path("cases.jsonl")), load_recorded(Path("cases.answers.jsonl"))
    assert [instance.id for instance in instances] == [answer.id for answer in answers]
    assert {answer.system for answer in answers} == {"bge"}


def test_imported_scores_belong_to_the_imported_cases(imports: Path, command: Import) -> None:
    command("omnieval-predictions", imports / "omnieval", "--out", "funds.jsonl")
    status, out, err = command("omnieval-results", imports / "omnieval", "--cases", "funds.jsonl")
    assert (status, err) == (1, "")
    assert out[:4] == [
        "60 scores of 48 rows -> scores.jsonl",
        "hallucination: 1 without a value, not_applicable_or_parse_error",
        "hallucination: 1 without a value, out_of_range",
        "completeness: 4 without a value, not_applicable_or_parse_error",
    ]
    assert out[-1].endswith("hallucination.jsonl:3: hallucination of '投资-基金-抽取类问答-1' is out_of_range: '2.0'")
    scores = lines("scores.jsonl")
    assert {row["id"] for row in scores} == {instance.id for instance in load(Path("funds.jsonl"))}
    assert [row["value"] for row in scores if row["metric"] == "RR"] == [1.0, 1.0, 1.0, 0.0, 1.0, 0.5]


def test_a_jsonl_file_of_another_project_is_imported_whole(command: Import) -> None:
    """Public question sets have nested answers, references, earlier turns and no ids."""
    reference = {"id": "159", "title": "Visit", "contents": "It opens at 9:00 and closes at 17:00.", "url": "a.md"}
    rows = [
        {
            "question": "When is it open?",
            "answers": [["9:00", "nine"], ["17:00", "five"]],
            "positive_reference": [reference],
        },
        {
            "history_qa": [{"question": "When does it open?", "answers": ["9:00"], "positive_reference": reference}],
            "question": "And close?",
            "answers": ["17:00", "five"],
            "positive_reference": reference,
        },
    ]
    Path("open.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, out, err = command("jsonl", "open.jsonl", "--slots", "--ids", "content")
    assert (status, err) == (1, "")
    assert out == [
        "2 cases of 2 rows -> cases.jsonl",
        "left: history_qa.positive_reference (1)",
        "left: positive_reference.url (2)",
    ]
    parts, turn = load(Path("cases.jsonl"))
    assert (parts.gold, turn.gold) == ((("9:00", "nine"), ("17:00", "five")), (("17:00", "five"),))
    assert turn.history == (Turn("When does it open?", "9:00"),)
    passage = Passage("159", str(reference["contents"]), "Visit", "positive")
    assert (parts.passages, turn.passages) == ((passage,), (passage,))
    ids = [parts.id, turn.id]
    Path("open.jsonl").write_text("\n".join(map(json.dumps, rows[::-1])))
    command("jsonl", "open.jsonl", "--slots", "--ids", "content", "--force")
    assert [row["id"] for row in lines("cases.jsonl")] == ids[::-1]


def test_pages_of_a_table_become_evidence_that_lint_finds_in_the_corpus(
    command: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("docs").mkdir()
    Path("docs/ferry.md").write_text("The ferry leaves at noon. It is blue.")
    Path("docs/tickets.md").write_text("Tickets cost 3 euros.")
    rows = [
        "When does the ferry leave?,At noon.,The ferry leaves at noon.,docs/ferry.md,3",
        'What colour is it?,Blue.,"[""It is blue."", ""Tickets cost 3 euros.""]",docs/ferry.md; docs/tickets.md,4',
    ]
    Path("q.csv").write_text("\n".join(["Question,Answer,References,Source,Page", *rows]))
    assert command("table", "q.csv") == (0, ["2 cases of 2 rows -> cases.jsonl"], "")
    assert [[len(units) for units in case.evidence] for case in load(Path("cases.jsonl"))] == [[1], [2]]
    assert main(["lint", "jsonl:cases.jsonl", "--corpus", "docs/*.md"]) == 0
    assert "evidence_not_in_corpus" not in capsys.readouterr().out
    Path("docs/ferry.md").write_text("The ferry leaves at noon. It is red.")
    assert main(["lint", "jsonl:cases.jsonl", "--corpus", "docs/*.md"]) == 1
    assert "error: evidence_not_in_corpus q-2" in capsys.readouterr().out


def test_nested_answers_are_never_dropped_silently(command: Import) -> None:
    rows = [{"question": "Q?", "answers": [["a"], ["b"]]}, {"question": "R?", "answers": ["a", "b"]}]
    Path("parts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, out, _ = command("table", "parts.jsonl")
    assert status == 1
    assert out == [
        "1 cases of 2 rows -> cases.jsonl",
        "left: parts.jsonl:1: answers: found lists within a list; add --slots if every inner list must match",
    ]


def test_a_skipped_field_makes_the_status_1(command: Import) -> None:
    Path("t.jsonl").write_text('{"question": "Q?", "answer": "A", "steps": ["x"], "history": 7}')
    assert command("table", "t.jsonl") == (
        1,
        ["1 cases of 1 rows -> cases.jsonl", "left: history (1)", "left: steps (1)"],
        "",
    )


def test_skipped_rows_are_listed_and_make_the_status_1(imports: Path, command: Import) -> None:
    status, out, err = command("table", imports / "questions.csv")
    assert status == 1
    assert out[0] == "2 cases of 3 rows -> cases.jsonl"
    assert out[1].endswith("questions.csv:6: the field answer or answers is missing or empty")
    assert err == ""
    assert files() == ["cases.jsonl"]


@pytest.mark.parametrize("existing", ["cases.jsonl", "cases.answers.jsonl"])
def test_nothing_is_overwritten_without_force(existing: str, imports: Path, command: Import) -> None:
    Path(existing).write_text("mine")
    status, out, err = command("deepeval", imports / "deepeval.csv")
    assert (status, out) == (2, [])
    assert err == f"rageval: {existing} already exists; name another file with --out, or add --force [RAG101]\n"
    assert files() == [existing]
    assert Path(existing).read_text() == "mine"
    assert command("deepeval", imports / "deepeval.csv", "--force")[0] == 0
    assert lines("cases.answers.jsonl")[0]["answer"] == "At 1 am."


@pytest.mark.parametrize("extra", [{}, {"steps": ["x"]}])
def test_only_a_line_with_left_makes_the_status_1(extra: dict[str, Any], command: Import) -> None:
    row = {"id": 1, "query": "Q?", "ans": ["A"], "docs": ["A"], "prediction": "A", "label": [1], "factlabel": 0}
    Path("p.json").write_text(json.dumps(row | extra))
    status, out, _ = command("rgb-predictions", "p.json")
    assert out[2:] == [*(f"left: {name} (1)" for name in extra), "not needed: factlabel (1)", "not needed: label (1)"]
    assert status == bool(extra)


def test_a_source_is_never_overwritten(command: Import) -> None:
    Path("mine.jsonl").write_text('{"input": "Q?", "expected_output": "A"}\n')
    status, _, err = command("deepeval", "mine.jsonl", "--out", "mine.jsonl", "--force")
    assert (status, err) == (
        2,
        "rageval: mine.jsonl is a source of the import; name another file with --out [RAG101]\n",
    )
    assert lines("mine.jsonl") == [{"input": "Q?", "expected_output": "A"}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("raga", "x.json"), "unknown format to import 'raga'; did you mean 'ragas'?"),
        (("ragas", "x.json"), "x.json: no such file"),
        (("ragas", "empty.json"), "nothing was written: none of 0 rows could be imported; the first: the sources have"),
        (("ragas", "bad.json"), "nothing was written: none of 2 rows could be imported; the first: bad.json:1: the fi"),
        (("ragas", "bad.json", "--cases", "x"), "--cases FILE is for omnieval-results, not for ragas; leave it out"),
        (("omnieval-results", "bad.json"), "OmniEval's results have no case ids; add --cases FILE"),
        (("rgb-predictions", "x", "--slots"), "--slots is for deepeval, jsonl, ragas, table, not for rgb-predictions;"),
        (("omnieval-results", "x", "--ids", "content"), "--ids content is for deepeval, jsonl, ragas, table, not for"),
        (("table", "good.csv", "--out", "no/cases.jsonl"), "no/cases.jsonl cannot be written: No such file"),
    ],
)
def test_an_error_is_one_sentence(arguments: tuple[str, ...], problem: str, command: Import) -> None:
    Path("empty.json").write_text("\n")
    Path("bad.json").write_text('{"question": "Q?"}\n{"question": "R?"}\n')
    Path("good.csv").write_text("question,answer\nQ?,A\n")
    before = files()
    status, out, err = command(*arguments)
    assert (status, out) == (2, [])
    assert err.startswith(f"rageval: {problem}")
    assert err.count("\n") == 1
    assert files() == before


CHAIN = {"prompt_template": "{question}", "function": "LLM", "llm_name": "llama", "f-strings_or_eval": "f-strings"}


def test_an_experiment_of_ralle_becomes_a_chain(command: Import) -> None:
    config = {"dataset": {"batch_size": 4}, "len_chain": 1, "chain": [CHAIN]}
    Path("nq.json").write_text(json.dumps({"chain_config": config}), encoding="utf-8")
    status, out, err = command("ralle-chain", "nq.json")
    assert (status, err) == (0, "")
    assert out == [
        "1 action -> nq.toml",
        "left out: chain_config.dataset.batch_size 4; rag_concurrency bounds the answers in flight",
        "left out: chain_config.chain[0].llm_name 'llama'; the chain asks rag_model",
    ]
    (action,) = read_chain(Path("nq.toml"), "nq.toml").actions
    assert (action.name, action.do) == ("a0", "generate")
    assert command("ralle-chain", "nq.json")[2].startswith("rageval: nq.toml already exists")
    assert command("ralle-chain", "nq.json", "--system", "x")[2].startswith("rageval: --system is for recorded answers")


def test_an_experiment_with_a_wrong_number_of_actions_is_refused(command: Import) -> None:
    config = {"len_chain": 1, "chain": [CHAIN, CHAIN, CHAIN]}
    Path("nq.json").write_text(json.dumps({"chain_config": config}), encoding="utf-8")
    status, out, err = command("ralle-chain", "nq.json", "--out", "chain.toml")
    assert (status, out) == (2, [])
    assert err.startswith("rageval: nq.json: chain_config.len_chain is 1, and chain has 3 actions; correct one of them")
    assert files() == ["nq.json"]
