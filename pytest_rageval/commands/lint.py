"""``rageval lint``: check datasets before any system answers them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import get_args

from pytest_rageval.commands.generation.formats import formats_of
from pytest_rageval.linting.finding import Finding, Severity
from pytest_rageval.linting.linter import Linter

__all__ = ["lint"]

EXAMPLES = 5
"""Largest number of printed findings per check."""


def lint(
    names: Sequence[str],
    settings: Mapping[str, object],
    corpus: Sequence[str],
    *,
    strict: bool,
    as_json: bool,
    show_all: bool = False,
) -> Generator[str, None, int]:
    """Yield the problems of datasets, as lines or as one JSON text; return 1 for errors, else 0.

    Args:
        names: the datasets, as ``format:path``; formats registered in the project's conftest work too.
        settings: ability, passages, noise_rate, correct_rate and assembly, as in ``rag_case``; None means unset.
        corpus: lines like those of ``rag_corpus``.
        strict: whether warnings count as errors.
        as_json: whether to yield JSON, with all findings.
        show_all: whether to print all findings of a check instead of the first five.

    Raises:
        RagEvalError: a setting is invalid, or a file is missing.
    """
    linter = Linter(settings, tuple(corpus), *formats_of(names, corpus))
    findings = {name: linter(name) for name in dict.fromkeys(names)}
    every = [finding for each in findings.values() for finding in each]
    if as_json:
        plain = [{"dataset": name, **asdict(finding)} for name, each in findings.items() for finding in each]
        checks = {check: dict(counts) for check, counts in _counts(every).items()}
        yield json.dumps({"contained_as": linter.matcher, "findings": plain, "checks": checks}, indent=1)
    else:
        yield from _finding_lines(every, len(every) if show_all else EXAMPLES)
        yield from _summary(every, linter.matcher)
    bad = ("error", "warning") if strict else ("error",)
    return int(any(finding.severity in bad for finding in every))


def _finding_lines(findings: Sequence[Finding], most: int) -> Iterator[str]:
    """Yield the first findings of each check, then the number of the others."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.check] += 1
        if counts[finding.check] <= most:
            yield str(finding)
    for check, count in sorted(counts.items()):
        if count > most:
            yield f"{check}: {count - most:,} more, {count:,} in all; --all lists them"


def _counts(findings: Sequence[Finding]) -> dict[str, Counter[str]]:
    """Return check -> severity -> number of findings."""
    counts: dict[str, Counter[str]] = {}
    for finding in sorted(findings, key=lambda each: each.check):
        counts.setdefault(finding.check, Counter())[finding.severity] += 1
    return counts


def _summary(findings: Sequence[Finding], matcher: str) -> Iterator[str]:
    if not findings:
        yield f"Nothing found. Gold answers were matched by {matcher}."
        return
    counts = _counts(findings)
    width = max(map(len, counts))
    severities = get_args(Severity)
    yield ""
    yield f"{'check':{width}}" + "".join(f"  {severity + 's':>8}" for severity in severities)
    for check, count in counts.items():
        yield f"{check:{width}}" + "".join(f"  {count[severity] or '-':>8}" for severity in severities)
    yield f"Gold answers were matched by {matcher}."
