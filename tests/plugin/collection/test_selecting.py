"""Which cases run: ``where``, ``limit``, ``sample`` and pytest's own selection."""

from __future__ import annotations

from collections import Counter
from textwrap import dedent

import pytest
from support.projects.rag_project import SAYS, Mode, Project, Run, cases
from test_multiplying import names

TOPICS = ("Funds", "Funds", "Bonds", "Funds", "Bonds", "Cash")


def prepare(project: Project, arguments: str = "") -> None:
    rows = cases(*["say Paris"] * 12)
    project.says([{**row, "topic": TOPICS[n % 6], "task": "ab"[n % 2]} for n, row in enumerate(rows)], arguments)


def case_ids_of(run: Run) -> list[str]:
    return [outcome["case_id"] for outcome in run.results["outcomes"]]


@pytest.mark.parametrize(
    ("arguments", "args", "selection"),
    [
        ("where={'topic': 'Cash'}", [], "q6 q12"),
        ("where={'topic': '*', 'task': 'a'}, limit=2", [], "q1 q3"),
        ("limit=3", [], "q1 q2 q3"),
        ("limit=30", [], "q1 q2 q3 q4 q5 q6 q7 q8 q9 q10 q11 q12"),
        ("limit=3", ["--rag-limit", "2"], "q1 q2"),
        ("limit=2", ["--rag-limit", "3"], "q1 q2"),
        ("", ["--rag-limit", "2"], "q1 q2"),
        ("", ["--rag-limit", "2", "-k", "not q1"], "q2 q3"),
        ("where={'topic': 'Bonds'}", ["--rag-limit", "2", "-m", "b"], ""),
        ("where={'topic': 'Bonds'}", ["--rag-limit", "2", "-m", "a"], "q3 q5"),
    ],
)
def test_where_applies_before_limit_and_limit_before_the_option(
    project: Project, arguments: str, args: list[str], selection: str
) -> None:
    prepare(project, arguments)
    run = project.run(*args)
    expected = selection.split()
    assert case_ids_of(run) == expected
    out = 12 - len(expected)
    assert run.status == (0 if expected else pytest.ExitCode.NO_TESTS_COLLECTED)
    if out:
        run.said(f"*{out} deselected*")
    else:
        assert "deselected" not in run.text


@pytest.mark.parametrize("shuffled", [(), ("-p", "randomly")], ids=["in order", "randomly"])
def test_selection_does_not_depend_on_the_order_or_the_workers(
    project: Project, mode: Mode, shuffled: tuple[str, ...]
) -> None:
    prepare(project, "where={'topic': '*'}")
    run = project.run(*shuffled, "--rag-limit", "3", *mode)
    assert case_ids_of(run) == ["q1", "q2", "q3"]
    assert ("--randomly-seed" in run.text) == bool(shuffled)


def test_a_sample_is_stratified_and_depends_only_on_the_seed(project: Project) -> None:
    prepare(project)
    samples = {seed: case_ids_of(project.run("--rag-sample", "6", "--rag-seed", seed)) for seed in "0123"}
    topics = {f"q{n + 1}": (TOPICS[n % 6], n % 2) for n in range(12)}
    for ids in samples.values():
        assert len(ids) == 6
        assert len(Counter(topics[name] for name in ids)) == len(set(topics.values()))
    assert len({tuple(ids) for ids in samples.values()}) > 1
    assert case_ids_of(project.run("--rag-sample", "6", "--rag-seed", "2")) == samples["2"]
    assert case_ids_of(project.run("--rag-sample", "6")) == samples["0"]
    prepare(project, "sample=6, seed=2")
    assert case_ids_of(project.run()) == samples["2"]
    assert case_ids_of(project.run("-n2")) == samples["2"]
    assert case_ids_of(project.run("-p", "randomly")) == samples["2"]
    assert case_ids_of(project.run("--rag-seed", "1")) == samples["1"]


def test_parameters_and_systems_of_a_case_count_once(project: Project) -> None:
    prepare(project)
    project.file("test_it.py", """
        import pytest
        from pytest_rageval import rag_case

        @pytest.mark.parametrize("style", ["short", "long"])
        @rag_case("jsonl:cases.jsonl")
        def test_it(rag, style): ...
    """)  # fmt: skip
    run = project.run("--rag-limit", "3", "--rag-system", "builtins:repr", "--rag-system", "builtins:ascii")
    run.result.assert_outcomes(passed=12, deselected=36)
    assert Counter((outcome["case_id"], outcome["system"]) for outcome in run.results["outcomes"]) == {
        (name, system): 2 for name in ("q1", "q2", "q3") for system in ("builtins:repr", "builtins:ascii")
    }


def test_compared_systems_answer_the_same_sample(project: Project) -> None:
    prepare(project, "sample=5")
    run = project.run("--rag-system", "builtins:repr", "--rag-system", "builtins:ascii")
    asked_counts = Counter(outcome["case_id"] for outcome in run.results["outcomes"])
    assert len(asked_counts) == 5
    assert set(asked_counts.values()) == {2}


def test_where_can_select_a_system_and_a_setting(project: Project) -> None:
    prepare(project, "passages=[1, 2], where={'system': 'builtins:ascii', 'passages': 2}, limit=2")
    run = project.run("--rag-system", "builtins:repr", "--rag-system", "builtins:ascii")
    assert [(o["system"], o["facets"]["passages"]) for o in run.results["outcomes"]] == [("builtins:ascii", "2")] * 2


@pytest.mark.parametrize("dist", ["load", "loadfile", "loadscope", "worksteal"])
def test_a_limit_holds_with_each_way_of_distributing(project: Project, dist: str) -> None:
    prepare(project, "gates=['n >= 3']")
    run = project.run("-n2", "--dist", dist, "--rag-limit", "3")
    assert run.status == 0
    assert case_ids_of(run) == ["q1", "q2", "q3"]
    run.result.assert_outcomes(passed=3, skipped=1)  # a gate is not decided on three of twelve cases


def test_an_id_selects_one_case(project: Project) -> None:
    prepare(project, "gates=['n >= 1'], limit=3")
    run = project.run("test_it.py::test_it[q2]")
    assert run.status == 0
    assert case_ids_of(run) == ["q2"]
    missing = project.run("test_it.py::test_it[q99]")
    assert missing.status == pytest.ExitCode.USAGE_ERROR
    assert "not found: " in missing.result.stderr.str()


def test_collect_only_selects_and_writes_nothing(project: Project, mode: Mode) -> None:
    prepare(project, "limit=3, gates=['n >= 1']")
    run = project.run("--collect-only", *mode, json_path=None)
    assert run.status == 0
    if mode != ("-n2",):
        run.said("*4/13 tests collected (9 deselected)*")
    assert names(project) == ["test_it[q1]", "test_it[q2]", "test_it[q3]"]
    assert not (project.path / ".rageval").exists()
    assert "= rag =" not in run.text


SEES_ITEMS = "def pytest_deselected(items): pass"
"""A conftest that makes the plugin build all items before it deselects cases."""


def selection_summary(run: Run) -> object:
    """Return what a run prints and stores about the cases that it selects, without times and ids of the run."""
    plan = {name: value for name, value in run.results["plan"].items() if name != "id"}
    outcomes = [{name: each[name] for name in ("nodeid", "status", "scores")} for each in run.results["outcomes"]]
    tests = [line.partition(" in ")[0] for line in run.text.splitlines() if " deselected" in line]
    return run.status, plan, outcomes, run.results["gates"], tests


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ("", ["--rag-limit", "2"]),
        ("", ["--rag-sample", "5", "--rag-seed", "2", "-v"]),
        ("where={'topic': 'Bonds'}", []),
        ("where={'topic': '*', 'task': 'a'}, limit=3, passages=[0, 1]", ["--rag-repeat", "2"]),
        ("limit=7, relations='typo'", ["--rag-limit", "3", "--rag-shard", "1/2"]),
        ("", ["--rag-limit", "4", "test_it.py::test_it", "--collect-only"]),
        ("", ["--rag-limit", "2", "-n2"]),
    ],
)
def test_cases_deselected_before_and_after_items_are_built_are_counted_alike(
    project: Project, arguments: str, args: list[str]
) -> None:
    prepare(project, f"gates=['accuracy >= 0.5', 'n >= 1'], {arguments}")
    collects = "--collect-only" in args
    without_items = project.run(*args, json_path=None if collects else "results.json")
    project.file("conftest.py", f"{dedent(SAYS)}\n{SEES_ITEMS}\n")
    with_items = project.run(*args, json_path=None if collects else "results.json")
    if collects:
        assert without_items.text.splitlines()[2:-1] == with_items.text.splitlines()[2:-1]
        without_items.said("*6/14 tests collected (8 deselected)*")
    else:
        assert selection_summary(without_items) == selection_summary(with_items)


FUNCTIONS = """
    import pytest
    from pytest_rageval import rag_case

    @pytest.fixture(params=["short", "long"])
    def style(request):
        return request.param

    @rag_case("jsonl:cases.jsonl")
    def test_it(rag): ...

    @rag_case("jsonl:cases.jsonl")
    def test_styled(rag, style): ...

    def test_nothing(): ...
"""
COUNTS = """
    import gc

    def pytest_collection_finish(session):
        items = [each for each in gc.get_objects() if type(each) is pytest.Function and each.session is session]
        print(f"{len(items)} items made")
"""


@pytest.mark.parametrize(
    ("args", "conftest", "items"),
    [
        ((), "", 29),
        (("-p", "anyio"), "", 29),
        (("-k", "q1"), "", 37),
        (("-m", "b"), "", 37),
        (("--lf",), "", 37),
        (("test_it.py::test_it[q2]",), "", 37),
        (("--deselect", "test_it.py::test_it[q1]"), "", 37),
        ((), SEES_ITEMS, 37),
    ],
)
def test_items_of_deselected_cases_are_built_only_if_pytest_or_a_conftest_may_select(
    project: Project, args: tuple[str, ...], conftest: str, items: int
) -> None:
    prepare(project)
    project.file("test_it.py", FUNCTIONS)
    project.file("conftest.py", dedent(SAYS) + dedent(COUNTS) + conftest)
    run = project.run("-s", "--rag-limit", "4", *args, json_path=None)
    run.said(f"*{items} items made*")


def test_a_conftest_loaded_during_collection_selects_among_all_cases(project: Project) -> None:
    prepare(project)
    project.file("z_later/test_other.py", "def test_other(): ...")
    project.file("z_later/conftest.py", """
        def pytest_collection_modifyitems(config, items):
            dropped = [item for item in items if "q1]" in item.nodeid or "q3]" in item.nodeid]
            items[:] = [item for item in items if item not in dropped]
            config.hook.pytest_deselected(items=dropped)
    """)  # fmt: skip
    run = project.run("--rag-limit", "3")
    assert case_ids_of(run) == ["q2", "q4", "q5"]
    run.result.assert_outcomes(passed=4, deselected=9)


def test_a_conftest_loaded_during_collection_reads_the_collection_reports(project: Project) -> None:
    prepare(project)
    project.file("z_later/test_other.py", "def test_other(): ...")
    project.file("z_later/conftest.py", """
        import pytest

        def pytest_collectreport(report):
            for item in report.result:
                assert not isinstance(item, pytest.Item) or item.fixturenames is not None
    """)  # fmt: skip
    run = project.run("--rag-limit", "3")
    assert case_ids_of(run) == ["q1", "q2", "q3"]
    run.result.assert_outcomes(passed=4, deselected=9)


def test_a_keyword_that_matches_no_case_of_where_is_not_an_error(project: Project) -> None:
    prepare(project, "where={'topic': 'Cash'}, gates=['n >= 1']")
    run = project.run("-k", "q1 and not q12")
    run.result.assert_outcomes(deselected=12)
    assert run.gates["n >= 1"]["reason"] == "all its cases were deselected"
