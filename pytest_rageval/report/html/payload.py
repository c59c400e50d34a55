"""Compress the page's data: columns at once, texts in parcels that open when a case is shown.

A run of 11,400 cases is about 30 MB of JSON. As plain text in the page it would delay the first view, and would be too
large for most stores of CI artifacts. So the columns for sorting and averaging are one parcel, and outcomes and
instances are parcels of a few hundred, each as gzip in base64. No text of the data stands in the page unencoded, and
browsers decompress gzip natively (`DecompressionStream`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from zlib import DEFLATED, MAX_WBITS, compressobj

from pytest_rageval.report.html.baseline_answers import Earlier
from pytest_rageval.report.html.text_selection import TextSelection
from pytest_rageval.report.run.json_text import from_json, to_json

__all__ = ["INSTANCES", "OUTCOMES", "pack", "parcels_of"]

OUTCOMES = 200
"""Outcomes per parcel."""

INSTANCES = 25
"""Instances per parcel; each may have a hundred passages."""

_EFFORT = 1
"""zlib's level: 2 % larger than level 3, in six sevenths of the time."""

_GZIP = MAX_WBITS | 16


def pack(text: str) -> str:
    """Return a text as gzip in base64, deterministically."""
    packer = compressobj(_EFFORT, DEFLATED, _GZIP)
    return b64encode(packer.compress(text.encode("utf-8", "backslashreplace")) + packer.flush()).decode("ascii")


def parcels_of(selection: TextSelection, earlier: Earlier | None) -> Iterator[tuple[str, str]]:
    """Yield (name, parcel); a parcel is a JSON array: ``outcomes-0`` and so on, ``instances-0``, ``earlier-0``.

    The ``earlier`` parcels have the baseline run's answer for each outcome, or null. Outcomes and instances without
    texts are null.
    """
    kinds = [
        ("outcomes", selection.outcomes, OUTCOMES),
        ("instances", list(selection.instances.values()), INSTANCES),
    ]
    if earlier is not None:
        outcomes = map(from_json, selection.outcomes)
        kinds.append(("earlier", [each and earlier.of(each) for each in outcomes], OUTCOMES))
    for name, values, size in kinds:
        for number, start in enumerate(range(0, len(values), size)):
            yield f"{name}-{number}", pack(_array(values[start : start + size]))


def _array(values: Sequence[object]) -> str:
    return f"[{','.join(map(to_json, values))}]"
