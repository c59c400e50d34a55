"""Handle faults of single records: raise the first, or collect all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from pytest_rageval.errors import DataError

__all__ = ["any_collected", "collected_faults", "one_record"]

_COLLECTED: ContextVar[list[DataError] | None] = ContextVar("collected faults", default=None)


@contextmanager
def collected_faults() -> Iterator[list[DataError]]:
    """Collect the faults of records instead of raising the first; reading continues with the next record."""
    faults: list[DataError] = []
    token = _COLLECTED.set(faults)
    try:
        yield faults
    finally:
        _COLLECTED.reset(token)


def any_collected() -> bool:
    """Return whether faults are collected and at least one was found."""
    return bool(_COLLECTED.get())


class _OneRecord:
    """Context for reading one record: raises its `DataError`, or collects it inside `collected_faults`."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        faults = _COLLECTED.get()
        if faults is None or not isinstance(error, DataError):
            return False
        faults.append(error)
        return True


one_record = _OneRecord()
