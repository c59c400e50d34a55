"""What collecting a span of OpenTelemetry costs, from its start to its step in the answer's trace.

    python tests/benchmarks/tracing_otel.py

Each case has 50 spans: tool calls with arguments and two passages, and model calls with messages. The same spans are
made with the SDK alone and with the collection on, in turn; the difference is the cost. Target: at most 50 us a span.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from contextlib import nullcontext

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.otel.live import case_span, close_traces, open_traces

CASES, SPANS, ROUNDS = 100, 50, 7
LIMIT_US = 50.0

DOCUMENTS = json.dumps([{"id": f"d{number}", "text": "The museum opens at 9:00. " * 10} for number in range(2)])
MESSAGES = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "When does the museum open? " * 10}]}])
TOOL: dict[str, str | int] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.arguments": '{"query": "museum opening"}',
    "gen_ai.tool.call.result": DOCUMENTS,
}
CHAT: dict[str, str | int] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.input.messages": MESSAGES,
    "gen_ai.output.messages": MESSAGES.replace("user", "assistant"),
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 10,
}


def agent(tracer: trace.Tracer) -> None:
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        for number in range(SPANS - 1):
            with tracer.start_as_current_span("step", attributes=CHAT if number % 2 else TOOL):
                pass


def seconds(tracer: trace.Tracer, *, collects: bool) -> float:
    """Return the CPU time of all cases; a busy machine changes it less than the wall time."""
    start = time.process_time()
    for number in range(CASES):
        collector = Collector()
        with case_span(str(number), "bench", collector) if collects else nullcontext():
            agent(tracer)
        if collects:
            assert len(collector.steps()) == SPANS - 1
    return time.process_time() - start


def main() -> int:
    alone, collected = TracerProvider(), TracerProvider()
    trace.set_tracer_provider(collected)
    live = open_traces("otel")
    times: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    for _ in range(ROUNDS):
        times[0].append(seconds(alone.get_tracer("app"), collects=False))
        times[1].append(seconds(collected.get_tracer("app"), collects=True))
        gc.collect()
    close_traces(live)
    without, both = (statistics.median(each) / (CASES * SPANS) * 1e6 for each in times)
    cost = both - without
    print(f"SDK alone {without:.1f} us a span, collected {both:.1f} us; cost {cost:.1f} us (limit {LIMIT_US:g})")
    return int(cost > LIMIT_US)


if __name__ == "__main__":
    sys.exit(main())
