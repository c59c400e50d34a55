"""Pages on metrics and gates."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from generator.markdown import sentence, slug, table

FAMILY_EXAMPLES = ("nDCG@10", "AP", "RR", "P@5", "R@5", "Success@5", "Rprec", "Judged@10", "page_R@5", "page_P@5",
                   "page_Success@5", "erag:P@5", "kilt:token_f1", "people:accuracy_judged", "diagnosis:TE")  # fmt: skip


ROOMS = {
    "answers": "Metrics of the answer",
    "rankings": "Metrics of what was retrieved",
    "diagnosis": "Types of right and wrong answers",
    "traces": "Metrics of the calls that led to the answer",
    "judges": "Metrics that a judge decides",
    "published": "Metrics as published code computes them",
}


GATES = (
    ("accuracy >= 0.85", "The mean accuracy is at least 0.85."),
    ("accuracy >= 85%", "The same, as a percentage."),
    ("accuracy[noise_rate=0.8] >= 0.7", "Only cases with this facet."),
    ("accuracy[topic=*] >= 0.5", "Every topic; the worst one decides."),
    ("accuracy[topic=*, min_n=5] >= 0.6", "Every topic with at least 5 scored cases."),
    ('accuracy[topic="Rent, heating"] >= 0.6', "A value with a comma, a bracket or a quote stands in double quotes."),
    ("hallucination <= 0.1", "A metric that should be low."),
    ("accuracy >= baseline", "Not worse than the committed baseline."),
    ("accuracy[topic=*] >= baseline - 0.02", "No topic more than 0.02 below the baseline."),
    ("hallucination <= baseline + 0.02", "The same for a metric that should be low."),
    ("error_rate <= 1%", "At most 1 % of the cases end in an error."),
    ("cost_usd <= 0.01", "All answers together cost at most one cent."),
    ("latency_p95 <= 3", "95 % of the answers take at most 3 seconds."),
)


BAD_GATES = ("accuracy => 0.8", "accuracy >= high", "accuracy[topic] >= 0.5", "accuracy > baseline", ">= 0.5")


PSEUDO = {
    "cost_usd": "US dollars of all answers together, judges apart. If one price is unknown, the gate fails.",
    "error_rate": "Share of the cases that ended in an error.",
    "latency_p50": "Median seconds of an answer.",
    "latency_p95": "Seconds that 95 % of the answers stay within.",
    "model_calls": "Calls of models in an answer's trace, the mean over the answers whose trace has them.",
    "n": "Number of scored cases.",
    "tokens": "Tokens of all answers together, prompts and replies, judges apart.",
    "tool_calls": "Calls of tools in an answer's trace, the mean over the answers with a trace.",
}


def metrics() -> Iterator[str]:
    """Yield each metric with its formula, range, empty input and source."""
    from pytest_rageval.metrics import BUILTIN, FAMILIES
    from pytest_rageval.registry import Registry

    known: Registry[Any] = Registry("metric", BUILTIN, families=FAMILIES)
    yield from ("Metrics", "", "All values are in 0..1. A metric with a cutoff takes any: `R@5`, `R@20`.")
    yield "`erag:`, `kilt:` and `people:` take the name of another metric behind them, `diagnosis:` a type."
    rooms: dict[str, list[str]] = {}
    for name in (*BUILTIN, *FAMILY_EXAMPLES):
        module = BUILTIN.get(name) or FAMILIES[re.split("[@:]", name)[0]]
        rooms.setdefault(module.split(".")[2], []).append(name)
    texts = {
        name: inspect.cleandoc(known.get(name).compute.__doc__ or "") for names in rooms.values() for name in names
    }
    for room, title in ROOMS.items():
        yield from ("", f"## {title}")
        rows = [(f"[`{name}`](#{slug(name)})", "higher" if known.get(name).higher_is_better else "lower",
                 sentence(texts[name].split("\n\n")[0])) for name in rooms[room]]  # fmt: skip
        yield from table(("metric", "better", "what it says"), rows)
        for name in rooms[room]:
            yield from (f"### {name}", "", sentence(texts[name].split("\n\n")[0]), "")
            yield from (f"- **{key}:** {text}" for key, text in sections(texts[name]))
            yield ""


def sections(doc: str) -> Iterator[tuple[str, str]]:
    """Yield what a metric's docstring says under Formula, Range, Empty input and Source."""
    parts = re.split(r"\b(Formula|Range|Empty input|Source): ", " ".join(doc.split("\n\n", 1)[1].split()))
    for key, text in zip(parts[1::2], parts[2::2], strict=True):
        yield key, text.strip().replace("``", "`")


def gates() -> Iterator[str]:
    """Yield the grammar of gates, with examples that are parsed here."""
    from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate

    yield from (
        "Gate grammar",
        "",
        "A gate is a bound on the mean of a metric. [Set a gate](../how-to/gates.md) says how to use them.",
        "",
        "```text",
    )
    yield 'gate   = metric [ "[" pair { "," pair } "]" ] op bound'
    yield "metric = the name of a metric, or one of " + ", ".join(PSEUDO_METRICS)
    yield 'pair   = facet "=" value | facet "=" "*" | "min_n" "=" number'
    yield 'op     = ">=" | ">" | "<=" | "<"'
    yield 'bound  = number | number "%" | "baseline" | "baseline" ( "-" | "+" ) number'
    yield from ("```", "", "`baseline - X` goes with `>=`, `baseline + X` with `<=`.", "", "## Examples")
    yield from table(("gate", "metric", "cases", "meaning"), [
        (f"`{parse_gate(text)}`", f"`{parse_gate(text).metric}`",
         ", ".join(f"`{key}={value}`" for key, value in parse_gate(text).slice.items()) or "all", meaning)
        for text, meaning in GATES])  # fmt: skip
    yield from ("## What is not measured by a metric", "")
    yield from table(("name", "meaning"), [(f"`{name}`", PSEUDO[name]) for name in PSEUDO_METRICS])
    yield from ("## Messages", "", "A malformed gate ends the session before anything runs:", "", "```text")
    yield from map(message, BAD_GATES)
    yield "```"


def message(text: str) -> str:
    """Return what the program says of a malformed gate."""
    from pytest_rageval.analysis.gates import parse_gate
    from pytest_rageval.errors import GateSyntaxError, message_with_code

    try:
        parse_gate(text)
    except GateSyntaxError as error:
        return message_with_code(error)
    raise AssertionError(f"{text} is well-formed")
