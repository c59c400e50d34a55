"""eRAG labels each retrieved document by the answer of the system from it alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads what a run imports, and this module can be loaded only once
from support.projects.rag_project import Mode, Project, case
from support.projects.scripted_projects import NOTED, asked_of, conftest, refused, values

import pytest_rageval.analysis.correlation
import pytest_rageval.metrics.rankings.utility
import pytest_rageval.report.files.read_results
import pytest_rageval.retrieval.bm25  # noqa: F401
from pytest_rageval.cli import main

READS = """
    @pytest.fixture(scope="session")
    def rag_llm():
        def reply(messages):
            texts = messages[-1]["content"].partition("Question:")[0]
            return "two years" if "lasts two years" in texts else "a euro" if "costs a euro" in texts else "no idea"
        return Noted("llm", reply, usage=Usage(10, 2, 0.5))
"""
"""A conftest whose model knows only what the documents of its prompt say."""

DOCS = {
    "long": "A kettle lasts two years.",
    "blue": "A kettle is blue, and the kettle is round.",
    "fee": "A parcel costs a euro.",
    "leave": "A parcel leaves on Mondays.",
}
ROWS = [
    case("q1", "How long does a kettle last?", "two years", qrels={"long": 1}),
    case("q2", "What does a parcel cost?", "a euro"),
    case("q3", "When does a parcel leave?", "Mondays"),
    case("q4", "Who are we?", "nobody"),
]

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=METRICS, gates=GATES)
    def test_it(rag):
        ...
"""

METRICS = ["accuracy", "erag:P@2", "erag:AP", "erag:Success@1"]


def write_corpus_project(
    project: Project, *, metrics: list[str] = METRICS, gates: list[str] | None = None, model: str = READS, ini: str = ""
) -> None:
    """Make a project that retrieves two documents of its corpus for each question."""
    project.data(ROWS)
    project.data([{"id": name, "text": text} for name, text in DOCS.items()], "kb.jsonl")
    project.file("pytest.ini", f"[pytest]\nrag_corpus = kb.jsonl\nrag_top_k = 2\n{ini}")
    conftest(project, NOTED, model)
    project.file("test_it.py", TEST.replace("METRICS", repr(metrics)).replace("GATES", repr(gates or [])))


def prompt_counts(requests: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    """Count the prompts for each question and number of documents."""
    texts = [request["messages"][-1]["content"] for request in requests]
    return Counter((text.partition("Question: ")[2], sum(f"[{n}]" in text for n in (1, 2, 3))) for text in texts)


def test_each_document_is_labelled_by_the_answer_from_it_alone(project: Project, mode: Mode) -> None:
    gates = ["erag:Success@2 >= 0.3", "erag:P@2 >= 0.2", "erag:nDCG >= 0.3"]
    write_corpus_project(project, gates=gates)
    run = project.run(*mode)
    assert run.status == 0, run.text
    assert values(run, "erag:P@2") == {"q1": 0.5, "q2": 0.5, "q3": 0.0, "q4": 0.0}
    assert set(values(run, "erag:Success@2").values()) == {0.0, 1.0}
    assert values(run, "answer_in_context") == {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q4": 0.0}
    assert values(run, "page_Rprec")["q2"] is None
    assert {gate["status"] for gate in run.gates.values()} == {"passed"}
    assert prompt_counts(asked_of(project, "llm")) == {
        (row["question"], n): times for row in ROWS[:3] for n, times in ((1, 2), (2, 1))
    } | {("Who are we?", 0): 1}
    calls = {name: outcome["calls"] for name, outcome in run.outcomes.items()}
    assert [(calls[f"q{n}"]["calls"], calls[f"q{n}"]["cost_usd"]) for n in (1, 2, 3, 4)] == [(3, 1.5)] * 3 + [(1, 0.5)]
    assert run.outcomes["q1"]["answer"]["usage"]["prompt_tokens"] == 10  # of the answer only, without the labels


SEARCHES = """
    import threading
    from pytest_rageval import Answer, Ranking, ScoredPassage

    TEXTS = {"right": "It is Paris.", "wrong": "It is Rome.", "empty": ""}

    def search(query):
        if query.passages is None:
            names = query.question.split()[1:]
            passages = tuple(ScoredPassage(name, None, TEXTS[name]) for name in names)
            return Answer("Paris", Ranking(passages) if query.question.startswith("find") else None)
        (passage,) = query.passages
        with open("alone.jsonl", "a") as stream:
            in_main_thread = threading.current_thread() is threading.main_thread()
            stream.write(json.dumps([query.question, passage.id, passage.role, in_main_thread]) + chr(10))
        if passage.id == "raises":
            raise ValueError("no such page")
        return Answer(passage.text, usage=Usage(7, 1, 0.25))

    @pytest.fixture(scope="session")
    def rag_system():
        return search
"""
"""A conftest whose system retrieves the documents that a question names, and answers with the text of its passage."""


def write_project(
    project: Project, rows: list[dict[str, Any]], metrics: list[str], *gates: str, system: str = SEARCHES
) -> None:
    project.data(rows)
    conftest(project, NOTED, system)
    project.file("test_it.py", TEST.replace("METRICS", repr(metrics)).replace("GATES", repr(list(gates))))


def documents_read(project: Project) -> list[Any]:
    path = project.path / "alone.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


FINDS = [case("q1", "find wrong right"), case("q2", "find right"), case("q3", "find"), case("q4", "say right")]


def test_a_users_system_labels_documents_in_the_thread_of_its_test(project: Project) -> None:
    write_project(project, FINDS, ["token_f1", "accuracy", "erag:P@2", "erag:Success@1", "nDCG@5"], "erag:P@2 >= 0.1")
    run = project.run()
    assert run.status == 0, run.text
    f1 = 2 * 1 / (1 + 3)  # of "Paris" in "It is Paris."
    assert values(run, "erag:P@2") == {"q1": pytest.approx(f1 / 2), "q2": pytest.approx(f1 / 2), "q3": 0.0, "q4": None}
    assert values(run, "erag:Success@1") == {"q1": 0.0, "q2": pytest.approx(f1), "q3": 0.0, "q4": None}
    assert run.outcomes["q4"]["scores"]["erag:P@2"]["reason"] == "no_ranking"
    assert sorted(documents_read(project)) == [
        ["find right", "right", "", True], ["find wrong right", "right", "", True],
        ["find wrong right", "wrong", "", True],
    ]  # fmt: skip
    assert run.outcomes["q1"]["calls"]["cost_usd"] == 0.5  # the usage of each labelling answer is counted


def test_erag_is_unscored_without_texts_or_without_a_system(project: Project) -> None:
    write_project(project, [case("q1", "find right empty"), *FINDS[1:]], ["accuracy", "erag:P@2"])
    run = project.run()
    assert run.outcomes["q1"]["scores"]["erag:P@2"] == {"value": None, "reason": "no_texts"}
    run.said("unscored: *1 no_texts (erag:P@2)*")
    assert [name for name, *_ in documents_read(project)] == ["find right"]

    ranked = [{"id": "right", "score": 1.0, "text": "It is Paris."}]
    project.data([{"id": row["id"], "answer": "Paris", "ranking": ranked} for row in FINDS], "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl", "--rag-gate", "erag:P@2 >= 0")
    assert set(values(run, "erag:P@2").values()) == {None}
    assert values(run, "answer_in_context")["q1"] == 1.0
    assert run.gates["erag:P@2 >= 0"]["reason"] == "nothing was scored: 4 cases, 0 errors (system_unavailable)"
    assert documents_read(project) == []


def test_a_retrieved_document_takes_its_text_and_title_from_the_pool(project: Project) -> None:
    pool = [{"id": "empty", "text": "Paris it is.", "title": "Cities", "role": "positive"}]
    write_project(project, [case("q1", "find empty", passages=pool)], ["accuracy", "erag:P@1"],
        system=SEARCHES.replace("if query.passages is None:", "if len(query.passages[0].title) and not seen.pop():")
                  .replace("def search", "seen = [True, False]\n\n    def search"))  # fmt: skip
    run = project.run()
    assert values(run, "erag:P@1") == {"q1": 1.0}
    assert documents_read(project) == [["find empty", "empty", "", True]]  # the role stays hidden


def test_a_system_that_fails_on_a_document_makes_its_case_an_error(project: Project) -> None:
    rows = [case("q1", "find right raises"), FINDS[1]]
    write_project(
        project, rows, ["accuracy", "erag:P@2"], system=SEARCHES.replace('"empty": ""', '"raises": "It raises."')
    )
    run = project.run()
    assert run.status == 1
    assert run.statuses == {"q1": "error", "q2": "scored"}
    outcome = run.outcomes["q1"]
    assert outcome["error_type"] == "system_error"
    assert "failed on case 'q1'" in outcome["error"]
    assert "ValueError: no such page" in outcome["error"]
    assert outcome["error"].endswith("(asked from the document 'raises' alone)")
    assert outcome["answer"]["text"] == "Paris"


def test_a_duplicate_document_makes_its_case_an_error_and_nothing_is_asked(project: Project) -> None:
    write_project(project, [case("q1", "find right wrong right")], ["accuracy", "erag:P@2"])
    run = project.run()
    assert run.outcomes["q1"]["error_type"] == "bad_ranking"
    assert "case 'q1': the ranking has the document 'right' at ranks 1 and 3" in run.outcomes["q1"]["error"]
    assert documents_read(project) == []


@pytest.mark.parametrize(
    ("metrics", "gates", "sentence"),
    [
        (["token_f1", "erag:nDCG@5"], [], "erag:nDCG@5 needs labels that are 0 or 1, and token_f1 gives others"),
        (["token_f1", "accuracy"], ["erag:AP >= 0"], "erag:AP needs labels that are 0 or 1, and token_f1 gives others"),
        (["nDCG@5", "erag:P@5"], [], "erag:P@5 labels documents by a metric of the answer, and there is none"),
        (["accuracy", "erag:MAP"], [], "metric 'erag:MAP' names no ranking measure; write erag:MEASURE"),
    ],
)
def test_metrics_that_cannot_label_documents_are_refused_before_any_call(
    project: Project, metrics: list[str], gates: list[str], sentence: str
) -> None:
    write_project(project, FINDS, metrics, *gates)
    message = refused(project)
    assert message.startswith("test_it.py:3: ")
    assert sentence in message
    assert documents_read(project) == []


def test_a_check_labels_documents_when_it_is_reached_and_refuses_other_labels(project: Project) -> None:
    write_project(project, FINDS[:2], ["token_f1", "accuracy"])
    body = 'rag.check("erag:P@2 > 0"), rag.check("erag:Success@2 >= 0.1"), rag["erag:AP"]'
    project.file("test_it.py", (project.path / "test_it.py").read_text().replace("...", body))
    run = project.run("-k", "q1")
    assert run.status == 1
    run.said("E*SettingError: erag:AP needs labels that are 0 or 1, and token_f1 gives others; *")
    assert values(run, "erag:Success@2") == {"q1": pytest.approx(0.5)}
    assert len(documents_read(project)) == 2  # once each, although two checks need them
    assert run.outcomes["q1"]["calls"]["calls"] == 2


def test_a_document_is_labelled_once_per_question_and_repeat(project: Project) -> None:
    def times(documents: int) -> set[int]:
        return {count for (_, n_documents), count in counts.items() if n_documents == documents}

    write_corpus_project(project)
    project.file("test_more.py", TEST.replace("METRICS", repr(METRICS)).replace("GATES", "[]"))
    run = project.run()
    assert len(run.results["outcomes"]) == 8
    counts = prompt_counts(asked_of(project, "llm"))
    assert (times(1), times(2)) == ({2}, {2})  # two documents once each, and both together once per testbed
    project.run("--rag-repeat", "2", "test_it.py", "--rag-concurrency", "4")
    counts = prompt_counts(asked_of(project, "llm"))
    assert (times(1), times(2)) == ({4}, {2})


def test_labelling_calls_are_recorded_and_replayed(project: Project) -> None:
    write_corpus_project(project)
    first = project.run("--rag-record-mode", "once")
    assert len(asked_of(project, "llm")) == 10
    again = project.run("--rag-record-mode", "none")
    assert (again.status, asked_of(project, "llm")) == (0, [])
    assert again.results["usage"]["replayed"] == 10
    for metric in METRICS:
        assert values(again, metric) == values(first, metric)


def test_the_summary_shows_how_retrieval_and_answers_correlate(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    write_corpus_project(project)
    run = project.run("-v")
    rows = {row["retrieval"]: row for row in run.results["correlations"]}
    assert set(rows) == {"erag:P@2", "erag:AP", "erag:Success@1", "answer_in_context", "page_Rprec"}
    assert (rows["erag:P@2"]["n"], rows["erag:P@2"]["tau_b"]["value"]) == (4, 1.0)
    assert rows["page_Rprec"]["reason"] == "too_few"
    run.said("test_it  *erag:P@2  *accuracy  *4  *+1.00 [[]1.00, 1.00[]]  *+1.00 *", "*page_Rprec*undefined *n < 3*")
    output = run.text.splitlines()
    first = next(at for at, line in enumerate(output) if line.startswith("4 cases: "))
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["show", "--full"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    lines = lines[: next(at for at, line in enumerate(lines) if line.startswith("rag: ")) - 1]
    assert len(lines) > 10
    assert output[first : first + len(lines)] == lines


def test_without_erag_the_summary_has_no_table_of_them(project: Project) -> None:
    write_corpus_project(project, metrics=["accuracy", "answer_in_context"])
    run = project.run("-v")
    assert [row["retrieval"] for row in run.results["correlations"]] == ["answer_in_context"]
    assert "correlations" not in run.text
