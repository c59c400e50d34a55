"""`pytest --rag-otel` sends scores to the traces of their cases, here to a local collector."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Run, case

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the exporter of OTLP is not installed")

from support.servers.otlp_collector import OtlpCollector

PROVIDERS = """
    import json
    import pytest
    from opentelemetry import trace
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    URL = "{url}"
    traces, logs = TracerProvider(), LoggerProvider()
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(URL + "/v1/traces")))
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(URL + "/v1/logs")))
    trace.set_tracer_provider(traces)
    set_logger_provider(logs)

    def messages(role, text):
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            word, _, rest = query.question.partition(" ")
            if word == "raise":
                raise ValueError(rest)
            documents = json.dumps([{"id": "d1", "text": f"It is {rest}."}])
            retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}
            with trace.get_tracer("app").start_as_current_span("retrieval", attributes=retrieval):
                pass
            chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages("user", query.question),
                    "gen_ai.output.messages": messages("assistant", rest)}
            with trace.get_tracer("app").start_as_current_span("chat", attributes=chat):
                return rest
        return answer
"""


@pytest.fixture
def collector(project: Project) -> Iterator[OtlpCollector]:
    with OtlpCollector(project.path / "traces.jsonl") as collector:
        yield collector


def events(collector: OtlpCollector) -> list[tuple[str, str, dict[str, Any]]]:
    """Return trace, span and attributes of each event that the collector received."""
    results = []
    for line in collector.lines():
        for resource in line.get("resourceLogs", ()):
            for scope in resource["scopeLogs"]:
                for record in scope["logRecords"]:
                    assert record["eventName"] == "gen_ai.evaluation.result"
                    values = {each["key"]: next(iter(each["value"].values())) for each in record["attributes"]}
                    results.append((record["traceId"], record["spanId"], values))
    return results


def case_spans(collector: OtlpCollector) -> dict[str, tuple[str, str]]:
    """Return trace and span of each case by its id."""
    spans = {}
    for line in collector.lines():
        for resource in line.get("resourceSpans", ()):
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                names = {each["key"]: each["value"].get("stringValue") for each in span.get("attributes", ())}
                if span["name"] == "rageval.case":
                    spans[str(names["rageval.case.id"])] = (span["traceId"], span["spanId"])
    return spans


def run(project: Project, collector: OtlpCollector, *args: str) -> Run:
    rows = [case("right"), case("wrong", "say Rome"), case("broken", "raise no model")]
    project.says(rows, 'gates=["accuracy >= 0.9"]', conftest=PROVIDERS.replace("{url}", collector.url))
    return project.run(*args, "--rag-otel", forked=True)


@pytest.mark.parametrize("mode", [(), ("-n2",)], ids=["plain", "n2"])
def test_each_score_is_an_event_on_the_trace_of_its_case(
    project: Project, collector: OtlpCollector, mode: Mode
) -> None:
    assert run(project, collector, *mode).status == 1
    spans, results = case_spans(collector), events(collector)
    name = "gen_ai.evaluation."
    by_case = {next(key for key, span in spans.items() if span == (trace, at)): values for trace, at, values in results}
    assert by_case["right"] == {f"{name}name": "accuracy", f"{name}score.value": 1.0, f"{name}score.label": "pass"}
    assert by_case["wrong"] == {f"{name}name": "accuracy", f"{name}score.value": 0.0, f"{name}score.label": "fail"}
    assert by_case["broken"]["error.type"] == "system_error"
    assert "no model" in by_case["broken"][f"{name}explanation"]
    assert f"{name}score.value" not in by_case["broken"]


def test_scores_of_imported_traces_are_sent_to_the_same_traces(project: Project, collector: OtlpCollector) -> None:
    run(project, collector)
    spans, before = case_spans(collector), len(events(collector))
    options = ("--failed", "--force", "--id-attribute", "rageval.case.id")
    process = project.command("import", "otel", "traces.jsonl", *options)
    assert process.returncode == 0, process.stderr
    assert "1 traces contain no call" in process.stdout  # the case that raised
    cases = [json.loads(line) for line in (project.path / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each["id"], each["question"], each["labelled"]) for each in cases] == [("wrong", "say Rome", False)]
    assert cases[0]["passages"] == [{"id": "d1", "text": "It is Rome."}]
    again = project.run("--rag-otel", "--rag-answers", "cases.answers.jsonl", forked=True)
    outcome = again.outcomes["wrong"]
    assert [step["kind"] for step in outcome["answer"]["trace"]][:2] == ["retrieve", "completion"]
    assert outcome["scores"]["accuracy"]["reason"].startswith("not_applicable")
    (trace, span, values) = events(collector)[before]
    assert (trace, span) == spans["wrong"]
    assert values["gen_ai.evaluation.score.label"] == "unscored"
