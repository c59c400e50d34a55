"""Answers overlap across tests, within the limit, and results stay the same."""

from __future__ import annotations

import json

import pytest
from support.projects.look_ahead_project import PLAIN, WATCHED, forget, notes, paris, peak, questions
from support.projects.rag_project import RUNS, Mode, Project, bare, case

MIXED = """
    import pytest
    from pytest_rageval import rag_case

    def test_before(): ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5"])
    def test_one(rag): ...

    @pytest.mark.parametrize("number", [1, 2, 3])
    def test_between(number): ...

    class TestTwo:
        @rag_case("jsonl:cases.jsonl", metrics=["token_f1"])
        def test_two(self, rag, tmp_path, monkeypatch, capsys):
            assert rag.answer.text
"""

DISTS = [("-n2", "--dist=worksteal"), ("-n2", "--dist=loadscope")]


def nodes(project: Project) -> list[str]:
    return [line["nodeid"] for line in project.lines()]


def test_answers_overlap_and_results_equal_those_of_concurrency_1(project: Project, mode: Mode) -> None:
    rows = [*paris(20), case("wrong", "say Rome 1"), case("raises", "raise no such model")]
    project.says(rows, test=MIXED, conftest=WATCHED)
    serial = project.run("--rag-concurrency", "1")
    assert peak(project) == 1
    assert {note.thread for note in notes(project)} == {"rageval-loop"}
    order = nodes(project)
    forget(project)
    ahead = project.run(*mode)
    assert (2 if "-n2" in mode else 16) <= peak(project) <= 16  # xdist sends few tests at a time to a worker
    assert bare(ahead.results) == bare(serial.results)
    assert set(questions(project).values()) == {2}
    assert ahead.status == serial.status == 1
    assert serial.result.parseoutcomes() == ahead.result.parseoutcomes()
    assert mode == ("-n2",) or nodes(project) == order


@pytest.mark.parametrize("args", DISTS, ids=lambda args: args[-1].rpartition("=")[2])
def test_every_distribution_gives_the_same_results(project: Project, args: Mode) -> None:
    project.says(
        paris(30), "gates=['accuracy >= 1']", test=RUNS + RUNS.replace("test_it", "test_more"), conftest=WATCHED
    )
    plain = project.run("-p", "no:xdist")
    forget(project)
    run = project.run(*args)
    assert run.status == 0
    assert bare(run.results) == bare(plain.results)
    assert 1 < peak(project) <= 16
    assert set(questions(project).values()) == {2}


@pytest.mark.parametrize("how", ["option", "ini"])
def test_concurrency_stays_within_its_limit(project: Project, how: str) -> None:
    project.says(paris(15), conftest=WATCHED)
    if how == "ini":
        project.file("pytest.ini", "[pytest]\nrag_concurrency = 3")
    run = project.run(*(("--rag-concurrency", "3") if how == "option" else ()))
    assert run.status == 0
    assert peak(project) == 3


def test_questions_are_asked_in_the_order_of_their_tests(project: Project) -> None:
    project.says(paris(12), conftest=WATCHED)
    project.run("--rag-concurrency", "4")
    assert [note.question for note in notes(project)] == [f"say Paris {number}" for number in range(1, 13)]


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_sync_system_is_asked_one_at_a_time_in_the_thread_of_its_test(project: Project, args: Mode) -> None:
    project.says(paris(6), conftest=PLAIN)
    run = project.run(*args)
    assert run.status == 0
    assert peak(project) == 1
    assert {note.thread for note in notes(project)} == {"MainThread"}


@pytest.mark.parametrize("system", ["plain", "lambda query: watched(query)"])
def test_a_sync_system_runs_in_threads_if_concurrency_is_set(project: Project, system: str) -> None:
    project.says(paris(16), conftest=PLAIN.replace("return plain", f"return {system}"))
    run = project.run("--rag-concurrency", "4")
    assert run.status == 0
    assert peak(project) == 4
    threads = {note.thread for note in notes(project)}
    assert "MainThread" not in threads
    assert len(threads) == 1
    assert set(questions(project).values()) == {1}
    assert run.statuses == {f"q{number}": "scored" for number in range(1, 17)}


def test_sync_and_async_systems_share_the_limit(project: Project) -> None:
    project.says(paris(12), test=RUNS, conftest=WATCHED)
    project.file("systems.py", (project.path / "conftest.py").read_text())
    run = project.run("--rag-system", "systems:watched", "--rag-system", "systems:plain", "--rag-concurrency", "3")
    assert run.status == 0
    assert len(run.results["outcomes"]) == 24
    assert peak(project) == 3


@pytest.mark.parametrize("conftest", [WATCHED, PLAIN], ids=["async", "threads"])
def test_latency_excludes_the_time_before_the_call(project: Project, conftest: str) -> None:
    project.says(paris(12), conftest=conftest)
    run = project.run("--rag-concurrency", "2")
    times = [outcome["answer"]["usage"]["latency_s"] for outcome in run.results["outcomes"]]
    assert min(times) >= 0.019
    assert max(times) < 0.1  # the last question waits 100 ms before it is asked


PARAMETRIZED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_params(rag_system, rag):
        assert rag.answer.text.startswith(rag_system.city)
"""

CITIES = """
    import asyncio
    import pytest

    class City:
        def __init__(self, city):
            self.city, self.open, self.now, self.peak = city, True, 0, 0

        async def __call__(self, query):
            assert self.open
            self.now += 1
            self.peak = max(self.peak, self.now)
            await asyncio.sleep(0.01)
            assert self.open
            self.now -= 1
            return f"{self.city} {query.question}"

    @pytest.fixture(scope="session", params=["Paris", "Rome"])
    def rag_system(request):
        city = City(request.param)
        yield city
        city.open = False
        with open("peaks.txt", "a") as stream:
            stream.write(f"{city.peak}\\n")
"""


@pytest.mark.parametrize(("shuffled", "args"), [(False, ()), (False, ("-n2",)), (True, ())])
def test_a_system_with_parameters_is_only_asked_while_it_is_set_up(
    project: Project, shuffled: bool, args: Mode
) -> None:
    project.says(paris(8), test=PARAMETRIZED, conftest=CITIES)
    if shuffled:
        shuffle = "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda item: item.name[-3:])\n"
        with (project.path / "conftest.py").open("a") as stream:
            stream.write(shuffle)
    run = project.run(*args)
    assert run.status == 0
    assert len(run.results["outcomes"]) == 16
    for outcome in run.results["outcomes"]:
        assert outcome["answer"]["text"].startswith("Paris" if "Paris" in outcome["nodeid"] else "Rome")
    peaks = [int(line) for line in (project.path / "peaks.txt").read_text().split()]
    assert shuffled or min(peaks) > 1


MODEL_PARAMETRIZED = """
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="session", params=["Paris", "Rome"])
    def city(request):
        return request.param

    @pytest.fixture(scope="session")
    def rag_llm(city):
        return ScriptedLLM(city, delay_s=0.01)
"""


def test_a_model_with_parameters_answers_its_own_tests(project: Project) -> None:
    test = PARAMETRIZED.replace("rag_system, rag", "rag_llm, city, rag").replace("rag_system.city", "city")
    project.says(paris(5), test=test, conftest=MODEL_PARAMETRIZED)
    run = project.run("--rag-system", "closed_book")
    assert run.status == 0
    assert len(run.results["outcomes"]) == 10


def test_two_folders_have_their_own_systems(project: Project) -> None:
    for folder, city in (("one", "Paris"), ("two", "Rome")):
        project.data(paris(6), f"{folder}/cases.jsonl")
        project.file(f"{folder}/conftest.py", WATCHED.replace("else rest", f"else {city!r}"))
        project.file(f"{folder}/test_{folder}.py", RUNS.replace("{arguments}", ""))
    run = project.run("-p", "no:xdist")
    assert run.status == 0
    texts = [(outcome["nodeid"].partition("/")[0], outcome["answer"]["text"]) for outcome in run.results["outcomes"]]
    assert sorted(set(texts)) == [("one", "Paris"), ("two", "Rome")]
    assert peak(project) > 1


def test_answers_overlap_in_a_random_order(project: Project) -> None:
    project.says(paris(20), test=MIXED, conftest=WATCHED)
    ordered = project.run()
    forget(project)
    shuffled = project.run("-p", "randomly", "--randomly-seed=5", "-p", "no:cacheprovider")
    assert shuffled.status == 0
    assert [note.question for note in notes(project)][:20] != [f"say Paris {number}" for number in range(1, 21)]
    assert bare(shuffled.results) == bare(ordered.results)
    assert 1 < peak(project) <= 16
    assert set(questions(project).values()) == {2}


JUDGE = """
    import asyncio
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    class Counted(ScriptedLLM):
        now = 0

        async def complete(self, messages, **params):
            Counted.now += 1
            with open("calls.txt", "a") as stream:
                stream.write(f"{Counted.now}\\n")
            try:
                return await super().complete(messages, **params)
            finally:
                Counted.now -= 1

    @pytest.fixture(scope="session")
    def rag_judge():
        return Counted('{"reason": "so", "label": "rejected"}', delay_s=0.02)
"""

JUDGE_TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["rejection_rate_judged"])
    def test_it(rag): ...
"""


@pytest.mark.parametrize(("scope", "args"), [("session", ()), ("session", ("-n2",)), ("function", ())])
def test_judge_calls_for_recorded_answers_overlap(project: Project, scope: str, args: Mode) -> None:
    project.says(paris(12), test=JUDGE_TEST, conftest=JUDGE.replace('scope="session"', f"scope={scope!r}"))
    rows = [{"id": f"q{number}", "answer": "I do not know."} for number in range(1, 13)]
    project.file("answers.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    run = project.run("--rag-answers", "answers.jsonl", *args)
    calls_at_once = [int(line) for line in (project.path / "calls.txt").read_text().split()]
    assert len(calls_at_once) == 12
    assert run.results["usage"]["calls"] == 12
    assert max(calls_at_once) > 1 if scope == "session" else max(calls_at_once) == 1
    assert all(outcome["status"] == "scored" for outcome in run.results["outcomes"])
