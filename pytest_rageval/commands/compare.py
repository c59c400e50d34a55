"""``rageval compare``: compare two runs case by case, and plan the number of cases."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pytest_rageval.activity import doing
from pytest_rageval.analysis.account.finding import Account
from pytest_rageval.analysis.baseline.comparison import Comparison, compare
from pytest_rageval.analysis.baseline.multiplicity import alpha_of
from pytest_rageval.analysis.baseline.sensitivity import Sensitivity, sensitivity_of
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.commands.load_compared_runs import load_compared_runs
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import RESULTS, holds_results, results_path, rootdir, runs_of
from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.files.comparison_json import comparison_to_plain
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_folder import write_text
from pytest_rageval.report.files.run_names import stored_runs
from pytest_rageval.report.run.account import account_against
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.terminal.run_comparison import account_lines, compare_lines, plan_lines
from pytest_rageval.report.text.colours import paint

__all__ = ["compare_runs"]


def compare_runs(
    base: str | None,
    new: str | None,
    *,
    rows: str | None = None,
    cols: str | None = None,
    alpha: str = "0.05",
    plan: str | None = None,
    as_json: bool = False,
    html: Path | None = None,
    markdown: Path | None = None,
) -> Iterator[str]:
    """Compare two runs; yield lines for the terminal, or one JSON document.

    Args:
        base: the earlier run: a baseline, a results.json, or a run's name or folder; None is the ini's baseline or,
            without one, the run before ``new``.
        new: the later run, in the same forms; None is the newest.
        rows: the facet of the rows of cells; None is topic.
        cols: the facet of the columns; None is task.
        alpha: the accepted share of false alarms.
        plan: a drop in 0..1; report how many cases are needed to detect it. None reports nothing.
        as_json: yield one JSON document instead of lines.
        html: also write the page of ``new``, compared with ``base``, to this path.
        markdown: also write the report of ``new``, compared with ``base``, as Markdown to this path.

    Raises:
        DataError, SettingError: a run cannot be read, or an option is invalid.
    """
    level, drop = alpha_of(alpha, "--alpha"), None if plan is None else _drop(plan)
    root = rootdir(Path.cwd())
    if base is None or new is None:
        base, new = _default_base(root, new)
    reports = [*filter(None, (html, markdown))]
    _check_targets([Path(base), results_path(root, new)], reports)
    before, after, run, stored = load_compared_runs(root, base, new)
    if reports and stored is None:
        raise SettingError(f"{new} is a baseline, without answers; --html and --markdown need a run as the later one")
    _check_facets((before, after), {"--rows": rows, "--cols": cols})
    with doing("comparing the runs"):
        comparison = compare(before, after, (rows, cols), alpha=level)
        plans = [] if drop is None else sensitivity_of(comparison, drop, alpha=level)
        account = None if run is None else account_against(run, before, level)
    if stored is not None and reports:
        _write(stored, before, replace(stored.choice, rows=rows, cols=cols), html, markdown)
    if as_json:
        plain = _plain(comparison, level)
        if account is not None:
            plain["account"] = encoder(Account)(account)
        if drop is not None:
            plain["plan"] = [_plan_to_plain(each, drop) for each in plans]
        yield json.dumps(plain, ensure_ascii=False, indent=1)
        return
    width, colours = shutil.get_terminal_size().columns, terminal_colours()
    verdict = account if comparison.overall else None  # if nothing was compared, no verdict holds
    lines = [*account_lines(verdict, width), *compare_lines(comparison, width, level, verdict)]
    if drop is not None and plans:
        lines += plan_lines(plans, comparison, drop, width)
    yield from (paint(line, colours, None) for line in lines)


def _default_base(root: Path, new: str | None) -> tuple[str, str]:
    """Return the names of the earlier and the later run; ``new`` is the later one, None for the newest.

    The earlier one is the baseline that the ini names, if it exists, else the run before ``new``.
    """
    path = results_path(root, new)
    if new is not None and _is_baseline(new):
        raise SettingError(f"{new} is a baseline; name the later run, too: rageval compare {new} RUN")
    name = path.parent.name if new is None else new
    from pytest_rageval.hooks.project import project_baseline  # imports pytest

    with doing("reading the ini"):
        baseline = project_baseline()
    if baseline is not None and baseline.is_file():
        return os.path.relpath(baseline), name
    runs = [each for each in stored_runs(runs_of(root.resolve())) if (each / RESULTS).is_file()]  # newest first
    folder = path.parent.resolve()
    if folder in runs[:-1]:
        return runs[runs.index(folder) + 1].name, name
    raise SettingError(f"there is no baseline and no run before {name}; name two runs, the earlier one first")


def _is_baseline(name: str) -> bool:
    return Path(name).is_file() and not holds_results(Path(name))


def _check_targets(inputs: Sequence[Path], targets: Sequence[Path]) -> None:
    """Raise `SettingError` if a report would overwrite a compared file or the other report."""
    used_paths = {path.resolve() for path in inputs}
    for target in targets:
        if target.resolve() in used_paths or target.is_dir():
            raise SettingError(f"{target} is a folder, a compared file or the other report; name another file")
        used_paths.add(target.resolve())


def _write(stored: StoredRun, base: Snapshot, choice: MatrixChoice, html: Path | None, markdown: Path | None) -> None:
    """Write the reports of a run compared with ``base``, which replaces the baseline of its session."""
    plan = replace(stored.run.plan, deselected=())  # `deselected` has indexes of cases in the session's baseline
    run = replace(stored.run, plan=plan, baseline=base)
    with doing("evaluating gates"):
        run.evaluate_gates()
    head = stored.results["run"]
    for path in filter(None, (markdown, html)):
        try:
            with doing(f"writing {path}"):
                if path is markdown:
                    write_text(path, [markdown_of(run, choice)])
                    continue
                from pytest_rageval.report.html.page import write_html

                finished = run.started + timedelta(seconds=head["duration_s"])
                results = results_of(run, head["id"], finished, choice)
                write_html(path, decode_results(results), runs_of(rootdir(Path.cwd())))
        except OSError as error:
            raise SettingError(f"{path} cannot be written: {error.strerror or error}", code="RAG212") from error


def _plain(comparison: Comparison, alpha: float) -> dict[str, Any]:
    heads = {"old": _head(comparison.before), "new": _head(comparison.after)}
    return heads | {"alpha": alpha} | comparison_to_plain(comparison)


def _head(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "path": snapshot.path,
        "run": snapshot.run,
        "started": snapshot.started,
        "fingerprint": snapshot.fingerprint,
        "versions": dict(snapshot.versions),
        "systems": list(snapshot.systems),
        "n_cases": len(snapshot.originals),
    }


def _plan_to_plain(each: Sensitivity, drop: float) -> dict[str, Any]:
    compared = each.comparison
    return {
        "testbed": compared.testbed,
        "metric": compared.metric,
        "system": compared.system,
        "drop": drop,
        "cases_needed": each.needed,
        "n_pairs": compared.test.n_pairs,
        "n_units": compared.test.n_units,
        "changing": compared.test.changing,
        "least_drop": compared.test.least_drop,
    }


def _drop(text: str) -> float:
    try:
        drop = float(text)
    except ValueError:
        drop = math.nan
    if not 0 < drop <= 1:
        raise SettingError(f"--plan is {short_repr(text)}; write a drop above 0 and up to 1, such as 0.05")
    return drop


def _check_facets(runs: Sequence[Snapshot], options: dict[str, str | None]) -> None:
    facets = {name for run in runs for case in run.cases for name in case.facets}
    for option, name in options.items():
        if name is not None and name not in facets:
            raise UnknownNameError("facet", name, facets, option)
