"""The arguments of ``rageval judge serve``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["add_to"]

DESCRIPTION = """\
Serve a trained judge to other programs of this machine, by OpenAI's chat protocol: POST /v1/chat/completions,
GET /v1/models and GET /healthz on 127.0.0.1. It answers only the prompts of its metric's judge. Ctrl-C
or SIGTERM ends it after the open requests.
"""


def add_to(subcommands: Any) -> None:
    """Add the subcommand ``serve``."""
    parser = subcommands.add_parser("serve", help="serve a trained judge over HTTP", description=DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the judge")
    parser.add_argument(
        "--port", type=int, default=8011, metavar="N", help="the port, default 8011; 0 selects a free port"
    )
    parser.add_argument(
        "--token-env", metavar="NAME", help="the environment variable with the token that requests must send"
    )
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.judge.serving import serve_judge

    return serve_judge(arguments.folder, arguments.port, arguments.token_env)
