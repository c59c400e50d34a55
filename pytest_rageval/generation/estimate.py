"""Estimate what a plan generates, for `--dry-run`: no model call, no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pytest_rageval.generation.material import Material
from pytest_rageval.generation.templates.parsed_template import parse_template
from pytest_rageval.generation.templates.template import Template, templates_of
from pytest_rageval.registry import Registry

__all__ = ["ESTIMATES", "Estimate", "corpus_lines", "estimate_lines", "table_lines", "template_lines", "wanted_lines"]

Estimate = Callable[[Material], Iterable[str]]
"""Yields lines about one table of a plan; checks the table as far as its data allows."""

ESTIMATES: dict[str, str] = {
    "corpus": "pytest_rageval.generation.estimate:corpus_lines",
    "topics": "pytest_rageval.generation.topics.report:topic_lines",
    "table": "pytest_rageval.generation.estimate:table_lines",
    "template": "pytest_rageval.generation.estimate:template_lines",
    "wanted": "pytest_rageval.generation.estimate:wanted_lines",
    "paraphrase": "pytest_rageval.generation.model_drafts.rewording:rewording_lines",
    "known": "pytest_rageval.generation.leakage.closed_book:known_lines",
    "model": "pytest_rageval.generation.model_drafts.estimate:model_lines",
}
"""Table of a plan -> ``"module:function"`` of its lines, in order. Model calls come last, as ``calls: N, ...``."""


def estimate_lines(material: Material) -> Iterator[str]:
    """Yield the lines of all tables of a plan, then warnings, and the number of model calls if no line gave it."""
    estimates: Registry[Estimate] = Registry("estimate", ESTIMATES)
    has_calls = False
    for name in ESTIMATES:
        for line in estimates.get(name)(material):
            has_calls = has_calls or line.startswith("calls:")
            yield line
    yield from (f"warning: {warning}" for warning in material.warnings)
    if not has_calls:
        yield "calls: 0, tokens: 0, cost: 0 USD"


def corpus_lines(material: Material) -> Iterator[str]:
    """Yield the number of documents and of passages."""
    if material.corpus:
        documents = len({passage.page for passage in material.corpus})
        yield f"corpus: {documents:,} documents, {len(material.corpus):,} passages"


def table_lines(material: Material) -> Iterator[str]:
    """Yield the number of rows and of topics of each table."""
    for name, table in material.tables.items():
        topics = len({row.topic for row in table.rows if row.topic})
        yield f"table {name}: {len(table.rows):,} rows, {topics:,} topics"


def template_lines(material: Material) -> Iterator[str]:
    """Yield the table, the task and the wanted number of each template."""
    for template in templates_of(material.plan):
        parse_template(template, material.tables)
        yield f"template {template.origin}: {template.task} from {template.table}, {_wanted(template)}"


def wanted_lines(material: Material) -> Iterator[str]:
    """Yield the wanted number of each cell."""
    if material.plan.per_cell is not None:
        yield f"wanted: {material.plan.per_cell} cases of each topic and task"


def _wanted(template: Template) -> str:
    if template.balance is not None:
        return ", ".join(
            f"{count} with {template.balance.column}={name}" for name, count in template.balance.counts.items()
        )
    return f"{template.n} wanted" if template.n is not None else "all rows"
