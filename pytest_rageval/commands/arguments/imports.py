"""The arguments of ``rageval import``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

DESCRIPTION = """\
Import files of other tools. FORMAT is table (questions and answers, by the names of their columns, in CSV, .xlsx, JSON
or JSON Lines; jsonl is another name for it), ragas, deepeval, rgb-predictions (prediction_*.json), omnieval-predictions
(<level 1> - <level 2> - <task>.pred.jsonl), omnieval-results (evaluation_result_<judge>.jsonl), omnieval-replies (id,
metric, reply), logs of agents and chains with their steps: react-log (id, question, gold, answer, transcript), reval-
log (<dataset>_log.jsonl), toolbench (<id>_<system>.json) or ralle-output (output.jsonl), otel (traces of
OpenTelemetry), or ralle-chain (the file of an experiment). Cases go to FILE (cases.jsonl), the system's answers beside
them (cases.answers.jsonl), for `pytest --rag-answers`; values computed by OmniEval go to FILE (scores.jsonl), a chain
to FILE (the source's name with .toml), for `pytest --rag-system chain:FILE`. Skipped rows are listed by file and line,
skipped fields by name with their count. Exit status: 0 everything was imported, 1 a row or a field was skipped, 2
nothing was written.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``import``."""
    parser.description = DESCRIPTION
    parser.add_argument("format", metavar="FORMAT", help="the format of the files")
    parser.add_argument(
        "sources", nargs="+", type=Path, metavar="SOURCE", help="a file, or a folder of predictions or logs"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to write")
    parser.add_argument("--system", default="", metavar="NAME", help="the system that gave the answers or was judged")
    parser.add_argument("--cases", type=Path, metavar="FILE", help="the dataset of omnieval-results, in the same order")
    parser.add_argument(
        "--slots", action="store_true", help="nested answer lists are slots: each slot needs one of its texts"
    )
    parser.add_argument(
        "--ids", choices=("content",), help="name records without an id by their content instead of their row"
    )
    parser.add_argument(
        "--id-attribute", default="", metavar="NAME", help="the attribute of spans that holds the case's id (otel)"
    )
    parser.add_argument("--failed", action="store_true", help="import only failed traces (otel)")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.imports import import_files
    from pytest_rageval.datasets.imports import ImportRequest

    request = ImportRequest(
        tuple(arguments.sources),
        arguments.system,
        arguments.cases,
        slots=arguments.slots,
        content_ids=arguments.ids == "content",
        id_attribute=arguments.id_attribute,
        failed=arguments.failed,
    )
    return import_files(arguments.format, request, arguments.out, force=arguments.force)
