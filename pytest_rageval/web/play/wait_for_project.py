"""Wait until the page's project has been read."""

from __future__ import annotations

import asyncio

from pytest_rageval.hooks.playing.project import PlayProject

__all__ = ["wait_until_read"]

POLL_S = 0.05
"""Seconds between two checks whether the project has been read."""


async def wait_until_read(project: PlayProject) -> None:
    """Wait until a project has been read, or reading it has failed."""
    while not (project.ready or project.problem):
        await asyncio.sleep(POLL_S)
