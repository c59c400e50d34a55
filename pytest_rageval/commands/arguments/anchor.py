"""The arguments of ``rageval anchor``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

ABOUT = """\
Replace the chunk ids in qrels, or else the positive passages, by quotes of the corpus: evidence, which is valid under
any chunking. CASES is a dataset in the format jsonl. Each id is looked up under the labelled chunking. The sentences of
its text with the gold answer become the quote, or the whole text if these are uncertain. Nothing is written if ids name
other text than in the baseline, or if fewer than half of the quotes are found and contain the gold answer: then another
chunking was labelled. --check lists the ids that name other text than in the baseline. Exit status: 0; 1 if labels were
not found or have changed; 2 if nothing was written.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``anchor``."""
    parser.description = ABOUT
    parser.add_argument("cases", metavar="CASES", help="the dataset")
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="LINE", help="a line of rag_corpus, instead of the ini's"
    )
    parser.add_argument("--chunking", help="the labelled chunking, instead of the ini's rag_chunking")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write; NAME.anchored.jsonl by default")
    parser.add_argument(
        "--force", action="store_true", help="write even if another chunking was probably labelled, and overwrite FILE"
    )
    parser.add_argument("--check", action="store_true", help="only list ids whose text has changed")
    parser.add_argument(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="the baseline to compare the text of ids with, instead of the ini's",
    )
    parser.set_defaults(run_command=_anchor)


def _anchor(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.anchoring.anchor import anchor, check_labels
    from pytest_rageval.errors import SettingError

    if arguments.check:
        for name in ("out", "force"):
            if getattr(arguments, name):
                raise SettingError(f"--{name} has no effect with --check; leave it out")
        return check_labels(arguments.cases, arguments.corpus, arguments.chunking, arguments.baseline)
    return anchor(
        arguments.cases, arguments.corpus, arguments.chunking, arguments.out, arguments.baseline, force=arguments.force
    )
