"""``*.rag.toml`` suites, collected like test files."""

from __future__ import annotations

import re

import pytest
from support.projects.rag_project import SAYS, Mode, Project, cases
from support.projects.refused_projects import refused
from test_multiplying import names

SUITE = """
[[testbed]]
name = "capital"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 0.5", "n[team=desk] >= 2"]
passages = [0, 1]

[testbed.facets]
team = "desk"
release = 1.50

[testbed.where]
topic = "Funds"

[[testbed]]
name = "second-one"
dataset = "jsonl:cases.jsonl"
"""


@pytest.fixture
def suite(project: Project) -> Project:
    project.data([{**row, "topic": topic} for row, topic in zip(cases("say Paris", "say Rome", "say Paris"),
                                                              ("Funds", "Funds", "Bonds"), strict=True)],
                 "suites/cases.jsonl")  # fmt: skip
    project.file("suites/quality.rag.toml", SUITE)
    project.file("suites/conftest.py", SAYS)
    project.file("test_other.py", "def test_other(): ...\n")
    return project


def test_a_suite_is_collected_like_a_test_file(suite: Project, mode: Mode) -> None:
    run = suite.run("-v", *mode)
    assert run.status == 0
    assert [outcome["nodeid"] for outcome in run.results["outcomes"]] == [
        "suites/quality.rag.toml::capital[q1-passages=0]", "suites/quality.rag.toml::capital[q1-passages=1]",
        "suites/quality.rag.toml::capital[q2-passages=0]", "suites/quality.rag.toml::capital[q2-passages=1]",
        "suites/quality.rag.toml::second-one[q1]", "suites/quality.rag.toml::second-one[q2]",
        "suites/quality.rag.toml::second-one[q3]",
    ]  # fmt: skip
    assert re.search(r"PASSED.* suites/quality\.rag\.toml::capital\[q1-p|::capital\[q1-passages=0\] PASSED", run.text)
    run.said("*suites/quality.rag.toml::capital?gate: accuracy >= 0.5?*PASSED*")
    assert " <- " not in run.text
    first = run.results["outcomes"][0]
    assert (first["facets"]["team"], first["facets"]["release"]) == ("desk", "1.5")
    assert first["system"] == "rag_system"
    assert first["answer"]["text"] == "Paris"
    assert run.gates["n[team=desk] >= 2"]["value"] == 4


def test_a_suite_and_its_parts_can_be_named_on_the_command_line(suite: Project) -> None:
    path = "suites/quality.rag.toml"
    assert len(names(suite, path)) == 7
    assert names(suite, f"{path}::second-one") == [f"second-one[q{n}]" for n in (1, 2, 3)]
    assert names(suite, f"{path}::capital[q2-passages=1]") == ["capital[q2-passages=1]"]
    assert names(suite, "suites", "-k", "second-one and q3") == ["second-one[q3]"]
    assert names(suite, "test_other.py") == ["test_other"]


def test_a_testbed_without_a_gate_is_warned_about(suite: Project) -> None:
    note = "second-one: no gate and no assertion decides this testbed; it cannot fail"
    assert f"warning: {note}\n" in suite.run("suites").prose


def test_a_conftest_of_another_suite_is_ignored(suite: Project) -> None:
    suite.data(cases("say Paris"), "far/cases.jsonl")
    suite.file("far/far.rag.toml", '[[testbed]]\nname = "far"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["accuracy"]\n')
    run = suite.run("far", "suites", "-k", "far or second-one")
    assert {(o["nodeid"].partition("::")[2], o["system"]) for o in run.results["outcomes"]} == {
        ("far[q1]", "extractive"), *((f"second-one[q{n}]", "rag_system") for n in (1, 2, 3)),
    }  # fmt: skip


HEAD = '[[testbed]]\nname = "a"\ndataset = "jsonl:cases.jsonl"\n'

BAD: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "1: a suite needs at least one [[testbed]] table; add one"),
    "comment": ("# nothing\n", "1: a suite needs at least one [[testbed]] table; add one"),
    "testbed no list": ('testbed = "a"\n', "1: a suite needs at least one [[testbed]] table; add one"),
    "one table": ('[testbed]\nname = "a"\n', "1: a suite needs at least one [[testbed]] table; add one"),
    "top-level key": ("\nversion = 1\n" + HEAD, "2: unknown key 'version'; known: testbed"),
    "top-level near": ('[[testbeds]]\nname = "a"\n', "1: unknown key 'testbeds'; did you mean 'testbed'?"),
    "key": (HEAD + "noise_rates = 0.4\n", "4: unknown key 'noise_rates'; did you mean 'noise_rate'?"),
    "key of the second": (
        HEAD + "\n" + HEAD.replace('"a"', '"b"') + "asembly = 'x'\n",
        "8: unknown key 'asembly'; did you",
    ),
    "key that the first has": (
        HEAD + "limit = 3\n" + HEAD.replace('"a"', '"b"') + "limits = 2\n",
        "8: unknown key 'limits'",
    ),
    "sub-table": (HEAD + "[testbed.facet]\nteam = 1\n", "4: unknown key 'facet'; did you mean 'facets'?"),
    "dotted": (HEAD + "facet.team = 1\n", "4: unknown key 'facet'; did you mean 'facets'?"),
    "quoted": (HEAD + '"team" = 1\n', "4: unknown key 'team'; known: ability, "),
    "inline": ('testbed = [\n  {name = "a", datset = "jsonl:cases.jsonl"}]\n', "2: unknown key 'datset'; did you mean"),
    "facets in facets": (
        HEAD + "[testbed.facets.inner]\nx = 1\n",
        "1: facets.inner: found {'x': 1}, wanted a string, number",
    ),
    "the plugin's facet": (
        HEAD + "[testbed.facets]\nsystem = 'x'\n",
        "1: the facet 'system' is reserved by the plugin",
    ),
    "where": (HEAD + "[testbed.where]\ntopik = 'x'\n", "1: unknown facet 'topik'; did you mean 'topic'?"),
    "no name": ('[[testbed]]\ndataset = "jsonl:cases.jsonl"\n', "1: a testbed has no name; name it without spaces,"),
    "bad name": (HEAD.replace('"a"', '"a b"'), "1: a testbed has the name 'a b'; name it without spaces, colons,"),
    "number for a name": (HEAD.replace('"a"', "7"), "1: a testbed has the name 7; name it without"),
    "escape in a name": (HEAD.replace('"a"', '"\\u001bx"'), "1: a testbed has the name '\\x1bx'; name it without"),
    "name of pytest's": (
        HEAD.replace('"a"', '"pytestmark"'),
        "1: a testbed has the name 'pytestmark', which pytest reserves",
    ),
    "name of a fixture": (
        HEAD.replace('"a"', '"setup_module"'),
        "1: a testbed has the name 'setup_module', which pytest",
    ),
    "dunder": (
        HEAD.replace('"a"', '"__doc__"'),
        "1: a testbed has the name '__doc__', which pytest reserves",
    ),
    "two names": (HEAD + "\n" + HEAD, "5: two testbeds are named 'a'; rename one"),
    "no dataset": ('\n[[testbed]]\nname = "a"\n', "2: dataset: is missing, wanted 'format:path'"),
    "format": (HEAD.replace("jsonl:", "jsnol:"), "1: unknown dataset format 'jsnol'; did you mean 'jsonl'?"),
    "no such file": (HEAD.replace("cases.jsonl", "case.jsonl"), "1: dataset 'case.jsonl' is missing: no "),
    "a date": (
        HEAD + "limit = 2024-01-01\n",
        "1: limit: found datetime.date(2024, 1, 1), wanted an integer of at least 1",
    ),
    "TOML": (HEAD + "limit = \n", "4: this is not valid TOML: Invalid value"),
    "TOML at the end": (HEAD + 'x = """\nabc\n', "6: this is not valid TOML: "),
    "TOML twice": (HEAD + 'name = "b"\n', "4: this is not valid TOML: Cannot overwrite a value"),
    "NUL": (HEAD + "\0", "this is not valid TOML: "),
    "deep": ("x = " + "[" * 100_000 + "]" * 100_000, "1: this is not valid TOML: "),
    "not UTF-8": (HEAD.encode() + 'topic = "基金"\n'.encode("gbk"), "4: byte 0xbb is not UTF-8; save it as UTF-8"),
    "UTF-16": (HEAD.encode("utf-16"), "1: byte 0xff is not UTF-8; save it as UTF-8"),
}


def prepare(project: Project, name: str) -> str:
    text, sentence = BAD[name]
    project.data([{**row, "topic": "Funds"} for row in cases("say Paris")])
    project.file("test_other.py", "def test_other(): ...\n")
    (project.path / "bad.rag.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return sentence


@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_suite_is_refused_with_its_line(project: Project, name: str) -> None:
    sentence = prepare(project, name)
    message = refused(project)
    assert message.startswith("bad.rag.toml:")
    assert f":{sentence}" in message or name == "NUL"
    assert sentence in message


@pytest.mark.parametrize("name", ["key", "TOML"])
def test_workers_refuse_a_bad_suite_in_the_same_words(project: Project, name: str) -> None:
    sentence = prepare(project, name)
    assert refused(project, "-n2").startswith(f"bad.rag.toml:{sentence}")


def test_a_bad_suite_named_on_the_command_line_is_refused(project: Project) -> None:
    prepare(project, "key")
    for args in (["bad.rag.toml"], ["bad.rag.toml::a"], ["--collect-only", "bad.rag.toml"]):
        assert "did you mean 'noise_rate'?" in refused(project, *args)
    assert project.run("test_other.py").status == 0


def test_a_suite_may_have_windows_line_ends_and_a_byte_order_mark(project: Project) -> None:
    project.data(cases("say Paris"))
    text = "\ufeff" + HEAD.replace("\n", "\r\n")
    (project.path / "good.rag.toml").write_bytes(text.encode())
    assert names(project) == ["a[q1]"]
