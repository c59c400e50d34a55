"""The arguments of ``rageval judge train``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError

__all__ = ["KINDS", "add_to"]

KINDS: dict[str, str] = {
    "head": "pytest_rageval.commands.judge.head_training:train_head",
    "llm": "pytest_rageval.commands.judge.llm_training:train_llm",
}
"""Kind of judge -> ``"module:function"`` that trains it from the arguments and yields the lines of the report."""

DESCRIPTION = """\
Train a judge of a metric on people's labels: sheets that rageval agreement --sample wrote and people filled in. FOLDER
gets judge.json, and card.md with the quality of the judge, its biases, and the labels that measured them. If the ini
names an embedding model of this machine (rag_embedder_model = sentence-transformers/...), the judge also compares
meanings.
"""


def add_to(subcommands: Any) -> None:
    """Add the subcommand ``train``."""
    parser = subcommands.add_parser("train", help="train a judge on people's labels", description=DESCRIPTION)
    parser.add_argument(
        "sheets", nargs="+", type=Path, metavar="SHEET", help="a file of labels, CSV or JSON Lines, with the texts"
    )
    parser.add_argument("--metric", required=True, metavar="NAME", help="the metric whose judge is trained")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="the folder of the judge")
    parser.add_argument("--value", action="append", default=[], metavar="WORD=X", help="the value of a label, in 0..1")
    parser.add_argument("--kind", choices=sorted(KINDS), default="head", help="the kind of judge, default head")
    parser.add_argument(
        "--base", metavar="MODEL", help="for the kind llm: the folder of the model to adapt, or its name on the hub"
    )
    parser.add_argument(
        "--split",
        metavar="A:B:C",
        help="shares of the questions that train, tune and test the judge, such as 5:1:4 (default: all labels train "
        "it, and cross-validation over questions tests it; for the kind llm 5:1:4)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of folds and split, default 0")
    parser.add_argument(
        "--force", action="store_true", help="replace an existing judge, and train on labels that people disagree on"
    )
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.base is not None and arguments.kind != "llm":
        raise SettingError("--base names the model of the kind llm; add --kind llm, or leave it out")
    module, _, function = KINDS[arguments.kind].partition(":")
    lines: Iterator[str] = getattr(import_module(module), function)(arguments)
    return lines
