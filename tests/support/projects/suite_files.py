"""The files of the suite, and those that some rows of the table add."""

SYSTEM = """
    import asyncio
    from pathlib import Path

    under_way = 0

    async def say(query):
        global under_way
        under_way += 1
        if under_way > 1:
            Path("overlapped").touch()
        await asyncio.sleep(0.02)
        under_way -= 1
        word, _, rest = query.question.partition(" ")
        if word == "raise":
            raise ValueError(rest)
        return rest
"""
CONFTEST = """
    import pytest
    from system import say

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
TESTS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5", "accuracy >= 0.9"])
    def test_capital(rag): ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["error_rate <= 0.5"])
    def test_checked(rag):
        rag.check("accuracy >= 1")

    def test_plain():
        assert True
"""
SUITE = """
    [[testbed]]
    name = "suite"
    dataset = "jsonl:cases.jsonl"
    metrics = ["accuracy"]
    gates = ["accuracy >= 0.6"]
"""
LISTENER = """
    import json

    items, reports = [], []

    def pytest_collection_finish(session):
        items.extend(item.nodeid for item in session.items)

    def pytest_runtest_logreport(report):
        reports.append([report.nodeid, report.when, report.outcome])

    def pytest_sessionfinish(session):
        if not hasattr(session.config, "workerinput"):
            with open("listened.json", "w") as stream:
                json.dump({"items": items, "reports": reports}, stream)
"""
"""A plugin that notes which items there are and what is reported, as one that sends tests to a server does."""

ASYNC = """
    import asyncio
    import pytest
    from pytest_rageval import rag_case

    @pytest.mark.{marker}
    async def test_async():
        await asyncio.sleep(0)

    @pytest.mark.{marker}
    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], limit=1)
    async def test_case(rag):
        await asyncio.sleep(0)
        assert rag.answer.text == "Paris"
"""
BACKEND = """
    @pytest.fixture
    def anyio_backend():
        return "asyncio"
"""
SOFT = """
    from pytest_check import check
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], limit=3, gates=["accuracy >= 0.6"])
    def test_soft(rag):
        check.equal(rag.answer.text, "Paris")
        check.equal(rag["accuracy"], 1)
"""
FEATURE = """
    Feature: Capitals
        Scenario: One capital
            Given a country
            Then it has a capital
"""
STEPS = """
    from pytest_bdd import given, scenarios, then

    scenarios("capitals.feature")

    @given("a country", target_fixture="country")
    def country():
        return "France"

    @then("it has a capital")
    def capital(country):
        assert country == "France"
"""
SNAPSHOT = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], limit=3)
    def test_snapshot(rag, snapshot):
        assert rag.answer.text == snapshot
"""
SPEED = """
    import asyncio
    from pytest_rageval import Query

    def test_speed(benchmark, rag_system):
        answer = benchmark.pedantic(lambda: asyncio.run(rag_system(Query("say Paris"))), rounds=2)
        assert answer == "Paris"
"""
MOCKED = """
    import system
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], limit=1)
    def test_mocked(rag, mocker):
        mocker.patch("system.under_way", 7)
        assert system.under_way == 7
        assert rag.answer.text == "Paris"
"""
GOES_ON = """
    import io
    import pdb

    class GoesOn(pdb.Pdb):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, nosigint=True, stdin=io.StringIO("c\\n"), **kwargs)
            self.use_rawinput = False
"""
