"""The arguments of ``rageval score``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

DESCRIPTION = """\
Score recorded answers without pytest, up to millions of them, with the same metrics, intervals, comparisons and gates
as `pytest --rag-answers`. If a call was interrupted, repeat it to continue. Exit status: 0, 1 if a gate failed, 2 if
the answers cannot be scored.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``score``."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "cases", metavar="CASES", help="format:path of the cases, such as jsonl:cases.jsonl, or a suite NAME.rag.toml"
    )
    parser.add_argument(
        "answers", nargs="+", type=Path, metavar="ANSWERS", help="a file of recorded answers, as for --rag-answers"
    )
    parser.add_argument("--metrics", metavar="NAMES", help="metrics to compute, separated by commas")
    parser.add_argument("--gate", action="append", default=[], metavar="GATE", help="a gate; may be repeated")
    parser.add_argument(
        "--cluster", metavar="FACET", help="facet whose value is the same for cases that depend on each other"
    )
    parser.add_argument(
        "--by", metavar="FACETS", help="also print means per value of these facets, separated by commas"
    )
    parser.add_argument("--matrix", metavar="METRIC", help="draw the matrix of a metric")
    parser.add_argument("--rows", metavar="FACET", help="facet of the matrix's rows (default topic)")
    parser.add_argument("--cols", metavar="FACET", help="facet of the matrix's columns (default task)")
    parser.add_argument(
        "--baseline", type=Path, metavar="PATH", help="scores, a results.json or a baseline for gates with baseline"
    )
    parser.add_argument(
        "--corpus", action="append", default=[], metavar="LINE",
        help="a line of rag_corpus; the corpus must contain the evidence of the cases; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--chunking",
        default="none",
        metavar="CHUNKING",
        help="how documents are split, as in rag_chunking (default none)",
    )
    parser.add_argument(
        "--judge-model",
        metavar="MODEL",
        help="judged metrics read the recorded verdicts of this model (as rag_judge_model)",
    )
    parser.add_argument(
        "--judge-param", action="append", default=[], metavar="LINE",
        help="a line of rag_judge_params, 'name = value'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--cassettes", type=Path, default=Path("cassettes"), metavar="DIR",
        help="folder of the recordings (default cassettes)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the scores")
    parser.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one for each core)")
    parser.add_argument("--engine", default="local", metavar="NAME", help="local (default) or ray")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="head of a running Ray cluster (default: Ray starts on this machine)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit 1 if an answer has no case, or a case has no answer"
    )
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.scoring.score import score

    return score(arguments)
