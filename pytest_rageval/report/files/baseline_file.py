"""Read and write the committed baseline: JSON with one line per case, for readable diffs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot, facets_of_case
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.folders import atomic_files, regular_path
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.stored_json import parse_json

__all__ = [
    "BASELINE_SCHEMA",
    "read_baseline",
    "refuse_to_replace",
    "snapshot_of",
    "snapshot_to_plain",
    "write_baseline",
]

BASELINE_SCHEMA = 2

READABLE = (1, BASELINE_SCHEMA)
"""Schema versions that can be read. Schema 1 has no digests of judged passages."""

_KEY = re.compile(r'^\s*\{?\s*"(schema|outcomes)"\s*:', re.MULTILINE)
"""Top-level keys ``schema`` and ``outcomes``; a nested key never begins a line, because each case is one line."""

_to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)


def write_baseline(path: Path, snapshot: Snapshot) -> None:
    """Write a baseline atomically. The same measures give the same bytes, except for the run's id and start.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_files(path) as (temporary,), temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_lines(snapshot_to_plain(snapshot)))


def read_baseline(path: Path) -> Snapshot:
    """Read a baseline.

    Raises:
        DataError: the file is not a baseline, or has another version; the message has the line if it is known.
        SettingError: the file cannot be read.
    """
    try:
        text = regular_path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingError(f"the baseline {path} cannot be read: {error.strerror or error}", code="RAG211") from error
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"a baseline is UTF-8 text, and byte {error.start} is not", code="RAG211") from error
    advice = "resolve the conflict or write it anew with --rag-update-baseline"
    try:
        plain = parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise DataError(
            f"{path}:{line}", f"invalid JSON ({getattr(error, 'msg', error)}); {advice}", code="RAG211"
        ) from error
    if isinstance(plain, dict) and "outcomes" in plain:
        raise DataError(
            str(path),
            "this is a results.json, not a baseline; name another file, or compare with rageval",
            code="RAG211",
        )
    version = plain.get("schema") if isinstance(plain, dict) else None
    if version not in READABLE:
        expected = f"expected {' or '.join(map(str, READABLE))}; write it anew with --rag-update-baseline"
        raise DataError(str(path), f"the baseline's schema is {short_repr(version)}, {expected}", code="RAG211")
    try:
        return snapshot_of(plain, path.name)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        cause = f"{error}" if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise DataError(str(path), f"malformed baseline ({cause}); {advice}", code="RAG211") from error


def refuse_to_replace(path: Path) -> None:
    """Raise `SettingError` if a file is not a baseline, so that it is not overwritten.

    A malformed baseline, for example with conflict markers, may be overwritten.
    """
    try:
        text = regular_path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise SettingError(f"the baseline {path} cannot be read: {error.strerror or error}", code="RAG211") from error
    keys = set(_KEY.findall(text))
    is_malformed = text.startswith("<<<<<<<") or not text.strip()
    if not is_malformed and ("schema" not in keys or "outcomes" in keys):
        raise SettingError(f"{path} is not a baseline, so it is not overwritten; name another file", code="RAG211")


def snapshot_to_plain(snapshot: Snapshot) -> dict[str, Any]:
    """Return a baseline as JSON builtins."""
    return {
        "schema": BASELINE_SCHEMA,
        "run": {"id": snapshot.run, "started": snapshot.started},
        "fingerprint": snapshot.fingerprint,
        "versions": dict(snapshot.versions),
        "metrics": {name: encoder(MetricInfo)(snapshot.metrics[name]) for name in sorted(snapshot.metrics)},
        "testbeds": {
            nodeid: encoder(MeasuredTestbed)(testbed) for nodeid, testbed in sorted(snapshot.testbeds.items())
        },
        **({} if snapshot.passages is None else {"passages": dict(sorted(snapshot.passages.items()))}),
        "cases": [_encode_case(case) for case in snapshot.cases],
    }


def snapshot_of(plain: Mapping[str, Any], path: str = "") -> Snapshot:
    """Decode a baseline that `snapshot_to_plain` encoded.

    Raises:
        AttributeError, KeyError, OverflowError, TypeError, ValueError: ``plain`` has another shape.
    """
    encoded_cases = plain["cases"]
    testbeds = {nodeid: decoder(MeasuredTestbed)(each) for nodeid, each in plain["testbeds"].items()}
    cases = tuple(_decode_case(each, testbeds) for each in encoded_cases)
    duplicate = next((case for case, n in Counter(case.key for case in cases).items() if n > 1), None)
    if duplicate is not None:
        raise ValueError(f"duplicate case {duplicate[1]!r} of {duplicate[0]}")
    texts = (plain["run"]["id"], plain["run"]["started"], plain["fingerprint"], *plain["versions"].values())
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("the run, its start, fingerprint and versions must be texts")
    return Snapshot(
        run=plain["run"]["id"],
        started=plain["run"]["started"],
        fingerprint=plain["fingerprint"],
        versions=dict(plain["versions"]),
        metrics={name: decoder(MetricInfo)(info) for name, info in plain["metrics"].items()},
        testbeds=testbeds,
        cases=cases,
        path=path,
        passages=_decode_passages(plain.get("passages")),
    )


def _lines(plain: Mapping[str, Any]) -> Iterator[str]:
    """Yield the file's text: one line for each case, metric, testbed and judged passage."""
    opening = "{\n"
    for key, value in plain.items():
        yield f"{opening}{_to_json(key)}: "
        if key in ("metrics", "testbeds", "passages") and value:
            yield "{\n" + ",\n".join(f" {_to_json(name)}: {_to_json(each)}" for name, each in value.items()) + "\n}"
        elif key == "cases" and value:
            yield "[\n" + ",\n".join(map(_to_json, value)) + "\n]"
        else:
            yield _to_json(value)
        opening = ",\n"
    yield "\n}\n"


def _encode_case(case: Measured) -> dict[str, Any]:
    """Encode a case with sorted scores and facets, so that the same measures give the same bytes."""
    return encoder(Measured)(replace(case, scores=_sorted(case.scores), facets=_sorted(case.facets)))


def _sorted(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in sorted(values)}


def _decode_passages(plain: Any) -> dict[str, str] | None:
    if plain is None:
        return None
    if not isinstance(plain, dict) or not all(isinstance(digest, str) for digest in plain.values()):
        raise ValueError("passages must be an object of ids and digests")
    return plain


def _decode_case(plain: Mapping[str, Any], testbeds: Mapping[str, MeasuredTestbed]) -> Measured:
    case: Measured = decoder(Measured)(plain)
    case = replace(case, facets=facets_of_case(case.facets))
    if not all(0 <= value <= 1 for value in case.scores.values()):
        raise ValueError(f"a score of the case {case.case!r} is not in 0..1")
    for name, share in (("evidence", case.evidence), ("answer_seen", case.answer_seen)):
        if share is not None and not 0 <= share <= 1:
            raise ValueError(f"the {name} of the case {case.case!r} is not in 0..1")
    testbed = testbeds.get(case.testbed)
    return case if testbed is None or testbed.cluster == DIALOGUE else replace(case, cluster=testbed.cluster)
