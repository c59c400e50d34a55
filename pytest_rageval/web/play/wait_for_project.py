"""Wait until the project of the page is read."""

from __future__ import annotations

import asyncio

from pytest_rageval.hooks.playing.project import PlayProject

__all__ = ["until_read"]

LOOK_S = 0.05
"""Seconds between two looks whether the project is read."""


async def until_read(project: PlayProject) -> None:
    """Wait until a project is read, or cannot be."""
    while not (project.ready or project.problem):
        await asyncio.sleep(LOOK_S)
