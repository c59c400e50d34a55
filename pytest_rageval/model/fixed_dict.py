"""A read-only dict that several values can share."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

__all__ = ["FixedDict"]

K = TypeVar("K")
V = TypeVar("V")


class FixedDict(dict[K, V]):
    """A read-only dict: methods that would change it raise TypeError; `json`, `copy` and `pickle` work."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("several cases share this dict; change a copy of it, as dict(...) makes one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FixedDict, (dict(self),)
