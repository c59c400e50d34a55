"""Read texts of prompts and training data: strings of JSON files, other files as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr

__all__ = ["files_of", "texts_of"]


def files_of(names: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """Return the files that paths and globs match, in order and without duplicates.

    Args:
        names: paths or globs, relative to ``folder``.
        folder: the base of relative paths.

    Raises:
        DataError: a name matches no file.
    """
    files: dict[Path, None] = {}
    for name in names:
        matches = [folder / name] if (folder / name).is_file() else sorted(map(folder.joinpath, _matches(name, folder)))
        if not matches:
            raise DataError(short_repr(name), "no such file, and no file that matches; correct the path")
        files.update(dict.fromkeys(matches))
    return tuple(files)


def texts_of(files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of each string in JSON and JSON Lines files, and of each other file as a whole.

    A line that is not valid JSON is one text.

    Raises:
        DataError: a file cannot be read as UTF-8.
    """
    for path in files:
        file_name = shown_path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise DataError(file_name, f"cannot be read: {error.strerror}", code="RAG105") from None
        except UnicodeDecodeError:
            raise DataError(file_name, "is not UTF-8; save it as UTF-8, or leave it out") from None
        if path.suffix == ".jsonl":
            for number, line in enumerate(text.split("\n"), 1):
                yield from ((f"{file_name}:{number}", each) for each in _strings(line))
        elif path.suffix == ".json":
            yield from ((file_name, each) for each in _strings(text))
        else:
            yield file_name, text


def _matches(name: str, folder: Path) -> list[str]:
    return [each for each in glob(name, root_dir=folder, recursive=True) if (folder / each).is_file()]


def _strings(text: str) -> Iterator[str]:
    """Yield all strings in a JSON text; the text itself if it is not valid JSON."""
    try:
        stack = [json.loads(text)]
    except (ValueError, RecursionError):
        yield text
        return
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            stack += reversed(value)
        elif isinstance(value, dict):
            stack += reversed(value.values())
