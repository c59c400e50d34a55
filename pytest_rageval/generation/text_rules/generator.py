"""Draft cases from the documents of a plan by rules, without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.generation.text_rules.blanks import blanks
from pytest_rageval.generation.text_rules.calculations import calculations
from pytest_rageval.generation.text_rules.contrasts import contrasts
from pytest_rageval.generation.text_rules.listed_names import ListedNames
from pytest_rageval.generation.text_rules.sections import sections
from pytest_rageval.generation.text_rules.statements import statements_of
from pytest_rageval.generation.text_rules.two_parts import two_parts
from pytest_rageval.generation.topics.chunk_topics import topics_of_chunks
from pytest_rageval.model.case import Passage

__all__ = ["drafts", "text_drafts"]


def drafts(material: Material) -> Iterator[Draft]:
    """Yield the drafts of a plan's documents, rule by rule.

    Chunks without a topic give no draft and are counted.
    """
    plan = material.plan
    if not material.corpus:
        return
    topics = topics_of_chunks(material)
    chunks = [(chunk, topics[chunk.id]) for chunk in material.corpus if chunk.id in topics]
    tasks = plan.tasks or ("extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa")
    rows = (row.passage.title for table in material.tables.values() for row in table.rows)
    lists = cast("tuple[tuple[str, ...], ...]", plan.settings["names"])
    names = [*rows, *(name for names in lists for name in names)]
    yield from text_drafts(chunks, tasks, plan.language, plan.seed, names)


def text_drafts(
    chunks: Sequence[tuple[Passage, str]],
    tasks: Sequence[str],
    language: str = "auto",
    seed: int = 0,
    names: Sequence[str] = (),
) -> Iterator[Draft]:
    """Yield the drafts of chunks.

    Args:
        chunks: each chunk with the path of its topic.
        tasks: the tasks to draft for; ``information_integration`` joins extractive questions.
        language: ``en``, ``zh``, or ``auto`` for the language of each chunk.
        seed: decides operations and pairs.
        names: names that also are values, such as the keys of tables.
    """
    statements = list(statements_of(chunks, language, ListedNames(names)))
    extractive = list(blanks(statements)) if {"extractive_qa", INTEGRATION} & {*tasks} else []
    if "extractive_qa" in tasks:
        yield from extractive
    if "multi_hop_qa" in tasks:
        yield from calculations(statements, seed)
    if "contrast_qa" in tasks:
        yield from contrasts(statements)
    if "long_form_qa" in tasks:
        yield from sections(chunks, language)
    if INTEGRATION in tasks:
        yield from two_parts(extractive, seed)
