"""The interface of the object that calls a process's systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_rageval.engine.answerers import SystemAnswerer
    from pytest_rageval.model.calls import Calls
    from pytest_rageval.trace.otel.live import LiveTraces

__all__ = ["Runtime"]


class Runtime(Protocol):
    """Calls the systems of this process; created when the first case runs."""

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """The work that no report contains yet: the fields of `PendingWork`."""

    @property
    def fault(self) -> str | None:
        """Why calls are no longer written to the journal; None if they are."""

    @property
    def hint(self) -> str | None:
        """A hint, from measured times, on how to make the session faster; None if there is none."""

    @property
    def systems(self) -> Sequence[SystemAnswerer]:
        """The systems that this process has called so far, with statistics of their calls."""

    @property
    def traces(self) -> LiveTraces:
        """Collects the spans of cases."""

    def stop_looking_ahead(self) -> None:
        """From now on, ask the system only when a case's test runs."""

    def close(self) -> Calls:
        """Stop all calls; return the calls that belong to no case."""
