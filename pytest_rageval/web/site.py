"""Describe a local page: its name, routes, assets and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.routing import BaseRoute

__all__ = ["Site"]


@dataclass(frozen=True)
class Site:
    """A local page: its name, the project that it may write to, and its routes.

    Attributes:
        name: the command, such as ``review``.
        project: the folder of the project, which holds ``.rageval``.
        routes: Starlette's routes; paths that begin with ``/api/`` answer errors as JSON.
        package: the package whose folder ``assets`` is served as ``/assets/NAME``, in addition to the assets of all
            sites; empty if it has none.
        subject: what the page works on, such as the folder of the cases. A second server of the same project, name
            and subject opens the page of the first.
        max_body: the largest body of a request, in bytes.
        opens: the path and query of the page to open first, without a leading slash.
    """

    name: str
    project: Path
    routes: Sequence[BaseRoute]
    package: str = ""
    subject: str = ""
    max_body: int = 1_000_000
    opens: str = ""
