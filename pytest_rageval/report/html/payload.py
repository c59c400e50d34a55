"""Compress the page's data: a parcel of columns, and parcels of texts that open on demand.

A run of 11,400 cases is about 30 MB of JSON. As plain text it would delay the first view, and it would be too large for
most stores of CI artifacts. So the page has parcels of gzip in base64: one for the columns to sort and average, and one
for each 200 outcomes or 25 instances, which the page opens when it shows one of their cases. Browsers decompress gzip
natively (`DecompressionStream`). All texts of the data are encoded in this way.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from zlib import DEFLATED, MAX_WBITS, compressobj

from pytest_rageval.report.html.baseline_answers import BaselineAnswers
from pytest_rageval.report.html.text_selection import TextSelection
from pytest_rageval.report.run.json_text import from_json, to_json

__all__ = ["INSTANCES", "OUTCOMES", "pack", "parcels_of"]

OUTCOMES = 200
"""Outcomes per parcel."""

INSTANCES = 25
"""Instances per parcel; each may have a hundred passages."""

_LEVEL = 1
"""zlib's level: 2 % larger than level 3, in six sevenths of the time."""

_GZIP = MAX_WBITS | 16


def pack(text: str) -> str:
    """Return a text as gzip in base64; the same text gives the same result."""
    packer = compressobj(_LEVEL, DEFLATED, _GZIP)
    return b64encode(packer.compress(text.encode("utf-8", "backslashreplace")) + packer.flush()).decode("ascii")


def parcels_of(selection: TextSelection, baseline_answers: BaselineAnswers | None) -> Iterator[tuple[str, str]]:
    """Yield (name, parcel), named ``outcomes-0``, ``outcomes-1``, ..., ``instances-0``, ..., ``earlier-0``, ...

    A parcel is a JSON array. Its entry is null for an outcome or instance whose texts are left out. Parcels
    ``earlier`` have the baseline run's answer for each outcome, or null.
    """
    kinds = [
        ("outcomes", selection.outcomes, OUTCOMES),
        ("instances", list(selection.instances.values()), INSTANCES),
    ]
    if baseline_answers is not None:
        outcomes = map(from_json, selection.outcomes)
        kinds.append(("earlier", [each and baseline_answers.of(each) for each in outcomes], OUTCOMES))
    for name, values, size in kinds:
        for number, start in enumerate(range(0, len(values), size)):
            yield f"{name}-{number}", pack(_array(values[start : start + size]))


def _array(values: Sequence[object]) -> str:
    return f"[{','.join(map(to_json, values))}]"
