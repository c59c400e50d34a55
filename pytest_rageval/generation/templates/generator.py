"""Draft cases from the templates of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.tables.table import Row
from pytest_rageval.generation.templates.pairs import paired_drafts
from pytest_rageval.generation.templates.parsed_template import ParsedTemplate, parse_template
from pytest_rageval.generation.templates.row_drafts import row_drafts
from pytest_rageval.generation.templates.template import templates_of

__all__ = ["drafts"]


def drafts(material: Material) -> Iterator[Draft]:
    """Yield the drafts of each template, in the order of the plan and of the rows.

    A row that lacks a value of the template gives no draft and is counted.

    Raises:
        DataError: a template is invalid, or no row fits it; with the line of the plan.
    """
    parsed_templates = [parse_template(template, material.tables) for template in templates_of(material.plan)]
    for each in parsed_templates:
        yield from _drafts_of(each, material)


def _drafts_of(parsed_template: ParsedTemplate, material: Material) -> Iterator[Draft]:
    """Yield the drafts of a template, and count skipped rows."""
    template, skipped, n_drafts = parsed_template.template, Counter[str](), 0
    rows = list(_rows(parsed_template, skipped))
    for draft in (paired_drafts if parsed_template.is_pair else row_drafts)(
        parsed_template, rows, material.plan, skipped
    ):
        n_drafts += 1
        yield draft
    for reason, count in sorted(skipped.items()):
        material.left_out[f"{template.origin}: {reason}"] += count
    if not n_drafts:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        total = (
            f"{len(parsed_template.table.rows)} rows: {counts}" if counts else f"{len(parsed_template.table.rows)} rows"
        )
        raise template.section.error("ask", f"no row of {template.table!r} fits the template ({total})")


def _rows(parsed_template: ParsedTemplate, skipped: Counter[str]) -> Iterator[Row]:
    """Yield the rows that the condition and the balance allow."""
    template = parsed_template.template
    for row in parsed_template.table.rows:
        holds = parsed_template.condition.holds(row) if parsed_template.condition is not None else True
        if not row.topic:
            skipped["without a topic"] += 1
        elif holds is None:
            skipped["without a value of where"] += 1
        elif not holds:
            skipped["excluded by where"] += 1
        elif template.balance is not None and not parsed_template.balance_label(row):
            skipped["of no value of balance"] += 1
        else:
            yield row
