"""Refuse a session before it runs, with pytest's usage error: one sentence, exit status 4.

An exception in a collector would be a collection error with a traceback; in an xdist worker it would be
an internal error. Therefore a refusal is a failed collection report, which xdist forwards. The main
process (with xdist the controller) turns it into a usage error.
"""

from __future__ import annotations

from pathlib import Path
from traceback import extract_tb

import pytest

from pytest_rageval.errors import message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED

__all__ = ["REFUSED", "Refusals", "located_message", "refuse"]

REFUSED = pytest.StashKey[list[str]]()
"""On the config: the messages of refused collectors; present if the session is refused."""


def refuse(config: pytest.Config, nodeid: str, message: str) -> None:
    """End the session with the usage error ``message``; discard the collected cases without a report."""
    config.stash.setdefault(REFUSED, []).append(message)
    collected = config.stash.get(COLLECTED, None)
    if collected is not None:
        del config.stash[COLLECTED]
        collected.close()
    report = pytest.CollectReport(nodeid, "failed", message, [], rag_refused=message)
    config.hook.pytest_collectreport(report=report)


def located_message(error: BaseException, rootdir: Path) -> str:
    """Return an error's message with its code, prefixed with the ``file:line`` of the user's code that caused it."""
    package = Path(__file__).parents[2]
    frames = [frame for frame in extract_tb(error.__traceback__) if package not in Path(frame.filename).parents]
    if not frames:
        return message_with_code(error)
    path = Path(frames[-1].filename)
    shown = path.relative_to(rootdir) if path.is_relative_to(rootdir) else path
    return f"{shown.as_posix()}:{frames[-1].lineno}: {message_with_code(error)}"


class Refusals:
    """A plugin of the main process that raises the refusals of collectors as usage errors."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Raise a refusal as a usage error, before any other plugin counts it as a failure."""
        message = getattr(report, "rag_refused", None)
        if message is not None:
            from pytest_rageval.llm.secrets import redact

            raise pytest.UsageError(redact(message))
