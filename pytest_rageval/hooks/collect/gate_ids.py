"""Accept node ids of gates as arguments: ``t.py::test_x[gate: ...]`` runs the cases of ``test_x``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.collect.usage_errors import REFUSED, refuse

__all__ = ["GateId", "GateIds", "gate_ids", "rewrite_arguments", "session_file"]

OPENING = "[gate: "
_NUMBER = re.compile(r"#\d+$")


@dataclass(frozen=True, slots=True)
class GateId:
    """The node id of a gate on the command line.

    Attributes:
        argument: the argument as written.
        path: the part before ``::``, a test file; for a session gate "rag", or the file under which editors list it.
        name: the part between the file and ``[gate:``, such as ``TestFees::test_x``.
        gate: the gate, as node ids spell it.
    """

    argument: str
    path: str
    name: str
    gate: str

    @property
    def tests(self) -> str:
        """The argument that selects the cases of all testbeds of the gate's test function."""
        return f"{self.path}::{_NUMBER.sub('', self.name)}"

    def is_of_session(self, config: pytest.Config) -> bool:
        """Return whether this is a session gate."""
        path = Path(os.path.abspath(config.invocation_params.dir / self.path))
        return self.name == "session" and (self.path == "rag" or path == session_file(config))


class GateIds:
    """Plugin: refuse ids of gates that do not exist, like pytest refuses other unknown node ids.

    Args:
        ids: the gate ids on the command line.
    """

    def __init__(self, ids: Sequence[GateId]) -> None:
        self._ids = ids

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, config: pytest.Config) -> None:
        """Refuse the session if a gate of the command line does not exist."""
        if REFUSED in config.stash:
            return
        known: dict[str, list[str]] = {}
        if COLLECTED in config.stash:
            collected = config.stash[COLLECTED]
            known["session"] = [str(gate) for gate, _ in collected.session_gates]
            for testbed in collected.testbeds.values():
                known.setdefault(testbed.nodeid.partition("::")[2], []).extend(map(str, testbed.gates))
        for each in self._ids:
            gates = known.get(each.name, [])
            if each.gate not in gates:
                known_gates = f"its gates are {'; '.join(gates)}" if gates else "it has no gate"
                refuse(
                    config,
                    session.nodeid,
                    message_with_code(SettingError(f"no such gate: {each.argument}; {known_gates}", code="RAG114")),
                )
                return


def gate_ids(arguments: Iterable[str]) -> Iterator[GateId]:
    """Yield the gate ids among the arguments; skip parameters of a user's tests that look like one."""
    for argument in arguments:
        if argument.endswith("]") and OPENING in argument:
            from pytest_rageval.analysis.gates import parse_gate

            node, _, text = argument[:-1].partition(OPENING)
            path, _, name = node.partition("::")
            try:
                yield GateId(argument, path, name, str(parse_gate(text)))
            except RagEvalError:
                continue


def rewrite_arguments(config: pytest.Config) -> None:
    """Replace gate ids in the arguments with their tests; a session gate selects all tests."""
    ids = list(gate_ids(config.args))
    if not ids:
        return
    config.pluginmanager.register(GateIds(ids), "rageval-gate-ids")
    if any(each.is_of_session(config) for each in ids):
        patterns = [os.path.join(config.rootpath, path) for path in config.getini("testpaths")]
        paths = [path for pattern in patterns for path in sorted(glob.iglob(pattern, recursive=True))]
        config.args = paths or [str(config.rootpath)]
        if paths:
            config.args_source = pytest.Config.ArgsSource.TESTPATHS
        return
    tests = {each.argument: each.tests for each in ids}
    config.args = list(dict.fromkeys(tests.get(argument, argument) for argument in config.args))


def session_file(config: pytest.Config) -> Path:
    """Return the file that session gates belong to: the ini if inside the rootdir, else the rootdir's conftest.py."""
    ini = config.inipath
    is_inside = ini is not None and config.rootpath in ini.parents
    return ini if ini is not None and is_inside else config.rootpath / "conftest.py"
