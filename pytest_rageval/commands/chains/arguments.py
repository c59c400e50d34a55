"""The arguments of ``rageval chain``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.command_parser import USAGE_ERROR

__all__ = ["add_to"]

DESCRIPTION = "Check a chain of actions, or run it for one question, with the ini, models and recordings of pytest."

CHECK = """\
Read a chain and its settings, and list its actions and their inputs. No model, retriever or tool is called. Exit
status: 0, or 4 if the chain cannot run.
"""

RUN = """\
Run a chain for one question, and print every query, prompt, document and reply. Gold answers and gold pages are marked
(>>9:00<<) in what is printed, never in what is sent. The ini decides models, retriever, tools and recordings; fixtures
are not used. Exit status: 0, 1 if the run failed, 4 if it cannot start.
"""

FILE = "FILE.toml, or the name of a built-in chain, such as kilt/nq-read; append @MODEL to use another model"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``chain`` with its subcommands."""
    parser.description = DESCRIPTION
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = subparsers.add_parser("check", help="check a chain", description=CHECK)
    check.add_argument("chain", metavar="FILE", help=FILE)
    check.set_defaults(run_command=_check, error_status=USAGE_ERROR)
    run = subparsers.add_parser("run", help="run a chain for one question", description=RUN)
    run.add_argument("chain", metavar="FILE", help=FILE)
    case = run.add_mutually_exclusive_group(required=True)
    case.add_argument("--question", metavar="Q", help="ask this question")
    case.add_argument("--dataset", metavar="FORMAT:FILE", help="ask a case of this dataset; --id names it")
    run.add_argument("--id", metavar="ID", help="the id of the case")
    run.add_argument(
        "--prompts-only",
        action="store_true",
        help="only print prompts and inputs; call no model, retriever or tool",
    )
    run.add_argument("--until", metavar="ACTION", help="run the actions up to this one")
    run.add_argument(
        "--from",
        dest="only",
        metavar="ACTION",
        help="run only this action, with the outputs of earlier actions in --with",
    )
    run.add_argument(
        "--with",
        dest="outputs",
        type=Path,
        metavar="FILE.json",
        help='the outputs of earlier actions: {"NAME": "text"}; of a search {"NAME": [{"id": ..., "text": ...}]}',
    )
    run.set_defaults(run_command=_run, error_status=USAGE_ERROR)


def _check(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.chains.check import check_chain

    return check_chain(arguments.chain)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.chains.run import run_chain
    from pytest_rageval.hooks.chain_command import ChainOrder

    order = ChainOrder(
        chain=arguments.chain,
        question=arguments.question,
        dataset=arguments.dataset,
        case=arguments.id,
        prompts_only=arguments.prompts_only,
        until=arguments.until,
        only=arguments.only,
        outputs=arguments.outputs,
    )
    return run_chain(order)
