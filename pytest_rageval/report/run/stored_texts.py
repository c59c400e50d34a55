"""Keep JSON texts of a run in memory, or in a file with only their offsets in memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import overload

from pytest_rageval.model.plain import Plain
from pytest_rageval.report.run.json_text import JsonText

__all__ = ["StoredTexts", "list_of", "mapping_of"]

_LENGTH_BITS = 40
"""Number of low bits of a place that hold the length of the text; the bits above hold its offset."""


class StoredTexts(MutableMapping[str, "JsonText | Plain"]):
    """Key -> text. A new text is in memory until `move` names its place in the file.

    Args:
        path: the file; other code only appends to it.
    """

    def __init__(self, path: Path) -> None:
        self._values: dict[str, JsonText | Plain | int] = {}
        self._file = os.open(path, os.O_RDONLY)

    def move(self, key: str, offset: int, length: int) -> None:
        """Drop a text from memory; the file has it at byte ``offset``, ``length`` bytes long."""
        self._values[key] = offset << _LENGTH_BITS | length

    def close(self) -> None:
        """Close the file; its texts cannot be read any more."""
        os.close(self._file)

    def __getitem__(self, key: str) -> JsonText | Plain:
        value = self._values[key]
        if not isinstance(value, int):
            return value
        length, offset = value & ((1 << _LENGTH_BITS) - 1), value >> _LENGTH_BITS
        text = os.pread(self._file, length, offset)
        if len(text) != length:
            raise OSError(errno.EIO, "a file of the run was cut while it ran")
        return JsonText(text.decode("utf-8"))

    def __setitem__(self, key: str, value: JsonText | Plain) -> None:
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class _TextList(Sequence["JsonText | Plain"]):
    """The texts of some keys, in order; each is read when it is needed."""

    def __init__(self, keys: Sequence[str], texts: Mapping[str, JsonText | Plain]) -> None:
        self._keys = keys
        self._texts = texts

    @overload
    def __getitem__(self, at: int) -> JsonText | Plain: ...
    @overload
    def __getitem__(self, at: slice) -> _TextList: ...
    def __getitem__(self, at: int | slice) -> JsonText | Plain | _TextList:
        return _TextList(self._keys[at], self._texts) if isinstance(at, slice) else self._texts[self._keys[at]]

    def __len__(self) -> int:
        return len(self._keys)


class _TextMapping(Mapping[str, "JsonText | Plain"]):
    """The texts of some keys, in order; each is read when it is needed."""

    def __init__(self, keys: Sequence[str], texts: Mapping[str, JsonText | Plain]) -> None:
        self._keys = keys
        self._texts = texts

    def __getitem__(self, key: str) -> JsonText | Plain:
        return self._texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def list_of(keys: Sequence[str], texts: Mapping[str, JsonText | Plain]) -> Sequence[JsonText | Plain]:
    """Return the texts of some keys, in order; if they are in a file, each is read when it is needed."""
    return _TextList(keys, texts) if isinstance(texts, StoredTexts) else [texts[key] for key in keys]


def mapping_of(keys: Sequence[str], texts: Mapping[str, JsonText | Plain]) -> Mapping[str, JsonText | Plain]:
    """Return key -> text for some keys, in order; if they are in a file, each is read when it is needed."""
    return _TextMapping(keys, texts) if isinstance(texts, StoredTexts) else {key: texts[key] for key in keys}
