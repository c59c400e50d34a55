"""Add properties of cases, gates and the session to pytest's JUnit file (``--junitxml``)."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement

import pytest

from pytest_rageval.hooks.reporting.keys import RECORDER

if TYPE_CHECKING:
    import pluggy

    from pytest_rageval.hooks.reporting.recorder import Recorder
    from pytest_rageval.report.export.junit_properties import Properties
    from pytest_rageval.report.run.gate_results import NamedGate

__all__ = ["JUnit"]

LEFT_OUT = "left out, because rag_report_texts is false"


class JUnit:
    """Plugin of the main process, with ``--junitxml`` only.

    With ``junit_family = xunit1`` they are user properties of pytest. The schema of xunit2, pytest's default, allows no
    properties of tests, and Jenkins' xUnit plugin rejects a file with them. With xunit2 they are lines of the test's
    output, which test management tools read: ``[[PROPERTY|name=value]]``.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failed: dict[str, pytest.TestReport] = {}
        self._gates: dict[str, NamedGate] = {}
        self._unweighed: set[str] | None = None  # metrics, as in Plan.unweighed; None before the first case

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Add a test's properties before pytest closes its element at teardown."""
        if report.when == "call" and report.failed:
            self._failed[report.nodeid] = report
        recorder = self._config.stash.get(RECORDER, None)
        if report.when != "teardown" or recorder is None:
            return (yield)
        failed = self._failed.pop(report.nodeid, report)
        properties, may_quote = self._properties(recorder, report.nodeid)
        xml = self._xml()
        element = xml.node_reporter(report) if properties and xml is not None else None
        if element is not None and may_quote and not recorder.run.texts:
            _leave_out_texts(element.nodes)
        elif element is not None:
            _shorten_messages(element.nodes)
        if getattr(xml, "family", "") != "xunit2":
            reports = [failed] if failed is report else [failed, report]  # a failed teardown has its own element
            for each in reports:
                each.user_properties.extend(properties)
            return (yield)
        result = yield
        if element is not None:
            _append_output(element.to_xml(), "".join(f"[[PROPERTY|{name}={value}]]\n" for name, value in properties))
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None]:
        """Add the run's properties before pytest writes the file.

        If pytest cannot write the file, fail the session with a warning: the error would end pytest with a traceback,
        without results and summary.
        """
        recorder, xml = self._config.stash.get(RECORDER, None), self._xml()
        if recorder is not None:
            self._add_properties(recorder, xml, exitstatus)
        try:
            return (yield)
        except OSError as error:
            if recorder is None or xml is None or not _raised_by(type(xml), error):
                raise
            recorder.take_fault(f"{self._config.option.xmlpath} cannot be written: {error.strerror or error}")
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            for hook in self._skipped_hooks(xml):
                hook.function(*({"session": session, "exitstatus": exitstatus}[name] for name in hook.argnames))
            return None

    def _add_properties(self, recorder: Recorder, xml: Any, exitstatus: int) -> None:
        add = getattr(xml, "add_global_property", None)
        if add is None:
            return
        from pytest_rageval.report.export.junit_properties import run_properties
        from pytest_rageval.report.run.account import account_of

        run = recorder.run
        run.exitstatus = int(exitstatus)  # the verdict depends on it
        systems = dict.fromkeys(outcome.system for outcome in run.ordered())
        for name, value in run_properties(recorder.description(), systems, account_of(run)):
            add(name, value)

    def _skipped_hooks(self, xml: Any) -> list[pluggy.HookImpl]:
        """Unregister pytest's JUnit plugin, and return the hooks that did not run because of its error."""
        from _pytest.junitxml import xml_key

        manager = self._config.pluginmanager
        hooks = manager.hook.pytest_sessionfinish.get_hookimpls()  # the last one is called first
        at = next(at for at, hook in enumerate(hooks) if hook.plugin is xml)
        del self._config.stash[xml_key]
        manager.unregister(xml)
        return hooks[:at][::-1]

    def _properties(self, recorder: Recorder, nodeid: str) -> tuple[Properties, bool]:
        """Return the properties of a case or gate ([] for other tests), and whether its failure may quote data."""
        from pytest_rageval.report.export.junit_properties import case_properties, gate_properties
        from pytest_rageval.report.files.gate_json import encode_gate

        run = recorder.run
        outcome = run.outcomes.get(nodeid)
        if outcome is not None:
            if self._unweighed is None:
                self._unweighed = run.plan.metrics_needing_trust
            return case_properties(outcome, self._unweighed, texts=run.texts), True
        if len(self._gates) != len(run.gates):
            self._gates = {named_gate.nodeid: named_gate for named_gate in run.gates}
        named_gate = self._gates.get(nodeid)
        if named_gate is None:
            return [], False
        gate, encoded = named_gate.result.gate, encode_gate(named_gate, texts=run.texts)
        return gate_properties(encoded, f"{gate.op} {gate.bound_text}"), encoded["reason"] != named_gate.result.reason

    def _xml(self) -> Any:
        """Return pytest's JUnit writer; None if another plugin writes the file."""
        from _pytest.junitxml import xml_key

        return self._config.stash.get(xml_key, None)


def _raised_by(kind: type, error: BaseException) -> bool:
    """Return whether an error was raised in the module of a class."""
    path = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return any(frame.f_code.co_filename == path for frame, _ in traceback.walk_tb(error.__traceback__))


def _append_output(test: Element, text: str) -> None:
    """Append a text to a test's output, and merge its elements: readers use only the first one."""
    outputs = test.findall("system-out")
    for each in outputs[1:]:
        test.remove(each)
    output = outputs[0] if outputs else SubElement(test, "system-out")
    texts = [(each.text or "").rstrip("\n") + "\n" for each in outputs]
    output.text = "".join([*texts, text])


def _leave_out_texts(nodes: Iterable[Element]) -> None:
    """Replace the texts of failures, errors and skips by a note."""
    for node in nodes:
        if node.tag in ("error", "failure", "skipped"):
            node.set("message", LEFT_OUT)
            node.text = LEFT_OUT


def _shorten_messages(nodes: Iterable[Element]) -> None:
    """Reduce the message of failures and errors to its first line; their text contains the whole message."""
    for node in nodes:
        if node.tag in ("error", "failure"):
            node.set("message", node.get("message", "").partition("\n")[0])
