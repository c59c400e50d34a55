"""Find listed names in a text; the time hardly depends on the length of the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["ListedNames"]

_START = 2
"""Length of the prefix that is the key of a lookup."""


class ListedNames:
    """An index of names to find in texts.

    Args:
        names: the names; those of one character are left out.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_start: dict[str, list[str]] = {}
        for name in sorted({*names}, key=lambda each: (-len(each), each)):
            if len(name) >= _START:
                self._by_start.setdefault(name[:_START], []).append(name)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the span of each name, the longest at each position; skip parts of longer words of letters."""
        if not self._by_start:
            return
        for at in range(len(text) - 1):
            for name in self._by_start.get(text[at : at + _START], ()):
                if text.startswith(name, at) and _is_whole(text, at, at + len(name)):
                    yield at, at + len(name)
                    break


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a span is whole words: no ASCII letter or digit continues it on either side."""
    before = text[start - 1 : start] + text[start]
    after = text[end - 1] + text[end : end + 1]
    return not any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in (before, after))
