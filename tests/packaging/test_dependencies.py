"""The distributions that the core requires, read from installed metadata."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MAX_DISTRIBUTIONS = 20
HEAVY = {"litellm", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers"}


def closure(name: str) -> set[str]:
    """Return every distribution that ``name`` requires in this environment, including itself."""
    pending, visited = [Requirement(name)], set[tuple[str, frozenset[str]]]()
    while pending:
        requirement = pending.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in visited:
            continue
        visited.add(key)
        dependencies = map(Requirement, distribution(requirement.name).requires or ())
        pending += [n for n in dependencies if any(_holds(n, extra) for extra in ("", *requirement.extras))]
    return {name for name, _ in visited}


def _holds(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


@pytest.fixture(scope="module")
def core() -> set[str]:
    return closure("pytest-rageval")


def test_the_core_is_at_most_twenty_distributions(core: set[str]) -> None:
    assert len(core) <= MAX_DISTRIBUTIONS, sorted(core)


def test_the_core_holds_what_the_package_imports(core: set[str]) -> None:
    names = {"pytest-rageval", "pytest", "pytest-xdist", "pluggy", "bm25s", "filelock", "numpy", "rjieba", "tabulate"}
    names |= {"rapidfuzz", "rouge-chinese", "snowballstemmer"}
    assert names <= core


def test_the_core_has_no_model_library(core: set[str]) -> None:
    assert not core & HEAVY


def test_an_extra_adds_to_the_closure(core: set[str]) -> None:
    assert "hypothesis" not in core
    assert "hypothesis" in closure("pytest-rageval[properties]")
    assert "litellm" in closure("pytest-rageval[llm]")
    assert {"sentence-transformers", "torch", "usearch"} <= closure("pytest-rageval[dense]") - core
    assert "pytrec-eval-terrier" in closure("pytest-rageval[ranking]") - core
