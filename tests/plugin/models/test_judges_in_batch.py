"""Many cases judged over HTTP: verdicts overlap with answers, and none is asked twice."""

from __future__ import annotations

from collections import Counter

import pytest
from support.projects.model_projects import asks, bodies, loaded  # noqa: F401
from support.projects.rag_project import Project, Row
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer


def server_judge(openai_server: OpenAIServer) -> list[str]:
    """Make the server both model and judge, and return the ini's lines for the judge."""
    openai_server.reply = lambda body: '{"reason": "so", "label": "right"}' if body["model"] == "j" else "Paris it is."
    params = {"api_base": openai_server.base_url, "api_key": "k-0123456789"}
    return ["rag_judge_model = openai/j", "rag_judge_params =", *(f"    {k} = {v}" for k, v in params.items())]


def place_rows(count: int) -> list[Row]:
    return [
        {"id": f"q{number}", "question": f"Where is {number}?", "answers": ["Paris"], "passages": ["It is there."]}
        for number in range(count)
    ]


def test_verdicts_overlap_with_pending_answers(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.delay_s = lambda number, body: 2.0 if body["model"] == "m" and "is 0?" in last_user(body) else 0.02
    ini = server_judge(openai_server)
    asks(project, openai_server.base_url, place_rows(12), *ini, arguments='metrics=["accuracy_judged"]')
    run = project.run()
    assert run.status == 0, run.text
    assert {outcome["scores"]["accuracy_judged"]["value"] for outcome in run.outcomes.values()} == {1.0}
    calls = [(body["model"], "is 0?" in str(body)) for body in bodies(openai_server)]
    assert Counter(calls) == {("m", True): 1, ("m", False): 11, ("j", True): 1, ("j", False): 11}
    first_case = calls.index(("j", True))
    assert calls[:first_case].count(("j", False)) > 1, (
        "other cases are judged while the first case waits for its answer"
    )
    assert openai_server.peak > 2


@pytest.mark.parametrize("repeat", [1, 2])
def test_equal_answers_of_two_systems_are_judged_by_one_request(
    project: Project, openai_server: OpenAIServer, repeat: int
) -> None:
    ini = server_judge(openai_server)
    asks(project, openai_server.base_url, place_rows(3), *ini, arguments='metrics=["accuracy_judged"]')
    run = project.run("--rag-system", "llm", "--rag-system", "closed_book", "--rag-repeat", str(repeat))
    assert run.status == 0, run.text
    assert Counter(body["model"] for body in bodies(openai_server)) == {"m": 6 * repeat, "j": 3 * repeat}
    assert [outcome["scores"]["accuracy_judged"]["value"] for outcome in run.results["outcomes"]] == [1.0] * 6 * repeat
    assert run.results["usage"]["calls"] == 12 * repeat
    assert run.results["usage"]["attempts"] == 9 * repeat
