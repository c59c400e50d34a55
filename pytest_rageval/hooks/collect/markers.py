"""The markers: ``rag_case``, ``rag(**facets)``, and one for each ability, level and task."""

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
    """Return pytest's own method under the signature and the docstring that editors show."""

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
        facets: Mapping[str, Facet] | None = None,
        **more: Facet,
    ) -> pytest.MarkDecorator:
        """Multiply a test function, class or module into one test for each case of a dataset.

        Args:
            dataset: ``format:path``, as ``jsonl:cases.jsonl``; relative to this file, then to the rootdir.
            ability: the ability of RGB that is tested; it decides the passages and the default metrics.
            metrics: names of metrics, the primary one first.
            gates: conditions for a green build, as ``accuracy >= 0.85`` or ``accuracy[topic=*] >= baseline - 0.02``.
            passages: how many passages each case supplies (5), or ``"retrieved"`` for none. A list multiplies cases.
            noise_rate: share of noise in the passages, 0..1 (0). A list multiplies the cases.
            correct_rate: share of correct passages beside false ones, 0..1 (0). A list multiplies the cases.
            assembly: how passages are chosen: ``balanced`` (default), or ``rgb-compat`` as the published code does.
            qrels: a file of relevance judgements, instead of those of the records.
            relevance: what makes a retrieved passage relevant: ``ids`` (default), ``overlap`` or ``answers``.
            history: later turns follow the recorded answers (``gold``, default) or the system's ``own``.
            limit: run the first so many cases.
            sample: run so many cases, stratified by topic and task.
            seed: seed of the passages and of the sample (0).
            where: facets that a case must have, as ``{"topic": "Funds"}``.
            cluster: the facet whose value dependent cases share.
            facets: facets of your own for every case.
            **more: facets by name, as ``topic="Funds"``.
        """
        ...


rag_case = RagCase(pytest.mark.rag_case.mark, _ispytest=True)

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
