"""The data of the page: compressed, and the texts in parcels that are opened when a case of them is looked at.

What a run of 11,400 cases holds is some 30 MB of JSON. As text in the page it would have to be read before anything
could be shown, and would be too large for most stores of CI artifacts. So the columns that the page computes with are
one parcel, and outcomes and instances go in parcels of a few hundred, each as gzip in base64: no letter of the data
stands in the page as it is, and browsers open gzip by themselves (`DecompressionStream`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import DEFLATED, MAX_WBITS, compressobj

from pytest_rageval.report.html.baseline_answers import Earlier
from pytest_rageval.report.run.json_text import from_json, to_json

__all__ = ["INSTANCES", "OUTCOMES", "pack", "parcels_of"]

OUTCOMES = 200
"""Outcomes in a parcel."""

INSTANCES = 25
"""Instances in a parcel: each may bring a hundred passages."""

_EFFORT = 3
"""zlib's: a sixth larger than with 6, in half of the time."""

_GZIP = MAX_WBITS | 16


def pack(text: str) -> str:
    """Return a text as gzip in base64, the same for the same text."""
    packer = compressobj(_EFFORT, DEFLATED, _GZIP)
    return b64encode(packer.compress(text.encode("utf-8", "backslashreplace")) + packer.flush()).decode("ascii")


def parcels_of(results: Mapping[str, Any], earlier: Earlier | None) -> Iterator[tuple[str, str]]:
    """Yield (name, parcel), each a JSON array in their order: ``outcomes-0`` and so on, ``instances-0``, ``earlier-0``.

    The last are what each outcome's case was answered in an earlier run, None for nothing.
    """
    kinds = [
        ("outcomes", results["outcomes"], OUTCOMES),
        ("instances", list(results["instances"].values()), INSTANCES),
    ]
    if earlier is not None:
        kinds.append(("earlier", [earlier.of(from_json(each)) for each in results["outcomes"]], OUTCOMES))
    for name, values, size in kinds:
        for number, start in enumerate(range(0, len(values), size)):
            yield f"{name}-{number}", pack(_array(values[start : start + size]))


def _array(values: Sequence[object]) -> str:
    return f"[{','.join(map(to_json, values))}]"
