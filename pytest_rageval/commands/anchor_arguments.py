"""The arguments of ``rageval anchor``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

ABOUT = """\
Turn the chunk ids in qrels, else the positive passages, into quotes of the corpus: evidence, which holds under any
chunking. CASES is a dataset in our own format. Each id is looked up under the chunking that was labelled; the sentences
of its text with the gold answer become the quote, or all of it if these are not certain. If fewer than half of the
quotes contain the gold answer, nothing is written, because then another chunking was probably labelled. --check lists
the ids that name other text than in the baseline. Exit status: 0; 1 if labels were not found or have changed; 2 if
nothing was written.
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
        "--force", action="store_true", help="write though few quotes contain the gold answer, and over a file"
    )
    parser.add_argument("--check", action="store_true", help="list ids whose text has changed, and write nothing")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="check with this one instead of the ini's")
    parser.set_defaults(run_command=_anchor)


def _anchor(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.anchor import anchor, check_labels

    if arguments.check:
        return check_labels(arguments.cases, arguments.corpus, arguments.chunking, arguments.baseline)
    return anchor(arguments.cases, arguments.corpus, arguments.chunking, arguments.out, force=arguments.force)
