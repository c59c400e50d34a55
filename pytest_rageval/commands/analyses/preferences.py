"""``rageval analyze preferences``: ask a judge which of two systems' answers are better."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.engine.pair_judging import JudgedPair
    from pytest_rageval.model.calls import Calls

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to"]

DESCRIPTION = """\
Ask a judge which answer is better, for each pair of systems and each case, in both orders: pairs won, tied and lost,
how often the order decided, and with three systems or more a leaderboard. The judge is a model: each pair of answers
that differ costs two calls. Several runs of the same data and settings are joined.
"""

FORMATS = {
    "json": "write everything as JSON",
    "csv": "write one row for each pair, as rageval agreement reads it",
}

COLUMNS = ("id", "A", "B", "preferred", "straight", "turned", "reason", "problem")

PYTEST_OPTIONS = {
    "judge_model": "--rag-judge-model",
    "budget_usd": "--rag-budget-usd",
    "record_mode": "--rag-record-mode",
}
"""Argument of this command -> the option of pytest that gets its value."""


def add_to(commands: Commands) -> None:
    """Add the analysis ``preferences``."""
    from pytest_rageval.commands.analyses.load_and_write import add_formats

    parser = commands.add_parser(
        "preferences", help="a judge compares the answers of systems", description=DESCRIPTION, allow_abbrev=False
    )
    add_formats(parser, FORMATS)
    parser.add_argument("--judge", metavar="NAME", default="preference", help="a judge of pairs (default preference)")
    parser.add_argument("--judge-model", metavar="MODEL", help="the model (default: rag_judge_model of the ini)")
    parser.add_argument("--budget-usd", metavar="X", help="stop before this many US dollars are spent")
    parser.add_argument("--record-mode", metavar="MODE", help="record and replay the calls, as --rag-record-mode does")
    parser.set_defaults(run_command=_run, pages=False)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.analyses.load_and_write import json_text, load_runs, table_lines, write_formats
    from pytest_rageval.engine.pair_judging import NOT_ASKED
    from pytest_rageval.hooks.pair_judging import judge_pairs
    from pytest_rageval.model.codec import encode_calls
    from pytest_rageval.report.files.join_runs import join_runs
    from pytest_rageval.report.run.preferences import pairs_of_answers, preferences_of
    from pytest_rageval.report.terminal.leaderboard_tables import preference_tables, preferences_json

    parts = load_runs(arguments.runs)
    runs = join_runs(parts)
    instances = {case: plain for part in reversed(parts) for case, plain in part.results["instances"].items()}
    pairs, left_out = pairs_of_answers(runs.outcomes, instances)
    judged = judge_pairs(arguments.judge, pairs, _options(arguments))
    result = preferences_of(judged.judge, judged.models, judged.pairs, left_out, runs.alpha)
    plain = {"runs": list(runs.names), **preferences_json(result), "usage": encode_calls(judged.calls)}
    texts = {"json": lambda: json_text(plain), "csv": lambda: _csv(judged.pairs)}
    lines = write_formats(arguments, texts, runs.names)
    if lines is not None:
        yield from lines
        return
    yield f"run {', '.join(runs.names)}: {len(result.leaderboard.places)} systems, {len(judged.pairs)} pairs of answers"
    yield ""
    yield from table_lines(preference_tables(result))
    yield ""
    yield _calls_text(judged.calls)
    yield from (f"warning: {note}" for note in judged.notes)
    problems = [each.problem for each in judged.pairs if each.problem and each.problem.startswith(NOT_ASKED)]
    if problems:
        why = problems[0].partition(": ")[2].splitlines()[0]
        yield f"warning: {len(problems)} pairs were not asked ({why}); run the command again to ask only these"


def _options(arguments: argparse.Namespace) -> list[str]:
    """Return the options of pytest that stand for the arguments."""
    values = ((option, getattr(arguments, name)) for name, option in PYTEST_OPTIONS.items())
    return [f"{option}={value}" for option, value in values if value is not None]


def _calls_text(calls: Calls) -> str:
    from pytest_rageval.report.text.lines import counted, dollars

    cost = "unknown" if calls.spent_usd is None else dollars(calls.spent_usd)
    return f"{counted(calls.calls, 'call')} ({calls.replayed} replayed), cost {cost}"


def _csv(pairs: Sequence[JudgedPair]) -> str:
    from pytest_rageval.datasets.sheets import sheet_text

    return sheet_text(COLUMNS, (_row(each) for each in pairs))


def _row(judged: JudgedPair) -> list[str]:
    """Return the cells of a pair, in the order of `COLUMNS`."""
    one, other = judged.pair.systems
    value = judged.value
    preferred = "" if value is None else "tie" if value == 0.5 else one if value > 0.5 else other
    orders = [vote.orders for vote in judged.votes]
    labels = [[str(each.straight.label or "") for each in orders], [str(each.turned.label or "") for each in orders]]
    reason = orders[0].straight.rationale if orders else "the same answer" if judged.pair.same else ""
    return [judged.pair.case, one, other, preferred, *map(" ".join, labels), reason, judged.problem or ""]
