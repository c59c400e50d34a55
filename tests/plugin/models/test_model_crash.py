"""A worker crashes during a model call: its case is an error, no answer is paid twice."""

from __future__ import annotations

from collections import Counter

from support.projects.model_projects import asked, asks, loaded, numbered, stop  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer


def test_a_case_that_crashes_its_worker_is_paid_once(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.delay_s = 0.05
    asks(project, openai_server.base_url, numbered(24))
    project.file("conftest.py", """
        import os

        def pytest_runtest_call(item):
            if "q05" in item.name:
                os._exit(3)
    """)  # fmt: skip
    run = project.run("-n2", "--dist", "worksteal")
    assert {name for name, status in run.statuses.items() if status == "error"} == {"q05"}, run.text
    assert list(run.statuses.values()).count("scored") == 23
    requests = Counter(asked(openai_server))
    assert requests["q05"] == 1  # its answer was stored
    assert requests.total() <= 24 + 16
