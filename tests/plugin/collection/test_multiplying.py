"""``@rag_case`` multiplies tests of functions, methods, classes and modules."""

from __future__ import annotations

import pytest
from support.projects.rag_project import WRONG, Mode, Project, cases

TWO = cases("say Paris", "say Paris")


def names(project: Project, *args: str) -> list[str]:
    """Return the ids that pytest collects, without the file; without gates."""
    run = project.run("--collect-only", "-q", *args)
    return [line.partition("::")[2] for line in run.text.splitlines() if "::" in line and "[gate: " not in line]


def test_each_case_and_each_value_of_a_list_is_an_item(project: Project, mode: Mode) -> None:
    project.says(TWO, "passages=[0, 3], metrics=['accuracy', 'token_f1']", test="""
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl"{arguments})
        def test_it(rag):
            assert rag.case.id in ("q1", "q2")
            assert rag.scores["accuracy"].value == 1
    """)  # fmt: skip
    run = project.run("-v", *mode)
    assert run.status == 0
    run.result.assert_outcomes(passed=4)
    assert sorted(outcome["nodeid"] for outcome in run.results["outcomes"]) == [
        f"test_it.py::test_it[{case}-passages={n}]" for case in ("q1", "q2") for n in (0, 3)
    ]
    assert {outcome["facets"]["passages"] for outcome in run.results["outcomes"]} == {"0", "3"}


def test_several_markers_add_up_and_each_is_a_testbed(project: Project) -> None:
    project.data(cases(WRONG, WRONG), "second.jsonl")
    project.says(TWO, test="""
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", gates=["accuracy >= 1"])
        @rag_case("jsonl:second.jsonl", gates=["accuracy <= 0"])
        def test_it(rag):
            ...
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0
    assert [outcome["nodeid"] for outcome in run.results["outcomes"]] == [
        "test_it.py::test_it[q1]", "test_it.py::test_it[q2]", "test_it.py::test_it[q1#2]", "test_it.py::test_it[q2#2]",
    ]  # fmt: skip
    assert {key: bed["name"] for key, bed in run.results["testbeds"].items()} == {
        "test_it.py::test_it": "test_it", "test_it.py::test_it#2": "test_it#2",
    }  # fmt: skip
    assert [gate["nodeid"] for gate in run.results["gates"]] == [
        "test_it.py::test_it[gate: accuracy >= 1]", "test_it.py::test_it#2[gate: accuracy <= 0]",
    ]  # fmt: skip


def test_ids_of_a_second_marker_do_not_depend_on_the_data_of_the_first(project: Project) -> None:
    test = """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl")
        @rag_case("jsonl:second.jsonl")
        def test_it(rag): ...
    """
    project.says(cases("a")[:1], test=test)
    project.data([{**row, "id": "other"} for row in cases("b")], "second.jsonl")
    before = names(project)
    project.data([*cases("a"), *({**row, "id": "other"} for row in cases("c"))])
    after = names(project)
    assert before == ["test_it[q1]", "test_it[other#2]"]
    assert after == ["test_it[q1]", "test_it[other]", "test_it[other#2]"]


@pytest.mark.parametrize(
    ("marks", "ids"),
    [
        ("pytestmark = [one, two]", ["test_it[q1]", "test_it[p1#2]"]),
        ("pytestmark = one", ["test_it[q1]"]),
    ],
)
def test_a_modules_pytestmark_multiplies_its_tests(project: Project, marks: str, ids: list[str]) -> None:
    project.data([{**row, "id": "p1"} for row in cases("b")], "second.jsonl")
    project.says(cases("a"), test=f"""
        from pytest_rageval import rag_case
        one, two = rag_case("jsonl:cases.jsonl"), rag_case("jsonl:second.jsonl")
        {marks}

        def test_it(): ...
    """)  # fmt: skip
    assert names(project) == ids


CLASSES = """
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    class TestOnClass:
        def test_first(self, rag):
            assert rag["accuracy"] == 1

        def test_without_rag(self):
            ...

        @rag_case("jsonl:more.jsonl", metrics=["accuracy"])
        def test_both(self, rag):
            ...

    class TestOnMethod:
        @rag_case("jsonl:cases.jsonl")
        def test_marked(self, rag): ...

        @staticmethod
        @rag_case("jsonl:cases.jsonl")
        def test_static(): ...

        def test_unmarked(self): ...
"""


def test_classes_multiply_their_tests(project: Project) -> None:
    project.data([{**row, "id": "m1"} for row in cases("say Paris")], "more.jsonl")
    project.says(cases("say Paris"), test=CLASSES)
    run = project.run()
    assert run.status == 0
    assert {outcome["nodeid"].partition("::")[2] for outcome in run.results["outcomes"]} == {
        "TestOnClass::test_first[q1]", "TestOnClass::test_without_rag[q1]", "TestOnClass::test_both[q1]",
        "TestOnClass::test_both[m1#2]", "TestOnMethod::test_marked[q1]", "TestOnMethod::test_static[q1]",
    }  # fmt: skip
    run.result.assert_outcomes(passed=7)


def test_an_inherited_test_finds_data_beside_its_file_and_beside_its_base(project: Project) -> None:
    project.file("conftest.py", "import sys; sys.path.insert(0, 'base')\n")
    project.file("base/kinds.py", """
        from pytest_rageval import rag_case

        class Base:
            @rag_case("jsonl:mine.jsonl")
            def test_mine(self, rag): ...

            @rag_case("jsonl:shared.jsonl")
            def test_shared(self, rag): ...
    """)  # fmt: skip
    project.data([{**row, "id": "base"} for row in cases("a")], "base/shared.jsonl")
    project.data([{**row, "id": "wrong"} for row in cases("a")], "base/mine.jsonl")
    project.data([{**row, "id": "mine"} for row in cases("a")], "sub/mine.jsonl")
    project.file("sub/test_kinds.py", "from kinds import Base\n\nclass TestKind(Base): ...\n")
    assert names(project) == ["TestKind::test_mine[mine]", "TestKind::test_shared[base]"]
    project.file("base/shared.jsonl", "")
    (project.path / "base" / "mine.jsonl").unlink()
    (project.path / "sub" / "mine.jsonl").unlink()
    refusal = project.run().result.stderr.str()
    assert "base/kinds.py:4: dataset 'mine.jsonl' is missing: no " in refusal


def test_parametrize_multiplies_the_cases(project: Project) -> None:
    project.says(TWO, test="""
        import pytest
        from pytest_rageval import rag_case

        @pytest.mark.parametrize("style", ["short", "long"])
        @rag_case("jsonl:cases.jsonl", gates=["n >= 4"])
        def test_it(rag, style):
            assert style in ("short", "long")
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0
    run.result.assert_outcomes(passed=5)
    assert len(run.results["outcomes"]) == 4


def test_a_test_that_does_not_take_rag_is_answered_and_scored(project: Project) -> None:
    project.says(cases("say Paris", "raise no"), test="""
        from functools import wraps
        from pytest_rageval import rag_case

        def decorated(function):
            @wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper

        @rag_case("jsonl:cases.jsonl")
        def test_it(): ...

        @rag_case("jsonl:cases.jsonl")
        @decorated
        def test_wrapped(rag):
            assert rag.answer.text
    """)  # fmt: skip
    run = project.run()
    assert run.status == 1
    assert {(outcome["nodeid"], outcome["status"]) for outcome in run.results["outcomes"]} == {
        ("test_it.py::test_it[q1]", "scored"), ("test_it.py::test_it[q2]", "error"),
        ("test_it.py::test_wrapped[q1]", "scored"), ("test_it.py::test_wrapped[q2]", "error"),
    }  # fmt: skip


def test_users_may_parametrize_an_argument_named_rag(project: Project) -> None:
    project.says(cases("say Paris"), test="""
        import pytest
        from pytest_rageval import rag_case

        @pytest.mark.parametrize("rag", [1, 2])
        def test_own(rag):
            assert rag in (1, 2)

        @rag_case("jsonl:cases.jsonl")
        def test_it(rag): ...

        @pytest.mark.parametrize("rag", ["x"])
        def test_late(rag):
            assert rag == "x"
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0
    run.result.assert_outcomes(passed=4)
    assert list(run.outcomes) == ["q1"]


def test_a_file_named_twice_is_collected_twice(project: Project) -> None:
    project.says(TWO)
    run = project.run("--keep-duplicates", "test_it.py", "test_it.py")
    assert run.status == 0
    run.result.assert_outcomes(passed=4)
    assert list(run.results["testbeds"]) == ["test_it.py::test_it"]


def test_a_folder_may_have_a_hash_sign(project: Project) -> None:
    project.data(TWO, "c#/cases.jsonl")
    project.file("c#/test_it.py", """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl")
        @rag_case("jsonl:cases.jsonl", passages=0)
        def test_it(rag): ...
    """)  # fmt: skip
    run = project.run("--rag-system", "extractive")
    assert list(run.results["testbeds"]) == ["c#/test_it.py::test_it", "c#/test_it.py::test_it#2"]
    assert len(run.results["outcomes"]) == 4
