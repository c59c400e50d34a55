"""The table of docs/how-to/plugins.md: other plugins, and options of pytest and xdist."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.projects import plugin_checks as checks
from support.projects import suite_files as files
from support.projects.compatibility_project import Row, Suite, SuiteRun
from support.projects.rag_project import Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]

ROWS = [
    Row(
        "pytest-asyncio",
        "1.5.0",
        "async tests and async rag cases, beside an async system",
        checks.passes("test_async.py::test_async", "test_async.py::test_case[q1]"),
        ("-o", "asyncio_default_fixture_loop_scope=function"),
        load=("pytest_asyncio.plugin",),
        files={"test_async.py": files.ASYNC.format(marker="asyncio")},
    ),
    Row(
        "anyio",
        "4.16.0",
        "async tests and async rag cases, beside an async system",
        checks.passes("test_async.py::test_async", "test_async.py::test_case[q1]"),
        load=("anyio.pytest_plugin",),
        files={"test_async.py": files.ASYNC.format(marker="anyio") + files.BACKEND},
    ),
    Row(
        "pytest-cov",
        "7.1.0",
        "measures the system, also one that is asked ahead, also on workers",
        checks.coverage_is_measured,
        ("--cov=system", "--cov-report=json:coverage.json"),
        load=("pytest_cov",),
    ),
    Row(
        "pytest-timeout",
        "2.4.0",
        "a case that takes too long is an error; the others are scored",
        checks.the_slow_case_alone_ends,
        ("--timeout=20",),
        load=("pytest_timeout",),
    ),
    Row(
        "pytest-randomly",
        "5.1.0",
        "another order, the same scores",
        checks.the_order_differs,
        ("-p", "no:cacheprovider", "--randomly-seed=3"),
        load=("pytest_randomly",),
    ),
    Row(
        "pytest-rerunfailures",
        "16.7",
        "cases are asked again, and the last answer counts; gates are decided once",
        checks.errors_are_rerun_and_gates_are_not,
        ("--reruns=2",),
        load=("pytest_rerunfailures",),
    ),
    Row(
        "pytest-repeat",
        "0.9.4",
        "runs each case again; `--rag-repeat` also reports the spread",
        checks.every_case_runs_twice,
        ("--count=2",),
        load=("pytest_repeat",),
        alike=False,
    ),
    Row(
        "pytest-html",
        "4.2.0",
        "cases and gates are rows of its page, red where red",
        checks.the_page_has_cases_and_gates,
        ("--html=page.html", "--self-contained-html"),
        load=("pytest_metadata.plugin", "pytest_html.plugin", "pytest_html.fixtures"),
    ),
    Row(
        "pytest-sugar",
        "1.1.1",
        "cases and gates in its lines; a missed case counts as passed",
        checks.sugar_counts_and_names,
        ("--force-sugar",),
        load=("pytest_sugar",),
    ),
    Row(
        "allure-pytest",
        "2.16.2",
        "cases and gates are tests, red where red; under 10 kB each",
        checks.allure_has_cases_and_gates,
        ("--alluredir=allure",),
        load=("allure_pytest.plugin",),
    ),
    Row(
        "pytest-json-report",
        "1.5.0",
        "lists cases and gates, a missed case as `missed`",
        checks.json_report_lists_cases_and_gates,
        ("--json-report", "--json-report-file=report.json"),
        load=("pytest_metadata.plugin", "pytest_jsonreport.plugin"),
    ),
    Row(
        "pytest-split",
        "0.11.0",
        "the groups cover all cases; `--rag-shard` also decides the gates",
        checks.the_groups_cover_all_cases,
        ("--splits=2", "--group=1"),
        load=("pytest_split.plugin",),
        alike=False,
    ),
    Row(
        "pytest-instafail",
        "0.5.0",
        "shows failed cases and gates at once",
        checks.failures_are_printed_at_once,
        ("--instafail",),
        load=("pytest_instafail",),
    ),
    Row(
        "pytest-check",
        "3.0.3",
        "soft failures fail their own case, after it is scored",
        checks.soft_failures_fail_their_case,
        load=("pytest_check.plugin",),
        files={"test_soft.py": files.SOFT},
    ),
    Row(
        "pytest-bdd",
        "9.0.1",
        "scenarios in the same suite",
        checks.passes("test_steps.py::test_one_capital"),
        load=("pytest_bdd.plugin",),
        files={"capitals.feature": files.FEATURE, "test_steps.py": files.STEPS},
    ),
    Row(
        "syrupy",
        "7.0.2",
        "snapshots of answers, case by case",
        checks.snapshots_hold_answers,
        ("--snapshot-update",),
        load=("syrupy",),
        files={"test_snapshot.py": files.SNAPSHOT},
    ),
    Row(
        "pytest-benchmark",
        "5.3.1",
        "benchmarks of the system in the same suite",
        checks.a_system_is_measured,
        load=("pytest_benchmark.plugin",),
        files={"test_speed.py": files.SPEED},
    ),
    Row(
        "pytest-mock",
        "3.17.0",
        "`mocker` in the test of a case; the answer was given before",
        checks.passes("test_mocked.py::test_mocked[q1]"),
        load=("pytest_mock",),
        files={"test_mocked.py": files.MOCKED},
    ),
    Row(
        "--dist each",
        "pytest-xdist 3.8.0",
        "every worker runs all cases, and each counts once",
        checks.every_worker_runs_all,
        ("-n2",),
    ),
    *(
        Row(
            f"--dist {mode}",
            "pytest-xdist 3.8.0",
            "the same scores, gates and exit status",
            checks.nothing_more,
            ("-n2",),
        )
        for mode in ("load", "loadscope", "loadfile", "loadgroup", "worksteal")
    ),
    Row("--dist no", "pytest-xdist 3.8.0", "the same scores, gates and exit status", checks.nothing_more),
    Row(
        "--stepwise",
        "pytest 9.2.0",
        "stops at the first error and goes on there",
        checks.it_stops_and_resumes_there,
        alike=False,
    ),
    Row(
        "--lf",
        "pytest 9.2.0",
        "runs failed cases and all cases of failed gates",
        checks.the_failed_run_alone,
        alike=False,
    ),
    Row("--ff", "pytest 9.2.0", "runs failed cases and those of failed gates first", checks.the_failed_run_first),
    Row("--nf", "pytest 9.2.0", "runs new files first", checks.new_files_run_first),
    Row(
        "--pdb",
        "pytest 9.2.0",
        "stops at each failure, in the system where it raised; cases are asked in turn",
        checks.it_stops_at_each_failure,
        ("--pdbcls=goes_on:GoesOn",),
        files={"goes_on.py": files.GOES_ON},
        in_turn=True,
    ),
    Row("--setup-plan", "pytest 9.2.0", "lists cases and asks nothing", checks.nothing_is_asked, alike=False),
]


@pytest.fixture(scope="module")
def alone() -> list[SuiteRun]:
    """Return the list that stores the run of the suite without other plugins, after its first use."""
    return []


@pytest.fixture
def suite(project: Project, alone: list[SuiteRun], monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Suite(project, alone)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_results_are_equal_with_another_plugin(row: Row, suite: Suite) -> None:
    row.skip_where_missing()
    for name, text in row.files.items():
        suite.project.file(name, text)
    ran = suite.run(*row.on)
    if row.alike:
        suite.expect_alike(ran)
        assert suite.alone.overlapped
        assert ran.overlapped is not row.in_turn or ("-n2" in row.args)
    row.check(suite, ran)


def test_reports_agree_on_workers(suite: Suite) -> None:
    names = ("pytest-cov", "pytest-html", "allure-pytest", "pytest-json-report")
    rows = [row for row in ROWS if row.name in names]
    for row in rows:
        row.skip_where_missing()
    ran = suite.run("-n2", *(arg for row in rows for arg in row.on))
    suite.expect_alike(ran)
    for row in rows:
        row.check(suite, ran)


def test_our_own_tests_run_without_the_plugins_of_the_table(project: Project, pytestconfig: pytest.Config) -> None:
    plugins = {row.name for row in ROWS if row.load} - {"anyio"}
    measuring = {"pytest-cov", "pytest-rerunfailures", "pytest-timeout"}
    loaded = {name.metadata["Name"] for _, name in pytestconfig.pluginmanager.list_plugin_distinfo()}
    assert loaded & plugins <= measuring
    project.file("test_plain.py", "def test_plain(): ...")
    [header] = [line for line in project.run(subprocess=True).text.splitlines() if line.startswith("plugins: ")]
    assert not [name for name in plugins - measuring if f" {name.removeprefix('pytest-')}-" in header]


def test_the_docs_contain_the_table() -> None:
    page = (ROOT / "docs" / "how-to" / "plugins.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("| VS Code")]
    rows = []
    for (tried, holds), same in groupby(ROWS, lambda row: (row.tried, row.holds)):
        names = ", ".join(f"`{row.name}`" if row.name.startswith("--") else row.name for row in same)
        rows.append(f"| {names} | {tried} | {holds} |")
    assert table == ["| beside | tried | what holds |", "|---|---|---|", *rows]


def test_the_extra_installs_each_plugin_of_the_table() -> None:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        extras = tomllib.load(stream)["project"]["optional-dependencies"]
    plugins = {requirement.name: requirement.specifier for requirement in map(Requirement, extras["plugins"])}
    assert {row.name for row in ROWS if row.load} == set(plugins)
    assert all(row.tried in plugins[row.name] for row in ROWS if row.load)
