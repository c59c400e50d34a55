"""Build a draft from a filled template: language, sources, quotes, facets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.table import Row
from pytest_rageval.generation.templates.expression import PlaceholderValue
from pytest_rageval.generation.templates.parsed_template import ParsedTemplate
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.model.case import Gold, Passage, Turn
from pytest_rageval.text.language import main_language
from pytest_rageval.text.sentences import sentences

__all__ = ["make_draft", "quotes_of"]

GENERATOR = "template"


def make_draft(
    parsed_template: ParsedTemplate,
    plan: Plan,
    question: str,
    gold: Gold,
    rows: Sequence[Row],
    *,
    groups: Sequence[int] | None = None,
    history: tuple[Turn, ...] = (),
    links: Sequence[str] = (),
    values: Sequence[PlaceholderValue] = (),
    facets: dict[str, str] | None = None,
) -> Draft:
    """Build an unchecked draft.

    Args:
        parsed_template: the template of the question.
        plan: the plan, for the language.
        question: the question.
        gold: the gold answer.
        rows: the table rows that hold the answer; the first one decides the topic.
        groups: for each row the index of the answer slot that it supports; None if rows belong to no single slot.
        history: earlier turns of the conversation.
        links: values that join one row to the next; sentences with them are evidence too.
        values: the values of the question's placeholders.
        facets: additional facets of the case.
    """
    template = parsed_template.template
    unique = list(dict.fromkeys(rows))
    numbers = dict(zip(rows, groups, strict=True)) if groups is not None else {}
    sources = tuple(replace(row.passage, group=numbers.get(row)) for row in unique)
    route = {"route": template.route} if template.route else {}
    label = parsed_template.balance_label(rows[0])
    placeholder_values = {"values": [text for value in values for text in value.texts], "links": [*links]}
    return Draft(
        question=question,
        gold=gold,
        task=template.task,
        topic=rows[0].topic,
        generator=GENERATOR,
        origin=template.origin,
        sources=sources,
        language=main_language(question, "en") if plan.language == "auto" else plan.language,
        level=template.level,
        history=history,
        evidence=quotes_of(sources, [*(alias for slot in gold for alias in slot), *links]),
        passages=tuple(replace(source, role="positive") for source in sources),
        facets={**route, **(facets or {})},
        verdicts={
            **({"balance": label} if label else {}),
            **({"asked": placeholder_values} if template.paraphrase else {}),
        },
    )


def quotes_of(sources: Sequence[Passage], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of each source that contain one of the texts; the whole source if none does."""
    quotes: dict[str, None] = {}
    for source in sources:
        if len(source.text) < LONGEST_QUOTE:
            quotes[source.text] = None
            continue
        quoted_sentences = [each for each in sentences(source.text) if any(contains(each, text) for text in texts)]
        quotes.update(dict.fromkeys(quoted_sentences or [source.text]))
    return tuple(quotes)


LONGEST_QUOTE = 300
"""A shorter passage is quoted as a whole."""
