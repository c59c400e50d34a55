"""Shrink contexts to the smallest ones of the specification's vectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.generation.shrinking.ddmin import ddmin, fewest_additions

Part = tuple[str, ...]


def breaks_in(vector: dict[str, Any]) -> Callable[[Part], bool]:
    """Return the predicate of a vector, from its breaking parts or from sets that make a part break."""
    if "fails_exactly" in vector:
        return {tuple(each) for each in vector["fails_exactly"]}.__contains__
    sets = [set(each) for each in vector["fails_if"] or ()]
    return lambda part: any(each <= set(part) for each in sets)


def test_contexts_shrink_to_those_of_the_reference_vectors(rageval_data: Path) -> None:
    vectors = json.loads((rageval_data / "vectors" / "shrink_vectors.json").read_text(encoding="utf-8"))
    assert len(vectors) >= 7
    for vector in vectors:
        breaks = breaks_in(vector)
        if vector["minimal"] is None:
            with pytest.raises(ValueError, match="does not break"):
                ddmin(vector["passages"], breaks)
            continue
        result = ddmin(vector["passages"], breaks)
        assert list(result.items) in vector["minimal"], vector["name"]
        assert result.is_minimal
        assert ddmin(vector["passages"], breaks) == result
        mending = {each for each, end in vector.get("adds", {}).items() if end == "holds"}
        assert set(fewest_additions(list(vector.get("adds", {})), _holds(mending)) or ()) == mending


def _holds(mending: set[str]) -> Callable[[Part], bool]:
    return lambda part: bool(mending) and mending <= set(part)
