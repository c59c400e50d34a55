"""The arguments of ``rageval agreement``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.commands.command_parser import RUN, CommandParser
from pytest_rageval.errors import SettingError

if TYPE_CHECKING:
    from pytest_rageval.judges.values import Worth

__all__ = ["add_to"]

DESCRIPTION = """\
Compare the metrics of a run with people's labels of its answers: the agreement, and the mean of each metric corrected
by the labels. A file with the columns A, B and preferred holds people's preferences between two systems; they are
compared with the difference of each metric, in one run or several.
With --sample, write a sheet of answers for people to label. With --training, write the labels as conversations to
train a judge with.
"""

Arguments = argparse.Namespace

COMPARE, SAMPLE, TRAINING = "", "--sample", "--training"
MODES = {
    "by": (COMPARE,),
    "threshold": (COMPARE,),
    "json": (COMPARE,),
    "out": (SAMPLE,),
    "training": (TRAINING,),
    "split": (TRAINING,),
    "seed": (SAMPLE, TRAINING),
}
"""Argument -> the modes that use it. A mode is named by the option that selects it; "" is the default mode."""


def _signed_scale(argv: Sequence[str]) -> list[str]:
    """Return arguments with ``--scale -2..2`` joined to ``--scale=-2..2``: argparse takes -2..2 for an option."""
    arguments: list[str] = []
    for argument in argv:
        if arguments and arguments[-1] == "--scale" and argument[:1] == "-" and argument[1:2].isdecimal():
            arguments[-1] = f"--scale={argument}"
        else:
            arguments.append(argument)
    return arguments


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``agreement``."""
    parser.description = DESCRIPTION
    parser.rewrite = _signed_scale
    parser.add_argument("labels", nargs="?", type=Path, metavar="LABELS", help="a file of labels, JSON Lines or CSV")
    parser.add_argument("run", nargs="*", metavar="RESULTS", help=f"{RUN}; several only for pairs")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="a metric to compare; may be repeated"
    )
    parser.add_argument("--by", metavar="FACET", help="also report per facet value")
    parser.add_argument("--value", action="append", default=[], metavar="LABEL=X", help="the value of a label, in 0..1")
    parser.add_argument("--scale", metavar="LOW..HIGH", help="labels are in this range, such as 0..2 or -2..2")
    parser.add_argument("--threshold", type=float, metavar="X", help="values of X and more count as 1, others as 0")
    parser.add_argument("--json", action="store_true", help="print JSON")
    sheet = parser.add_argument_group("a sheet for people: rageval agreement --sample N --out FILE [RESULTS]")
    sheet.add_argument("--sample", type=int, metavar="N", help="write N answers, stratified by topic x task")
    sheet.add_argument("--out", type=Path, metavar="FILE", help="the sheet, FILE.csv or FILE.jsonl")
    sheet.add_argument("--seed", type=int, metavar="S", help="seed of the selection, default 0")
    learn = parser.add_argument_group("to train a judge: rageval agreement LABELS [RESULTS] --metric M --training DIR")
    learn.add_argument(
        "--training", type=Path, metavar="DIR", help="the folder for train.jsonl, dev.jsonl and test.jsonl"
    )
    learn.add_argument("--split", metavar="A:B:C", help="the shares of the cases in each, default 5:1:4")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: Arguments) -> Iterator[str]:
    from pytest_rageval.commands.agreement import agreement, parse_worth
    from pytest_rageval.commands.labelling import write_training

    mode = _mode(arguments)
    worth = parse_worth(arguments.value, arguments.scale)
    seed = arguments.seed or 0
    if mode == SAMPLE:
        return _sheet(arguments, seed, worth)
    if arguments.labels is None:
        raise SettingError("name the file of labels: rageval agreement LABELS [RESULTS]")
    runs: list[str] = arguments.run
    if mode == COMPARE and _holds_pairs(arguments):
        from pytest_rageval.commands.pair_agreement import agreement_of_pairs

        by, as_json = arguments.by or "", arguments.json
        return agreement_of_pairs(arguments.labels, runs, worth, metrics=arguments.metric, by=by, as_json=as_json)
    if len(runs) > 1:
        raise SettingError("labels belong to the answers of one run; name one")
    run = runs[0] if runs else None
    if mode == TRAINING:
        split = "5:1:4" if arguments.split is None else arguments.split
        return write_training(arguments.labels, run, arguments.training, split, seed, arguments.metric, worth)
    return agreement(
        arguments.labels,
        run,
        worth,
        metrics=arguments.metric,
        by=arguments.by or "",
        threshold=arguments.threshold,
        as_json=arguments.json,
    )


def _holds_pairs(arguments: Arguments) -> bool:
    """Return whether the file holds preferences; raise `SettingError` for an option without an effect on them."""
    from pytest_rageval.datasets.pair_labels import holds_pairs

    if not holds_pairs(arguments.labels):
        return False
    if arguments.threshold is not None:
        raise SettingError("--threshold has no effect on pairs; leave it out")
    return True


def _mode(arguments: Arguments) -> str:
    """Return the mode; raise `SettingError` for an option without an effect in it."""
    mode = SAMPLE if arguments.sample is not None else TRAINING if arguments.training is not None else COMPARE
    for name, modes in MODES.items():
        value = getattr(arguments, name)
        if mode not in modes and value is not None and value is not False:
            where = f"with {mode}" if mode else f"without {' or '.join(modes)}"
            raise SettingError(f"--{name} has no effect {where}; leave it out")
    return mode


def _sheet(arguments: Arguments, seed: int, worth: Worth) -> Iterator[str]:
    from pytest_rageval.commands.labelling import write_sheet

    if arguments.run or len(arguments.metric) > 1:
        raise SettingError("--sample takes one run, at most one --metric and no file of labels")
    run = None if arguments.labels is None else str(arguments.labels)
    return write_sheet(run, arguments.out, arguments.sample, seed, "".join(arguments.metric), worth)
