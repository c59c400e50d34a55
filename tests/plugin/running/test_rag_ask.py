"""The fixture `rag_ask`: a test asks the system any question; equal requests are asked once."""

from __future__ import annotations

import json
import re

import pytest
from support.projects.model_projects import PRICES, asks, bodies, loaded, recordings, rows, stop  # noqa: F401
from support.projects.rag_project import RIGHT, WRONG, Mode, Project, cases
from support.servers.openai_server import OpenAIServer

COUNTS = """
    import asyncio
    import pytest
    from pathlib import Path

    LOG = Path(__file__).parent / "log.txt"

    async def echo(query):
        await asyncio.sleep(0)
        text = " ".join(each.text for each in query.passages or ()) or query.question.removeprefix("say ")
        with LOG.open("a") as log:
            log.write(f"{len(query.history)} {text}\\n")
        return text

    @pytest.fixture(scope="session")
    def rag_system():
        return echo
"""
ASKS = """
    from pytest_rageval import Instance, Passage, Turn, rag_case

    PARIS = Instance("q9", "Where?", gold=(("Paris",),), passages=(Passage("p0", "In Paris."),))

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "n <= 1"])
    def test_it(rag, rag_ask):
        assert rag_ask(rag.case, question="say Rome")["accuracy"] == 0
        assert rag_ask(rag.case, question="say Paris").case.id == "q1"
        assert rag_ask(rag.case)["accuracy"] == rag["accuracy"]

    def test_record(rag_ask):
        result = rag_ask(PARIS)
        assert (result["accuracy"], result.answer.text) == (1, "In Paris.")
        assert rag_ask(PARIS, passages=["Rome."])["accuracy"] == 0
        assert rag_ask(PARIS, passages=["Rome."], history=[Turn("a", "b")]).answer.text == "Rome."
        assert rag_ask(PARIS, passages=None).answer.text == "Where?"

    def test_record_again(rag_ask):
        assert rag_ask(PARIS)["exact_match"] == 0
"""
PROPERTY = """
    from hypothesis import given, settings, strategies as st
    from pytest_rageval import Instance, Passage

    MUSEUM = Instance("q9", "Where is the museum?", gold=(("Paris",),))

    @given(st.integers(0, 99))
    @settings(max_examples=20, deadline=None, derandomize=True)
    def test_property(rag_ask, number):
        answer = rag_ask(MUSEUM, passages=[f"The museum is in Paris, number {number}."])
        assert answer["accuracy"] == 1
"""


def test_a_test_asks_the_system_once_and_changes_no_mean_and_no_gate(project: Project, mode: Mode) -> None:
    project.data(cases(RIGHT))
    project.file("conftest.py", COUNTS)
    project.file("test_it.py", ASKS)
    run = project.run(*mode, "-v")
    assert run.status == 0, run.text
    log_lines = (project.path / "log.txt").read_text().splitlines()
    requests = ["0 Rome", "0 In Paris.", "0 Rome.", "1 Rome.", "0 Where?"]
    assert sorted(set(log_lines)) == sorted({"0 Paris", *requests})
    assert all(log_lines.count(request) == 1 for request in ("0 Paris", *requests))  # also over two workers
    assert run.statuses == {"q1": "scored"}
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "passed"]


def test_rag_ask_works_in_a_session_without_cases(project: Project) -> None:
    project.file("conftest.py", COUNTS)
    project.file("test_property.py", PROPERTY)
    run = project.run()
    assert run.status == 0, run.text
    log_lines = (project.path / "log.txt").read_text().splitlines()
    assert len(log_lines) == len(set(log_lines)) > 5
    assert run.results["outcomes"] == []


def test_rag_ask_uses_the_nearest_system(project: Project) -> None:
    project.file("conftest.py", COUNTS)
    project.file(
        "other/conftest.py",
        """
        import pytest

        @pytest.fixture
        def rag_system():
            return lambda query: "Rome"
        """,
    )
    test = "def test_{name}(rag_ask):\n    from pytest_rageval import Instance\n"
    test += "    assert rag_ask(Instance('q', 'Where?')).answer.text == {text!r}"
    project.file("test_one.py", test.format(name="one", text="Where?"))
    project.file("other/test_two.py", test.format(name="two", text="Rome"))
    run = project.run()
    assert run.status == 0, run.text


def test_rag_ask_uses_the_system_that_an_option_names(project: Project) -> None:
    project.file("own.py", "def lyon(query):\n    return 'Lyon'\n\ndef nice(query):\n    return 'Nice'")
    project.data(cases(RIGHT))
    test = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag, rag_ask):
        assert rag_ask(rag.case, question="?").answer.text == rag.answer.text
    """
    project.file("test_it.py", test)
    run = project.run("--rag-system", "own:lyon", "--rag-system", "own:nice")
    assert run.status == 0, run.text
    assert {outcome["answer"]["text"] for outcome in run.results["outcomes"]} == {"Lyon", "Nice"}


def test_an_error_of_the_system_fails_the_test_and_is_no_zero(project: Project) -> None:
    project.says(cases(RIGHT))
    test = "def test_own(rag_ask):\n    from pytest_rageval import Instance\n    "
    project.file("test_own.py", test + "rag_ask(Instance('q7', 'raise no such model'))['accuracy']")
    run = project.run()
    assert run.status == 1
    run.said("*system 'rag_system' failed on case 'q7': ValueError: no such model*")
    assert run.statuses == {"q1": "scored"}


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ("rag_ask('q1')", "rag_ask takes a Case, an Instance or a variant, found 'q1'"),
        ("rag_ask(CASE, question=3)", "rag_ask: question: found 3, wanted a string"),
        ("rag_ask(CASE, passages='In Paris.')", "rag_ask: passages: found 'In Paris.', wanted a list of texts"),
        ("rag_ask(CASE, passages=3)", "rag_ask: passages: found 3, wanted a list of texts or Passage"),
        ("rag_ask(CASE, history=['hello'])", r"rag_ask: history: found \['hello'\], wanted a list of Turn"),
        ("rag_ask(CASE, history=3)", "rag_ask: history: found 3, wanted a list of Turn"),
    ],
)
def test_a_wrong_argument_is_reported_in_one_sentence(project: Project, request_: str, sentence: str) -> None:
    project.file("conftest.py", COUNTS)
    test = f"""
    from pytest_rageval import Instance

    CASE = Instance("q", "Where?")

    def test_own(rag_ask):
        {request_}
    """
    project.file("test_own.py", test)
    run = project.run()
    assert run.status == 1
    assert re.search(f"E .*SettingError: {sentence}", run.text), run.text


def test_a_test_has_to_name_the_fixture(project: Project) -> None:
    project.file("conftest.py", COUNTS)
    project.file("test_own.py", "def test_own(request):\n    request.getfixturevalue('rag_ask')")
    run = project.run()
    assert run.status == 1
    run.said("*rag_ask is not an argument of this test or of its fixtures; add it as an argument*")


def test_rag_ask_skips_the_test_if_answers_are_recorded(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file("answers.jsonl", json.dumps({"id": "q1", "answer": "Paris"}))
    project.file("test_own.py", PROPERTY)
    run = project.run("--rag-answers", "answers.jsonl", "-rs")
    assert run.status == 0, run.text
    run.said("*SKIPPED*rag_ask asks the system, and --rag-answers has recorded answers only*")


def test_requests_are_recorded_counted_and_replayed(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, rows("q1"), params=PRICES)
    project.file("test_property.py", PROPERTY)
    first = project.run("--rag-record-mode", "once")
    assert first.status == 0, first.text
    requests = len(bodies(openai_server))
    assert requests == len(recordings(project)) > 5
    assert first.results["usage"]["calls"] == requests
    assert first.results["usage"]["cost_usd"] > 0.1 * requests
    assert [outcome["calls"]["calls"] for outcome in first.results["outcomes"]] == [1]
    assert project.command("cassettes", "prune").returncode == 0
    assert len(recordings(project)) == requests
    stop(openai_server)
    again = project.run("test_property.py::test_property", "--rag-record-mode", "none")
    assert again.status == 0, again.text
    usage = again.results["usage"]
    assert usage["attempts"] == 0
    assert usage["replayed"] == usage["calls"] > 0


def test_a_spent_budget_skips_the_property_with_that_reason(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, rows("q1"), params={**PRICES, "max_tokens": 8})
    project.file("test_property.py", PROPERTY)
    run = project.run("test_property.py", "--rag-budget-usd", "0.9", "-rs", "-v")
    assert run.status == 0, run.text
    run.said("*SKIPPED*not asked: *the budget of $0.9 would be passed*")
    assert 0 < run.results["usage"]["cost_usd"] <= 0.9
    assert "Falsifying example" not in run.text
    run.said("*model calls: *")


def test_a_dry_run_reports_how_often_a_test_asks_at_most(project: Project) -> None:
    project.says(cases(WRONG))
    project.file("test_property.py", PROPERTY)
    loop = """
    def test_loop(rag_ask, rag_corpus):
        for passage in rag_corpus:
            rag_ask(passage)
    """
    project.file("test_loop.py", loop)
    run = project.run("--rag-dry-run")
    assert run.status == 0, run.text
    run.said(
        "rag_ask: test_property.py::test_property asks rag_system at most 20 times (20 examples, 1 request each)",
        "rag_ask: test_loop.py::test_loop asks rag_system as often as its code says",
        "A failing property asks more, to find a smaller example; equal requests are asked once.",
    )


VARIANTS = """
    from hypothesis import given, settings
    from pytest_rageval import strategies as rag

    settings.load_profile("rag")

    @given(rag.variants("jsonl:cases.jsonl", relations=["passage_order", "typo"], where={"topic": "Hours"}))
    def test_stable(rag_ask, variant):
        assert rag_ask(variant)["accuracy"] >= rag_ask(variant.original)["accuracy"]
"""
FIRST = """
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: query.passages[0].text
"""


def test_a_property_over_variants_shows_the_smallest_change(project: Project) -> None:
    texts = {"p0": "It opens at 9:00.", "n0": "Soup costs 12 euros.", "n1": "The ferry leaves at 8:15."}
    passages = [{"id": name, "text": text} for name, text in texts.items()]
    question = "When does the museum open on weekdays?"
    project.data([{"id": "q1", "question": question, "answers": ["9:00"], "passages": passages, "topic": "Hours"}])
    project.file("conftest.py", FIRST)
    project.file("test_stable.py", VARIANTS)
    run = project.run(forked=True)  # the profile would stay loaded in this process
    assert run.status == 1
    run.said("*variant=Variant('q1', passage_order 1: n1, n0, p0)*")
    assert "rag_ask=rag_ask," in run.text


@pytest.mark.parametrize(
    ("test", "sentence"),
    [
        ("import sys\nsys.modules['hypothesis'] = None", "pytest_rageval.strategies needs an optional dependency: pip"),
        ("", "rag.variants: dataset 'none.jsonl' is missing"),
    ],
)
def test_a_strategy_that_cannot_be_built_ends_the_session(project: Project, test: str, sentence: str) -> None:
    lines = [test, "from pytest_rageval import strategies as rag", "variants = rag.variants('jsonl:none.jsonl')"]
    project.file("test_stable.py", "\n".join(lines))
    run = project.run(subprocess=True)
    assert run.status == pytest.ExitCode.USAGE_ERROR, run.text
    assert sentence in run.result.stderr.str()
