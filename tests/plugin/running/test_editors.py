"""Test trees in editors: the item attributes that VS Code's plugin reads, and that plugin.

The plugin is not on PyPI. Its test runs if the variable VSCODE_PYTEST names its folder, ``python_files/vscode_pytest``
of github.com/microsoft/vscode-python.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from textwrap import dedent
from threading import Thread
from typing import Any

import pytest
from support.projects.rag_project import RIGHT, SAYS, WRONG, Project, cases

TESTS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:data/cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.9"])
    def test_it(rag): ...

    @rag_case("jsonl:data/cases.jsonl", metrics=["accuracy"], gates=["n >= 2"])
    class TestDesk:
        def test_desk(self, rag): ...

    def test_plain(): ...
"""
SUITE = """
    [[testbed]]
    name = "desk"
    dataset = "jsonl:data/cases.jsonl"
    metrics = ["accuracy"]
    gates = ["accuracy >= 0.5"]
"""
TREE = {
    "suites/desk.rag.toml": {"desk[q1]": "2", "desk[q2]": "2", "desk[gate: accuracy >= 0.5]": "2"},
    "test_it.py": {
        "test_it[q1]": "3",
        "test_it[q2]": "3",
        "TestDesk::test_desk[q1]": "8",
        "TestDesk::test_desk[q2]": "8",
        "test_plain": "10",
        "test_it[gate: accuracy >= 0.9]": "3",
        "TestDesk::test_desk[gate: n >= 2]": "8",
    },
    "pytest.ini": {"session[gate: error_rate <= 0]": "2"},
}


@pytest.fixture
def workspace(project: Project) -> Project:
    project.data(cases(RIGHT, WRONG), "data/cases.jsonl")
    project.file("conftest.py", SAYS)
    project.file("test_it.py", TESTS)
    project.file("suites/desk.rag.toml", "# a suite\n" + dedent(SUITE).strip())
    project.file("pytest.ini", "[pytest]\nrag_gates = error_rate <= 0\n")
    return project


WRITES_NODES = """

    def pytest_sessionfinish(session):
        import json
        nodes = [
            {
                "name": item.name,
                "nodeid": item.nodeid,
                "path": str(item.path),
                "line": item.location[1],
                "parent": str(item.parent.path),
                "kind": [kind for kind in ("File", "Class") if isinstance(item.parent, getattr(pytest, kind))],
                "original": getattr(item, "originalname", None) if hasattr(item, "callspec") else None,
            }
            for item in session.items
        ]
        with open("nodes.json", "w") as stream:
            json.dump(nodes, stream)
"""


def test_items_have_the_attributes_of_a_test_tree(workspace: Project) -> None:
    workspace.file("conftest.py", dedent(SAYS) + dedent(WRITES_NODES))
    assert workspace.run("--collect-only").status == 0
    nodes = json.loads((workspace.path / "nodes.json").read_text(encoding="utf-8"))
    tree: dict[str, dict[str, str]] = {}
    for node in nodes:
        file, _, name = node["nodeid"].partition("::")
        path = Path(node["path"])
        assert node["kind"]
        assert node["parent"] == node["path"]
        if file != "rag":
            assert path == workspace.path / file
        if node["original"] is not None:  # parameters, which belong to a function in a Python file
            assert path.suffix == ".py"
            assert node["name"].startswith(f"{node['original']}[")
        tree.setdefault(path.relative_to(workspace.path).as_posix(), {})[name] = str(node["line"] + 1)
    assert tree == TREE


class VSCode:
    """VS Code's side of its pytest plugin: starts pytest and reads the messages from a named pipe."""

    def __init__(self, folder: Path, plugin: Path) -> None:
        self._folder, self._plugin = folder, plugin

    def run(self, *args: str) -> list[dict[str, Any]]:
        """Run pytest and return the parameters of all messages."""
        pipe = self._folder / "pipe"
        os.mkfifo(pipe)
        chunks: list[bytes] = []
        reader = Thread(target=lambda: chunks.append(pipe.read_bytes()))
        reader.start()
        paths = os.pathsep.join([str(self._plugin.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "TEST_RUN_PIPE": str(pipe), "PYTHONPATH": paths}
        command = [sys.executable, "-m", "pytest", "-p", "vscode_pytest", f"--rootdir={self._folder}", *args]
        with pipe.open("r+b", buffering=0), Path(self._folder / "output.txt").open("wb") as output:
            Popen(command, cwd=self._folder, env=environment, stdout=output, stderr=output).wait(120)
        reader.join(30)
        pipe.unlink()
        return list(_messages(b"".join(chunks)))


def _messages(raw: bytes) -> Iterator[dict[str, Any]]:
    while raw:
        head, _, raw = raw.partition(b"\r\n\r\n")
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        yield json.loads(raw[:length])["params"]
        raw = raw[length:]


def _tests(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if node["type_"] == "test":
        yield node
    for child in node.get("children", ()):
        yield from _tests(child)


@pytest.fixture
def vscode(workspace: Project) -> VSCode:
    folder = os.environ.get("VSCODE_PYTEST")
    if not folder:
        pytest.skip("VSCODE_PYTEST does not name the folder of VS Code's plugin")
    return VSCode(workspace.path, Path(folder))


def test_vscode_discovers_suites_and_gates_and_runs_them(workspace: Project, vscode: VSCode) -> None:
    (discovery,) = vscode.run("--collect-only")
    assert (discovery["status"], discovery["error"]) == ("success", [])
    tests = {test["runID"]: test["lineno"] for test in _tests(discovery["tests"])}
    assert tests == {f"{file}::{name}": line for file, names in TREE.items() for name, line in names.items()}
    failing_gate = f"{workspace.path}/test_it.py::test_it[gate: accuracy >= 0.9]"
    for arguments in ([failing_gate], [f"{workspace.path}/{test}" for test in tests], [failing_gate, "-n2"]):
        outcomes = [test for message in vscode.run(*arguments) for test in message["result"].values()]
        by_id = {outcome["test"]: outcome for outcome in outcomes}
        assert by_id[failing_gate]["outcome"] == "failure"
        assert by_id[failing_gate]["message"].startswith("0.50 < 0.90 (n ")
        if len(arguments) > 2:
            results = {name: outcome["outcome"] for name, outcome in by_id.items()}
            assert results == {f"{workspace.path}/{test}": "success" for test in tests} | {failing_gate: "failure"}
