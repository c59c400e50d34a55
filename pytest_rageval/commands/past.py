"""What is left of the past: the runs under ``.rageval/runs``, and the commits of a baseline."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from pytest_rageval.commands.runs import RESULTS
from pytest_rageval.errors import SettingError
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import SCHEMA
from pytest_rageval.report.files.run_folder import run_age
from pytest_rageval.report.run.history import Entry, Unread
from pytest_rageval.report.run.totals import Total, totals_of, totals_of_baseline

__all__ = ["past_commits", "past_runs"]

REST = '"instances": '
"""How the first line of a results.json begins that tells of single cases."""

LOG = (
    *("-c", "core.quotePath=false", "log", "--follow", "-c", "--name-only"),  # -c: merges that changed the file too
    "--format=%x00%H%x00%cI%x00%s%x00",
)
"""What tells the commits of a file, newest first, and how it was called then, from the top of the repository."""

UNSHAPED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


def past_runs(root: Path) -> list[Entry | Unread]:
    """Return the runs of a project, oldest first."""
    folders = (path for path in (root / ".rageval" / "runs").glob("*") if path.is_dir())
    return [_run(folder) for folder in sorted(folders, key=run_age)]


def past_commits(path: Path) -> list[Entry | Unread]:
    """Return the commits that changed a baseline, or moved it here from elsewhere, oldest first.

    Raises:
        SettingError: there is no git, no repository, or no such commit.
    """
    told = _git(path, *LOG, "--", path.name).split("\0")[1:]
    commits = zip(told[::4], told[1::4], told[2::4], (names.strip() for names in told[3::4]), strict=True)
    changed = [commit for commit in commits if commit[3]]  # a merge that only joins others changes no file itself
    if not changed:
        raise SettingError(f"no commit has {path}; commit it, or leave --baseline out for the runs of this machine")
    return [_commit(path, *commit) for commit in reversed(changed)]


def _run(folder: Path) -> Entry | Unread:
    try:
        return _entry(folder)
    except FileNotFoundError:
        return Unread(folder.name, f"as it left no {RESULTS}, cut short or still going on")
    except OSError as error:
        return Unread(folder.name, error.strerror or str(error))
    except UNSHAPED:
        return Unread(folder.name, f"as its {RESULTS} is cut short or of another version")


def _commit(path: Path, commit: str, when: str, subject: str, name: str) -> Entry | Unread:
    try:
        baseline = snapshot_of(parse_json(_git(path, "show", f"{commit}:{name}")))
        testbeds = {node: (each.name, each.metrics[0]) for node, each in baseline.testbeds.items()}
        return Entry(commit, when, totals_of_baseline(baseline), testbeds, subject=subject)
    except SettingError:
        return Unread(commit, "as it removed the file")
    except UNSHAPED:
        return Unread(commit, "as the file is no baseline there, or of another version")


def _entry(folder: Path) -> Entry:
    """Return what a run tells of itself; of its results.json only the head is read, where the totals stand there."""
    with (folder / RESULTS).open(encoding="utf-8") as stream:
        head = "".join(takewhile(lambda line: not line.startswith(REST), stream))
        try:
            results = parse_json(f"{head.rstrip().removesuffix(',')}\n}}")
            totals = [Total(**{**each, "ci95": each["ci95"] and tuple(each["ci95"])}) for each in results["totals"]]
        except UNSHAPED:  # of an older version, or written anew by another program
            stream.seek(0)
            results = parse_json(stream.read())
            run, _ = run_of(results)
            totals = totals_of(run.plan, run.ordered())
    if results.get("schema", SCHEMA) != SCHEMA:
        raise ValueError("another version wrote it")
    testbeds = results["testbeds"]
    told = {node: each for node, each in testbeds.items() if not each.get("labelled")} or testbeds
    primary = {node: (each["name"], each["metrics"][0]) for node, each in told.items()}
    return Entry(folder.name, results["run"]["started"], totals, primary, _marks(results))


def _marks(results: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how a run was no whole run."""
    run, plan = results["run"], results["plan"]
    shard = run.get("shard")
    told = [
        "interrupted" if run["interrupted"] else "",
        f"shard {shard['number']}/{shard['of']}" if shard else "",
        f"{len(plan['unfinished'])} not run" if plan["unfinished"] else "",
        plan.get("part", ""),
    ]
    return tuple(filter(None, told))


def _git(path: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own git
            ["git", "-C", str(path.parent), *arguments],  # noqa: S607
            capture_output=True,
            check=False,
        )
    except OSError as error:
        problem = f"git cannot be run ({error.strerror or error})"
        raise SettingError(f"{problem}; install it, or leave --baseline out") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise SettingError(f"git cannot tell the history of {path} ({said}); name a file in a repository")
    return done.stdout.decode("utf-8", "replace")
