"""Build manifest.json: inputs and counts without times, so equal inputs give equal bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.split import Sets, split_settings
from pytest_rageval.versions import installed_version

__all__ = ["SCHEMA", "manifest_of"]

SCHEMA = 1


def manifest_of(material: Material, drafts: Sequence[Draft], sets: Sets) -> dict[str, Any]:
    """Return the values of manifest.json."""
    plan, settings = material.plan, split_settings(material.plan)
    return {
        "schema": SCHEMA,
        "version": installed_version("pytest-rageval"),
        "plan": plan.digest,
        "seed": plan.seed,
        "split": {**settings.shares, "human_per_cell": settings.human_per_cell},
        "inputs": dict(sorted(material.digests.items())),
        "tables": {name: len(table.rows) for name, table in sorted(material.tables.items())},
        "drafts": dict(sorted(Counter(draft.state for draft in drafts).items())),
        "reasons": dict(sorted(Counter(draft.reason for draft in drafts if draft.reason).items())),
        "generators": dict(sorted(Counter(draft.generator for draft in drafts if draft.state == "kept").items())),
        "sets": {name: len(getattr(sets, name)) for name in ("auto_test", "auto_train", "human_test")},
        "left_out": dict(sorted(material.left_out.items())),
        "shortages": [str(shortage) for shortage in material.shortages],
        "usage": dict(sorted(material.usage.items())),
    }
