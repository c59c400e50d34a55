"""The arguments of ``rageval anchor``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

ABOUT = """\
Turn the chunk ids in qrels, else the positive passages, into quotes of the corpus: evidence, which holds under any
chunking. CASES is a dataset in our own format. Each id is looked up under the chunking that was labelled; the sentences
of its text with the gold answer become the quote, or all of it if these are not certain. Nothing is written if ids
name other text than in the baseline, or if fewer than half of the quotes are found and contain the gold answer, because
then another chunking was labelled. --check lists the ids that name other text than in the baseline. Exit status: 0; 1
if labels were not found or have changed; 2 if nothing was written.
"""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "anchor", help="turn chunk ids into quotes, which outlive chunks", description=ABOUT, allow_abbrev=False
    )
    parser.add_argument("cases", metavar="CASES", help="the dataset")
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="LINE", help="a line of rag_corpus, instead of the ini's"
    )
    parser.add_argument("--chunking", help="the chunking that was labelled, instead of the ini's rag_chunking")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write; NAME.anchored.jsonl by default")
    parser.add_argument(
        "--force", action="store_true", help="write though another chunking was probably labelled, and over a file"
    )
    parser.add_argument("--check", action="store_true", help="list ids whose text has changed, and write nothing")
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="the baseline whose text the ids have to name, instead of the ini's",
    )
    parser.set_defaults(run_command=_anchor)


def _anchor(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.anchor import anchor, check_labels
    from pytest_rageval.errors import SettingError

    if arguments.check:
        for name in ("out", "force"):
            if getattr(arguments, name):
                raise SettingError(f"--{name} has no effect with --check; leave it out")
        return check_labels(arguments.cases, arguments.corpus, arguments.chunking, arguments.baseline)
    return anchor(
        arguments.cases, arguments.corpus, arguments.chunking, arguments.out, arguments.baseline, force=arguments.force
    )
