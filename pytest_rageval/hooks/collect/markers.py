"""The markers: ``rag_case``, ``rag(**facets)``, and one per ability, level and task."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import pytest

from pytest_rageval.model.facets import ABILITIES, LEVELS, TASKS

__all__ = ["RagCase", "marks_of", "rag_case", "register"]

if TYPE_CHECKING:
    from pytest_rageval.model.case import Relevance

Facet = str | int | float
Rates = float | Sequence[float]
Ability = Literal[
    "noise_robustness", "negative_rejection", "information_integration", "counterfactual_robustness"
]  # fmt: skip
F = TypeVar("F", bound=Callable[..., object])


def _called_by_pytest(declared: F) -> F:
    """Return pytest's own method with the signature and docstring that editors show."""

    @functools.wraps(declared)
    def call(self: pytest.MarkDecorator, *args: object, **kwargs: object) -> object:
        return pytest.MarkDecorator.__call__(self, *args, **kwargs)

    return cast("F", call)


class RagCase(pytest.MarkDecorator):
    """The marker ``rag_case``: multiplies a test function into one test for each case of a dataset."""

    @_called_by_pytest
    def __call__(  # type: ignore[override, empty-body]
        self,
        dataset: str | None = None,
        *,
        ability: Ability | None = None,
        metrics: str | Sequence[str] | None = None,
        gates: str | Sequence[str] | None = None,
        passages: int | Literal["retrieved"] | Sequence[int | Literal["retrieved"]] | None = None,
        noise_rate: Rates | None = None,
        correct_rate: Rates | None = None,
        assembly: Literal["balanced", "rgb-compat"] | None = None,
        qrels: str | None = None,
        relevance: Relevance | None = None,
        history: Literal["gold", "own"] | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int | None = None,
        where: Mapping[str, Facet] | None = None,
        cluster: str | None = None,
        relations: str | Sequence[str] | None = None,
        variants: int | None = None,
        facets: Mapping[str, Facet] | None = None,
        **more: Facet,
    ) -> pytest.MarkDecorator:
        """Multiply a test function, class or module into one test for each case of a dataset.

        Args:
            dataset: ``format:path``, such as ``jsonl:cases.jsonl``; relative to this file, then to the rootdir.
            ability: the RGB ability to test; it decides the passages and the default metrics.
            metrics: names of metrics, the primary one first.
            gates: conditions for a green build: ``accuracy >= 0.85``, ``accuracy[topic=*] >= baseline - 0.02``.
            passages: passages per case (5), or ``"retrieved"`` to supply none. A list multiplies cases.
            noise_rate: share of noise in the passages, 0..1 (0). A list multiplies the cases.
            correct_rate: share of correct passages among false ones, 0..1 (0). A list multiplies the cases.
            assembly: how to choose passages: ``balanced`` (default), or ``rgb-compat`` like the published code.
            qrels: a file of relevance judgements, instead of those of the records.
            relevance: what makes a retrieved passage relevant: ``ids`` (default), ``overlap`` or ``answers``.
            history: later turns follow the recorded answers (``gold``, default) or the system's ``own``.
            limit: run only the first N cases.
            sample: run a sample of N cases, stratified by topic and task.
            seed: seed for the passages and the sample (0).
            where: facets that a case must have, such as ``{"topic": "Funds"}``.
            cluster: the facet that dependent cases share a value of.
            relations: small changes under which answers should stay as good, such as ``typo``.
            variants: number of variants of each case for each relation (3).
            facets: your own facets, added to every case.
            **more: facets by name, such as ``topic="Funds"``.
        """
        ...


rag_case = RagCase(pytest.mark.rag_case.mark, _ispytest=True)

_MARKER_FACETS = ("ability", "level", "task")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def register(config: pytest.Config) -> None:
    """Register every marker, for ``--strict-markers``."""

    def line(text: str) -> None:
        config.addinivalue_line("markers", text)

    line("rag_case(dataset, *, ability, metrics, gates, ...): one test for each case of a dataset (pytest-rageval)")
    line("rag(**facets): the facets of a RAG case, for -m \"rag(topic='Funds')\" (pytest-rageval)")
    for kind, names in (("ability", ABILITIES), ("level", LEVELS), ("task", TASKS)):
        for name in names:
            line(f"{name}: RAG cases of this {kind} (pytest-rageval)")


def marks_of(facets: Mapping[str, str], config: pytest.Config) -> list[pytest.MarkDecorator]:
    """Return a case's markers: ``rag`` with its facets, and its ability, level and task by name.

    Facets are texts. If a value is a whole number, a second ``rag`` marker has it as a number, for ``rag(round=3)``.
    A user's own task gets a marker too, which this function registers. A task gets none if its name is not an
    identifier, or if pytest or a plugin already uses the name.
    """
    cache = config.stash.setdefault(_MARKS, {})
    key = tuple(facets.items())
    if key not in cache:
        # A marker cannot take "self" as a keyword.
        texts = {name: value for name, value in facets.items() if name != "self"}
        marks = [pytest.mark.rag.with_args(**texts)]
        if any(map(_WHOLE.fullmatch, texts.values())):
            numbers = {name: int(value) if _WHOLE.fullmatch(value) else value for name, value in texts.items()}
            marks.append(pytest.mark.rag.with_args(**numbers))
        names = [facets[facet] for facet in _MARKER_FACETS if facet in facets]
        cache[key] = [*marks, *(getattr(pytest.mark, name) for name in names if _usable(name, config))]
    return cache[key]


_MARKS = pytest.StashKey[dict[tuple[tuple[str, str], ...], list[pytest.MarkDecorator]]]()
_USABLE = pytest.StashKey[dict[str, bool]]()


def _usable(name: str, config: pytest.Config) -> bool:
    if _USABLE not in config.stash:
        reserved = dict.fromkeys(_marker_names(config.getini("markers")), False)
        config.stash[_USABLE] = reserved | dict.fromkeys((*ABILITIES, *LEVELS, *TASKS), True)
    known = config.stash[_USABLE]
    if name not in known:
        known[name] = name.isidentifier() and not name.startswith("_")
        if known[name]:
            config.addinivalue_line("markers", f"{name}: RAG cases of this kind (pytest-rageval)")
    return known[name]


def _marker_names(lines: Iterable[str]) -> set[str]:
    return {line.partition(":")[0].partition("(")[0].strip() for line in lines} | {"parametrize", "rag"}
