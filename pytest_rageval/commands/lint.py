"""``rageval lint``: check datasets before any system answers them."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pytest_rageval.activity import progress
from pytest_rageval.errors import SettingError

if TYPE_CHECKING:
    from pytest_rageval.linting.finding import Finding
    from pytest_rageval.linting.subject import Leakage

__all__ = ["add_to", "lint"]

EXAMPLES = 5
"""Maximum number of printed findings per check."""

DESCRIPTION = """\
Check datasets before any system answers them: gold answers in the wrong passages, pools that are empty or too small for
the settings, invalid ids, duplicate questions, and more. In a suite (*.rag.toml), the dataset of each testbed is
checked under its settings. Exit status: 0, or 1 if there are errors.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``lint``."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "datasets", nargs="+", metavar="DATASET", help="format:path, as in rag_case; a .jsonl or .rag.toml file"
    )
    for name, kind, what in (
        ("ability", str, "check the pools for this ability instead of the one that the passages imply"),
        ("passages", int, "number of passages per case; the pools must have enough for it (default 5)"),
        ("noise-rate", float, "share of noise per case; the pools must have enough for it"),
        ("correct-rate", float, "the share of correct passages among counterfactual ones"),
        ("assembly", str, "balanced, or rgb-compat, which also matches answers like RGB"),
    ):
        parser.add_argument(f"--{name}", type=kind, metavar=name.upper().replace("-", "_"), help=what)
    parser.add_argument("--corpus", action="append", default=[], help="a line of rag_corpus")
    parser.add_argument("--leakage", action="store_true", help="also check for questions and answers that leak")
    for name, what in (("prompts", "prompts"), ("against", "training data")):
        parser.add_argument(
            f"--{name}", action="extend", nargs="+", default=[], metavar="FILE",
            help=f"with --leakage: files or globs of {what}, which must not contain a question",
        )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings too")
    parser.add_argument("--all", action="store_true", help="list all findings of a check, not only the first five")
    parser.add_argument("--json", action="store_true", help="print JSON, with all findings")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    names = ("ability", "passages", "noise_rate", "correct_rate", "assembly")
    settings = {name: getattr(arguments, name) for name in names}
    return lint(
        arguments.datasets,
        settings,
        arguments.corpus,
        strict=arguments.strict,
        as_json=arguments.json,
        show_all=arguments.all,
        leakage=_leakage(arguments),
    )


def _leakage(arguments: argparse.Namespace) -> Leakage | None:
    if not arguments.leakage:
        if arguments.prompts or arguments.against:
            raise SettingError("--prompts and --against belong to --leakage; add it")
        return None
    from pytest_rageval.generation.leakage.texts import files_of
    from pytest_rageval.linting.subject import Leakage

    return Leakage(files_of(arguments.prompts, Path.cwd()), files_of(arguments.against, Path.cwd()))


def lint(
    names: Sequence[str],
    settings: Mapping[str, object],
    corpus: Sequence[str],
    *,
    strict: bool,
    as_json: bool,
    show_all: bool = False,
    leakage: Leakage | None = None,
) -> Generator[str, None, int]:
    """Yield the problems of datasets, as lines or as one JSON text; return 1 for errors, else 0.

    Args:
        names: datasets as ``format:path``, files of JSON Lines, or suites; formats registered in the project's
            conftest are available.
        settings: ability, passages, noise_rate, correct_rate and assembly, as in ``rag_case``; None means unset.
        corpus: lines like those of ``rag_corpus``.
        strict: whether warnings count as errors.
        as_json: whether to yield JSON, with all findings.
        show_all: whether to print all findings of a check instead of the first five.
        leakage: the files that must not contain a question; None skips the checks for leakage.

    Raises:
        RagEvalError: a setting is invalid, or a file is missing.
    """
    from pytest_rageval.commands.generation.formats import formats_of
    from pytest_rageval.linting.linter import Linter
    from pytest_rageval.linting.targets import targets_of

    targets = targets_of(names, settings)
    formats = formats_of([target.dataset for target in targets], corpus)
    linters: dict[str, Linter] = {}
    datasets: dict[Finding, str] = {}
    for target in progress("checking dataset", targets):
        key = repr(target.settings)
        if key not in linters:
            linters[key] = Linter(target.settings, tuple(corpus), *formats, leakage)
        for finding in linters[key](target.dataset):
            datasets.setdefault(finding, target.dataset)  # testbeds may share a dataset
    findings, matcher = list(datasets), " and ".join(dict.fromkeys(linter.matcher for linter in linters.values()))
    if as_json:
        plain = [{"dataset": dataset, **asdict(finding)} for finding, dataset in datasets.items()]
        checks = {check: dict(counts) for check, counts in _counts(findings).items()}
        yield json.dumps({"contained_as": matcher, "findings": plain, "checks": checks}, indent=1)
    else:
        yield from _finding_lines(findings, len(findings) if show_all else EXAMPLES)
        yield from _summary(findings, matcher)
    failing = ("error", "warning") if strict else ("error",)
    return int(any(finding.severity in failing for finding in findings))


def _finding_lines(findings: Sequence[Finding], limit: int) -> Iterator[str]:
    """Yield up to ``limit`` findings of each check, then the number of further ones."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.check] += 1
        if counts[finding.check] <= limit:
            yield str(finding)
    for check, count in sorted(counts.items()):
        if count > limit:
            yield f"{check}: {count - limit:,} more, {count:,} in all; --all lists them"


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
    from pytest_rageval.linting.finding import Severity

    counts = _counts(findings)
    width = max(map(len, counts))
    severities = get_args(Severity)
    yield ""
    yield f"{'check':{width}}" + "".join(f"  {severity + 's':>8}" for severity in severities)
    for check, count in counts.items():
        yield f"{check:{width}}" + "".join(f"  {count[severity] or '-':>8}" for severity in severities)
    yield f"Gold answers were matched by {matcher}."
