"""A dict that does not change, because several values share it."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

__all__ = ["FixedDict"]

K = TypeVar("K")
V = TypeVar("V")


class FixedDict(dict[K, V]):
    """A dict for `json`, `copy` and `pickle` whose methods that change it raise TypeError."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("several cases share this dict; change a copy of it, as dict(...) makes one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FixedDict, (dict(self),)
