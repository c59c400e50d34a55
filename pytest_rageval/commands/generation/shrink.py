"""``rageval shrink``: find the smallest context that breaks a case."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN

__all__ = ["add_to", "shrink_case"]

DESCRIPTION = """\
Find the fewest passages, and the fewest of their sentences, with which a case still misses; then the fewest positive
passages whose addition makes it right. The command calls the system of the case's test, with the project's ini,
fixtures and recordings; PYTEST_ADDOPTS gives further options, such as --rag-record-mode or --rag-budget-usd. Exit
status: 0 if each case was shrunk, 1 if one was not, 2 if the command cannot run.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``shrink``."""
    parser.description = DESCRIPTION
    parser.add_argument("case", metavar="NODEID|CASE", help="the node id of a test, or the id of a case of a run")
    parser.add_argument("--run", metavar="RUN", help=f"the run of CASE: {RUN} (default: the newest)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="append the smallest case to this JSONL file, as a record"
    )
    parser.add_argument(
        "--most", type=_positive, default=60, metavar="N", help="the largest number of requests for a case (60)"
    )
    parser.add_argument(
        "--confirm", type=_positive, default=3, metavar="N", help="number of times to ask the smallest context (3)"
    )
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    return shrink_case(arguments.case, arguments.run, arguments.out, limit=arguments.most, confirm=arguments.confirm)


def shrink_case(case: str, run: str | None, out: Path | None, *, limit: int, confirm: int) -> Generator[str, None, int]:
    """Yield the smallest contexts of a case, one for each system and setting; return the exit status.

    Args:
        case: the node id of its test, or its id in a run.
        run: the run's name, or the path of its results.json; None is the newest.
        out: the file to which the smallest cases are appended; None for no file.
        limit: the largest number of requests for a case.
        confirm: number of calls that confirm a smallest context.

    Raises:
        SettingError: the case is unknown, or its test cannot be collected.
    """
    from pytest_rageval.errors import SettingError
    from pytest_rageval.generation.shrinking.minimal_record import append_record, check_target, minimal_records
    from pytest_rageval.hooks.shrink_command import shrink_tests
    from pytest_rageval.report.terminal.shrunk_contexts import shrunk_lines

    if limit <= confirm:
        problem = f"--most {limit} leaves no request to search with, since --confirm asks {confirm} times"
        raise SettingError(f"{problem}; give --most {confirm + 1} or more")
    if out is not None:
        check_target(out)
    cases = shrink_tests(_nodeids(case, run), limit=limit, confirm=confirm)
    yield from shrunk_lines({each.name: each.result for each in cases}, texts=all(each.texts for each in cases))
    if out is not None:
        records = minimal_records((each.case, each.result) for each in cases if not isinstance(each.result, str))
        new = append_record(out, records)
        existing = [record["id"] for record in records if record["id"] not in new]
        yield f"written: {', '.join(new)} to {out}" if new else f"nothing new for {out}"
        if existing:
            yield f"already in {out}: {', '.join(existing)}"
    return int(any(isinstance(each.result, str) for each in cases))


def _nodeids(case: str, run: str | None) -> list[str]:
    """Return the node ids of a case's tests, without its variants: their node ids name them."""
    if run is None and "::" in case:
        return [case]
    from pytest_rageval.analysis.variants import originals
    from pytest_rageval.commands.runs import rootdir, stored_run
    from pytest_rageval.commands.show_case import outcomes_of_case

    outcomes = outcomes_of_case(stored_run(rootdir(Path.cwd()), run), case)
    return [outcome.nodeid for outcome in originals(outcomes) or outcomes]


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
