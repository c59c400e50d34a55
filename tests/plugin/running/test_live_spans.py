"""Spans of the system under test become the trace of its answer."""

from __future__ import annotations

import pytest
from support.projects.rag_project import SAYS, Mode, Project, cases

from pytest_rageval.hooks.prepare import checks

pytest.importorskip("opentelemetry.sdk.trace", reason="the extra otel is not installed")

CONFTEST = """
    import asyncio, json
    import opentelemetry.sdk.trace
    import pytest
    from opentelemetry import trace

    tracer = trace.get_tracer("app")

    def span(operation, **more):
        names = {"gen_ai." + key.replace("__", "."): value for key, value in more.items()}
        return tracer.start_as_current_span(operation, attributes={"gen_ai.operation.name": operation, **names})

    async def answer(query):
        with span("invoke_agent", usage__input_tokens=99):
            for number in range(3):
                result = json.dumps([{"id": f"{query.question}-{number}", "text": "Paris is it."}])
                call = json.dumps({"q": query.question})
                with span("execute_tool", tool__name="search", tool__call__arguments=call, tool__call__result=result):
                    await asyncio.sleep(0.01)
            with span("chat", usage__input_tokens=7, usage__output_tokens=2):
                await asyncio.sleep(0.01)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def test_sixteen_answers_at_once_have_only_their_own_steps(project: Project, mode: Mode) -> None:
    project.says(cases(*(f"question {n}" for n in range(16))), conftest=CONFTEST)
    run = project.run(*mode, "--rag-concurrency", "16")
    assert run.status == 0
    assert len(run.outcomes) == 16
    for name, outcome in run.outcomes.items():
        question = f"question {int(name.removeprefix('q')) - 1}"
        answer = outcome["answer"]
        steps = [step for step in answer["trace"] if step["kind"] != "end"]
        assert [step["kind"] for step in steps] == ["tool"] * 3 + ["completion"]
        assert all(step["detail"]["arguments"] == {"q": question} for step in steps[:3])
        assert [each["doc_id"] for each in answer["ranking"]] == [f"{question}-{n}" for n in range(3)]
        assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (7, 2)


def test_a_sync_system_in_threads_keeps_its_steps(project: Project) -> None:
    sync = CONFTEST.replace("async def", "def").replace("await asyncio.sleep", "__import__('time').sleep")
    project.says(cases(*(f"question {n}" for n in range(8))), conftest=sync)
    run = project.run("--rag-concurrency", "8")
    for name, outcome in run.outcomes.items():
        values = {str(step["detail"].get("arguments")) for step in outcome["answer"]["trace"] if step["kind"] == "tool"}
        assert values == {str({"q": f"question {int(name.removeprefix('q')) - 1}"})}


def test_no_trace_is_collected_if_rag_traces_is_off(project: Project) -> None:
    project.says(cases("question"), conftest=CONFTEST)
    project.file("pytest.ini", "[pytest]\nrag_traces = off")
    assert project.run().outcomes["q1"]["answer"]["trace"] == []


@pytest.mark.parametrize(
    ("ini", "args", "message"),
    [
        (
            "rag_traces = otel",
            (),
            "*rag_traces = otel needs an optional dependency: pip install 'pytest-rageval?otel?*",
        ),
        ("", ("--rag-otel",), "*--rag-otel needs an optional dependency: pip install 'pytest-rageval?otel?'*"),
        ("rag_traces = off", ("--rag-otel",), "*--rag-otel and rag_traces = off exclude each other*"),
        ("rag_traces = on", (), "*rag_traces is 'on'; * auto*otel*off*"),
    ],
)
def test_a_trace_setting_that_cannot_be_used_is_reported_in_one_sentence(
    project: Project, monkeypatch: pytest.MonkeyPatch, ini: str, args: Mode, message: str
) -> None:
    monkeypatch.setattr(checks, "has_sdk", lambda: False)
    project.says(cases("say Paris"))
    project.file("pytest.ini", f"[pytest]\n{ini}")
    run = project.run(*args, json_path=None)
    assert run.status == 4
    pytest.LineMatcher([*run.result.stdout.lines, *run.result.stderr.lines]).fnmatch_lines([message])


def test_the_users_provider_gets_the_spans_and_loses_none(project: Project) -> None:
    provider = """
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=open("spans.txt", "w"))))
    trace.set_tracer_provider(provider)
    """
    project.says(cases("question"), conftest=CONFTEST + provider)
    run = project.run(forked=True)
    assert run.status == 0
    text = (project.path / "spans.txt").read_text(encoding="utf-8")
    assert text.count('"name": "execute_tool"') == 3
    assert text.count('"name": "rageval.case"') == 1
    for name, value in (("case.id", "q1"), ("system", "rag_system"), ("testbed", "test_it.py::test_it")):
        assert f'"rageval.{name}": "{value}"' in text


def test_tool_results_that_were_not_recorded_give_one_warning(project: Project) -> None:
    project.says(cases("a", "b", "c"), conftest=CONFTEST.replace(", tool__call__result=result", ""))
    run = project.run()
    run.said("warning: the results of tools were not recorded in 3 answers")
    assert "result" not in run.outcomes["q1"]["answer"]["trace"][0]["detail"]
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false")
    assert "were not recorded" not in project.run().text


def test_a_tool_that_returns_documents_has_a_result(project: Project) -> None:
    conftest = """
        import pytest
        from pytest_rageval import tracing

        @tracing.tool
        def search(question):
            return [{"id": "capital", "text": "Paris is the capital."}]

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: search(query.question)[0]["text"]
    """
    project.says(cases("a"), conftest=conftest)
    assert "were not recorded" not in project.run().text


def test_opentelemetry_is_not_imported_for_a_system_without_it(project: Project) -> None:
    conftest = (
        SAYS
        + """
    def pytest_unconfigure():
        import sys
        print("loaded:", sorted(name for name in sys.modules if name.startswith(("opentelemetry", "langchain"))))
    """
    )
    project.says(cases("say Paris"), conftest=conftest)
    run = project.run("-s", forked=True)
    assert run.status == 0
    run.said("loaded: []")


def test_an_exception_whose_message_raises_is_still_the_cause(project: Project) -> None:
    raises = CONFTEST.replace(
        "    async def answer(query):\n",
        """    class Odd(Exception):
        def __str__(self):
            return None

    async def answer(query):
        raise Odd()
""",
    )
    project.says(cases("question"), conftest=raises)
    run = project.run()
    assert "Odd: its message cannot be shown, as that raises TypeError" in run.outcomes["q1"]["error"]
