"""``rageval compare``: compare two runs case by case, and plan the number of cases."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.account.finding import Account
from pytest_rageval.analysis.baseline.comparison import Comparison, compare
from pytest_rageval.analysis.baseline.measured import Snapshot
from pytest_rageval.analysis.baseline.multiplicity import alpha_of
from pytest_rageval.analysis.baseline.sensitivity import Sensitivity, sensitivity_of
from pytest_rageval.commands.compared_runs import compared_runs
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import rootdir
from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.report.files.comparison_json import comparison_to_plain
from pytest_rageval.report.run.account import account_against
from pytest_rageval.report.terminal.run_comparison import account_lines, compare_lines, plan_lines
from pytest_rageval.report.text.colours import paint

__all__ = ["compare_runs"]


def compare_runs(
    base: str,
    new: str,
    *,
    rows: str | None = None,
    cols: str | None = None,
    alpha: str = "0.05",
    plan: str | None = None,
    as_json: bool = False,
) -> Iterator[str]:
    """Yield the comparison of two runs, as lines for the terminal or as JSON.

    Args:
        base: the earlier run: a baseline, a results.json, or a run's name or folder.
        new: the later run, in the same forms.
        rows: the facet of the rows of cells; None is topic.
        cols: the facet of the columns; None is task.
        alpha: the accepted share of false alarms.
        plan: a drop in 0..1; report how many cases are needed to detect it. None reports nothing.
        as_json: yield one JSON document instead of lines.

    Raises:
        DataError, SettingError: a run cannot be read, or an option is invalid.
    """
    level, drop = alpha_of(alpha, "--alpha"), None if plan is None else _drop(plan)
    before, after, run = compared_runs(rootdir(Path.cwd()), base, new)
    _check_facets((before, after), {"--rows": rows, "--cols": cols})
    comparison = compare(before, after, (rows, cols), alpha=level)
    plans = [] if drop is None else sensitivity_of(comparison, drop, alpha=level)
    account = None if run is None else account_against(run, before, level)
    if as_json:
        plain = _plain(comparison, level)
        if account is not None:
            plain["account"] = encoder(Account)(account)
        if drop is not None:
            plain["plan"] = [_plan_to_plain(each, drop) for each in plans]
        yield json.dumps(plain, ensure_ascii=False, indent=1)
        return
    width, colours = shutil.get_terminal_size().columns, terminal_colours()
    lines = [*account_lines(account, width), *compare_lines(comparison, width, level)]
    if drop is not None and plans:
        lines += plan_lines(plans, comparison, drop, width)
    yield from (paint(line, colours, None) for line in lines)


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
    compared = each.compared
    return {
        "testbed": compared.testbed,
        "metric": compared.metric,
        "system": compared.system,
        "drop": drop,
        "cases_needed": each.needed,
        "n_pairs": compared.found.n_pairs,
        "n_units": compared.found.n_units,
        "changing": compared.found.changing,
        "least_drop": compared.found.least_drop,
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
