"""An environment whose service dies: later cases are errors, and no score changes."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Run, case

CONFTEST = """
    import threading
    import urllib.request
    from http.server import BaseHTTPRequestHandler, HTTPServer

    import pytest

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"Paris")

        def log_message(self, *args): ...

    MAX_CALLS = {calls}

    class Service:
        def __init__(self):
            self.server, self.left = HTTPServer(("127.0.0.1", 0), Handler), MAX_CALLS
            threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

        def ask(self, word: str) -> str:
            if not self.left:
                self.server.shutdown()
                self.server.server_close()
            self.left -= 1
            address = "http://127.0.0.1:%d/" % self.server.server_port
            with urllib.request.urlopen(address, timeout=5) as reply:
                return reply.read().decode()

    SERVICE = Service()

    @pytest.fixture(scope="session")
    def rag_environments():
        return {{"desk": [SERVICE.ask]}}

    def build(parts):
        def answer(query):
            import asyncio

            async def call():
                with parts.environments.of_case().open() as tools:
                    return (await tools.run("ask", {{"word": query.question}})).text
            return asyncio.run(call())
        return answer

    build.uses_environments = True

    def pytest_rageval_register(registry):
        registry.systems.register("agent", build)
"""
"""A conftest whose environment asks a server on loopback, which stops after that many calls."""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], passages="retrieved",
              gates=["accuracy >= 0.9", "error_rate <= 0.1"])
    def test_it(rag): ...
"""


def run_with_calls(project: Project, calls: int, *args: str) -> Run:
    project.data([case(f"q{number}", f"word {number}") for number in range(1, 6)])
    project.file("conftest.py", CONFTEST.format(calls=calls))
    project.file("test_it.py", TEST)
    project.file("pytest.ini", "[pytest]\nrag_system = agent")
    return project.run(*args)


def test_cases_after_the_outage_are_errors_the_gate_fails_and_no_score_changes(project: Project) -> None:
    whole, outage = run_with_calls(project, 5), run_with_calls(project, 2)
    assert (whole.status, outage.status) == (0, 1)
    assert list(outage.statuses.values()) == ["scored"] * 2 + ["error"] * 3
    for name in ("q1", "q2"):
        assert outage.outcomes[name]["scores"] == whole.outcomes[name]["scores"] == {"accuracy": {"value": 1.0}}
    for name in ("q3", "q4", "q5"):
        outcome: Any = outage.outcomes[name]
        assert (outcome["error_type"], outcome["scores"]) == ("tool_unavailable", {})
        assert "the tool ask of environment 'desk' cannot be reached: " in outcome["error"]
    gates = {expr: (gate["status"], gate["value"], gate["n"]) for expr, gate in outage.gates.items()}
    assert gates == {"accuracy >= 0.9": ("passed", 1.0, 2), "error_rate <= 0.1": ("failed", 0.6, 5)}
    outage.said("*5 cases, 3 errors, *", "*1 error tool_unavailable: 3 of 5 cases*")


def test_an_outage_in_every_process_is_the_same_error(project: Project, mode: Mode) -> None:
    run = run_with_calls(project, 0, *mode)
    assert run.status == 1
    assert {outcome["error_type"] for outcome in run.results["outcomes"]} == {"tool_unavailable"}
    assert run.gates["error_rate <= 0.1"]["value"] == pytest.approx(1.0)
