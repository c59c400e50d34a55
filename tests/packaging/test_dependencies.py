"""What the core brings along, from the metadata of what is installed."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MOST = 20
HEAVY = {"litellm", "scikit-learn", "scipy", "sentence-transformers", "torch", "transformers"}


def closure(name: str) -> set[str]:
    """Return every distribution that ``name`` needs here without extras, itself among them."""
    wanted, seen = [Requirement(name)], set[tuple[str, frozenset[str]]]()
    while wanted:
        requirement = wanted.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        needed = map(Requirement, distribution(requirement.name).requires or ())
        wanted += [n for n in needed if any(_holds(n, extra) for extra in ("", *requirement.extras))]
    return {name for name, _ in seen}


def _holds(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


@pytest.fixture(scope="module")
def core() -> set[str]:
    return closure("pytest-rageval")


def test_the_core_is_at_most_twenty_distributions(core: set[str]) -> None:
    assert len(core) <= MOST, sorted(core)


def test_the_core_holds_what_the_package_imports(core: set[str]) -> None:
    wanted = {"pytest-rageval", "pytest", "pytest-xdist", "pluggy", "bm25s", "filelock", "numpy", "rjieba", "tabulate"}
    wanted |= {"rapidfuzz", "rouge-chinese", "snowballstemmer"}
    assert wanted <= core


def test_the_core_has_no_model_library(core: set[str]) -> None:
    assert not core & HEAVY


def test_an_extra_adds_to_the_closure(core: set[str]) -> None:
    assert "hypothesis" not in core
    assert "hypothesis" in closure("pytest-rageval[properties]")
    assert "litellm" in closure("pytest-rageval[llm]")
    assert {"sentence-transformers", "torch", "usearch"} <= closure("pytest-rageval[dense]") - core
    assert "pytrec-eval-terrier" in closure("pytest-rageval[ranking]") - core
