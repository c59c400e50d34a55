"""Read past results: the runs under ``.rageval/runs``, and the commits of a baseline."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from pytest_rageval.activity import progress
from pytest_rageval.commands.runs import RESULTS, runs_of
from pytest_rageval.errors import SettingError
from pytest_rageval.model.derived_codec import decoder
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import SCHEMA
from pytest_rageval.report.files.run_names import stored_runs
from pytest_rageval.report.run.history import Entry, UnreadableEntry
from pytest_rageval.report.run.totals import Total, totals_of, totals_of_baseline
from pytest_rageval.report.text.lines import counted

__all__ = ["past_commits", "past_runs"]

CASES_START = '"instances": '
"""Start of the first line after the totals in results.json; cases follow."""

LOG = (
    *("-c", "core.quotePath=false", "log", "--follow", "-c", "--name-only"),  # -c: also merges that changed the file
    "--format=%x00%H%x00%cI%x00%s%x00",
)
"""Arguments of git that list the commits of a file, newest first, and its path at that time."""

MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""The errors of reading a malformed results.json or baseline."""


def past_runs(root: Path) -> list[Entry | UnreadableEntry]:
    """Read the runs of a project, oldest first."""
    return [_run(folder) for folder in progress("reading run", stored_runs(runs_of(root))[::-1])]


def past_commits(path: Path) -> list[Entry | UnreadableEntry]:
    """Read a baseline at each commit that changed or moved it, oldest first.

    Raises:
        SettingError: git or the repository is missing, or no commit has the file.
    """
    fields = _git(path, *LOG, "--", path.name).split("\0")[1:]
    commits = zip(fields[::4], fields[1::4], fields[2::4], (names.strip() for names in fields[3::4]), strict=True)
    changed = [commit for commit in commits if commit[3]]  # a plain merge commit changes no file itself
    if not changed:
        raise SettingError(f"no commit has {path}; commit it, or leave --baseline out for the runs of this machine")
    return [_commit(path, *commit) for commit in progress("reading commit", changed[::-1])]


def _run(folder: Path) -> Entry | UnreadableEntry:
    try:
        return _entry(folder)
    except FileNotFoundError:
        return UnreadableEntry(folder.name, f"because {RESULTS} is missing (cut short or still running)")
    except OSError as error:
        return UnreadableEntry(folder.name, error.strerror or str(error))
    except MALFORMED:
        return UnreadableEntry(folder.name, f"because {RESULTS} is truncated or has another version")


def _commit(path: Path, commit: str, when: str, subject: str, name: str) -> Entry | UnreadableEntry:
    try:
        baseline = snapshot_of(parse_json(_git(path, "show", f"{commit}:{name}")))
        testbeds = {node: (each.name, each.metrics[0]) for node, each in baseline.testbeds.items()}
        return Entry(commit, when, totals_of_baseline(baseline), testbeds, subject=subject)
    except SettingError:
        return UnreadableEntry(commit, "because it removed the file")
    except MALFORMED:
        return UnreadableEntry(commit, "because the file is not a baseline at this commit, or has another version")


def _entry(folder: Path) -> Entry:
    """Return the totals of a run; if the start of its results.json has them, read only that."""
    with (folder / RESULTS).open(encoding="utf-8") as stream:
        head = "".join(takewhile(lambda line: not line.startswith(CASES_START), stream))
        try:
            results = parse_json(f"{head.rstrip().removesuffix(',')}\n}}")
            totals = [decoder(Total)(each) for each in results["totals"]]
        except MALFORMED:  # an older version wrote it, or another program rewrote it
            stream.seek(0)
            results = parse_json(stream.read())
            run, _ = run_of(results)
            totals = totals_of(run.plan, run.originals())
    if results.get("schema", SCHEMA) != SCHEMA:
        raise ValueError("another version wrote it")
    testbeds = results["testbeds"]
    tested = {node: each for node, each in testbeds.items() if not each.get("labelled")} or testbeds
    primary = {node: (each["name"], each["metrics"][0]) for node, each in tested.items()}
    return Entry(folder.name, results["run"]["started"], totals, primary, _marks(results))


def _marks(results: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return testbed -> the reasons why the run has only a part of it."""
    run, plan = results["run"], results["plan"]
    shard, not_run = run.get("shard"), Counter(plan["unfinished"].values())
    left_out = {nodeid: testbed.get("left_out", 0) for nodeid, testbed in results["testbeds"].items()}
    part = "" if any(left_out.values()) else plan.get("part", "")  # older versions have one text for all testbeds
    marks = {}
    for nodeid, n_left_out in left_out.items():
        reasons = [
            "interrupted" if run["interrupted"] and (not_run[nodeid] or not not_run) else "",
            f"shard {shard['number']}/{shard['of']}" if shard else "",
            f"{not_run[nodeid]} not run" if not_run[nodeid] else "",
            f"{counted(n_left_out, 'case')} left out" if n_left_out else part,
        ]
        marks[nodeid] = tuple(filter(None, reasons))
    return marks


def _git(path: Path, *arguments: str) -> str:
    try:
        result = subprocess.run(  # noqa: S603 - the user's own git
            ["git", "-C", str(path.parent), *arguments],  # noqa: S607
            capture_output=True,
            check=False,
        )
    except OSError as error:
        problem = f"git cannot be run ({error.strerror or error})"
        raise SettingError(f"{problem}; install it, or leave --baseline out") from error
    if result.returncode:
        message = result.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise SettingError(f"git cannot read the history of {path} ({message}); name a file in a repository")
    return result.stdout.decode("utf-8", "replace")
