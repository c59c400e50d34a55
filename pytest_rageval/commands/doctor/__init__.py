"""``rageval doctor``: check the installation, the ini, its components, models and tests."""

from __future__ import annotations

import argparse
import json
from collections.abc import Generator
from dataclasses import asdict

__all__ = ["add_to"]

DESCRIPTION = """\
Check what is installed and with which extras, the settings of the ini, the systems, retriever, judges and files that
they name, and the baseline. Then collect the tests as pytest does, and run none. Models are asked only with --models,
one request each, which may cost. Values of model parameters are never printed. Exit status: 0, or 1 if something is
wrong.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``doctor``."""
    parser.description = DESCRIPTION
    parser.add_argument("--models", action="store_true", help="send each model of the ini one request")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    from pytest_rageval.commands.doctor.installation import check_installation
    from pytest_rageval.hooks.doctor_command import project_checks
    from pytest_rageval.report.text.lines import counted

    checks = [*check_installation(), *project_checks(ask_models=arguments.models)]
    wrong = sum(check.state == "wrong" for check in checks)
    if arguments.json:
        yield json.dumps([asdict(check) for check in checks], indent=1)
        return int(wrong > 0)
    width, topic = max(len(check.name) for check in checks), ""
    for check in checks:
        if check.topic != topic:
            topic = check.topic
            yield topic
        state = check.state.upper() if check.state == "wrong" else check.state
        yield f"  {state:7}  {check.name:{width}}  {check.text}".rstrip()
    yield f"{counted(wrong, 'problem')} found." if wrong else "No problem found."
    return int(wrong > 0)
