"""The markers: ``rag_case``, ``rag(**facets)``, and one for each ability, level and task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest

from pytest_rageval.model.facets import ABILITIES, LEVELS, TASKS

__all__ = ["marks_of", "rag_case", "register"]

rag_case = pytest.mark.rag_case
"""Multiply a test function into one test for each case of a dataset.

``rag_case(dataset, *, ability=, metrics=, gates=, passages=5, noise_rate=0.0, correct_rate=0.0,
assembly="balanced"|"rgb-compat", qrels=, relevance="ids"|"overlap"|"answers", history="gold"|"own", limit=, sample=,
seed=, where={facet: value}, cluster="facet", **facets)``
"""

_MARKED = ("ability", "level", "task")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def register(config: pytest.Config) -> None:
    """Register every marker, so that ``--strict-markers`` knows them."""

    def line(text: str) -> None:
        config.addinivalue_line("markers", text)

    line("rag_case(dataset, *, ability, metrics, gates, ...): one test for each case of a dataset (pytest-rageval)")
    line("rag(**facets): the facets of a RAG case, for -m \"rag(topic='Funds')\" (pytest-rageval)")
    for kind, names in (("ability", ABILITIES), ("level", LEVELS), ("task", TASKS)):
        for name in names:
            line(f"{name}: RAG cases of this {kind} (pytest-rageval)")


def marks_of(facets: Mapping[str, str], config: pytest.Config) -> list[pytest.MarkDecorator]:
    """Return a case's markers: its facets, and its ability, level and task by name.

    The facets are texts; where any is a whole number they follow once more with it as one, for ``rag(round=3)``.
    A task of the user's own gets a marker too, registered on the way, unless its name is no
    identifier or already means something to pytest or to a plugin.
    """
    made = config.stash.setdefault(_MADE, {})
    key = tuple(facets.items())
    if key not in made:
        # "self" is no keyword that a marker could take
        asked = {name: value for name, value in facets.items() if name != "self"}
        marks = [pytest.mark.rag.with_args(**asked)]
        if any(map(_WHOLE.fullmatch, asked.values())):
            numbers = {name: int(value) if _WHOLE.fullmatch(value) else value for name, value in asked.items()}
            marks.append(pytest.mark.rag.with_args(**numbers))
        named = [facets[facet] for facet in _MARKED if facet in facets]
        made[key] = [*marks, *(getattr(pytest.mark, name) for name in named if _usable(name, config))]
    return made[key]


_MADE = pytest.StashKey[dict[tuple[tuple[str, str], ...], list[pytest.MarkDecorator]]]()
_USABLE = pytest.StashKey[dict[str, bool]]()


def _usable(name: str, config: pytest.Config) -> bool:
    if _USABLE not in config.stash:
        taken = dict.fromkeys(_marker_names(config.getini("markers")), False)
        config.stash[_USABLE] = taken | dict.fromkeys((*ABILITIES, *LEVELS, *TASKS), True)
    known = config.stash[_USABLE]
    if name not in known:
        known[name] = name.isidentifier() and not name.startswith("_")
        if known[name]:
            config.addinivalue_line("markers", f"{name}: RAG cases of this kind (pytest-rageval)")
    return known[name]


def _marker_names(lines: Iterable[str]) -> set[str]:
    return {line.partition(":")[0].partition("(")[0].strip() for line in lines} | {"parametrize", "rag"}
