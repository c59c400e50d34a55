"""Objects that code can reach from an object."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping

__all__ = ["reachable"]

PARTS = (
    "__closure__", "__defaults__", "__kwdefaults__", "__self__", "__func__", "__wrapped__", "cell_contents", "func",
    "args", "keywords",
)  # fmt: skip
"""What functions, methods, cells and partials refer to."""


def reachable(root: object) -> Iterator[object]:
    """Yield all that can be reached from ``root`` by attributes, slots, items, closures, defaults and bound objects."""
    visited: dict[int, object] = {}
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if id(value) in visited or isinstance(value, (types.ModuleType, type)):
            continue
        visited[id(value)] = value
        yield value
        if isinstance(value, (str, bytes, int, float, bool, type(None))):
            continue
        waiting.extend(_parts(value))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (tuple, list, set, frozenset)):
        yield from value
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield getattr(value, name)
    for name in PARTS:
        part = getattr(value, name, None)
        if part is not None and not isinstance(part, types.MethodWrapperType):
            yield part
