"""Read and write the answers of the baseline's run: gzipped JSON Lines next to the baseline."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.folders import atomic_files, regular_path
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.run.old_answers import StoredAnswer

__all__ = ["answers_path", "read_answers", "write_answers"]

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def answers_path(baseline: Path) -> Path:
    """Return the path of a baseline's answers: ``baseline.answers.jsonl.gz`` for ``baseline.json``."""
    return baseline.with_name(f"{baseline.name.removesuffix('.json')}.answers.jsonl.gz")


def write_answers(path: Path, answers: Iterable[StoredAnswer]) -> None:
    """Write answers atomically. The same answers give the same bytes, because gzip's head has no name and no time.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_files(path) as (temporary,),
        temporary.open("wb") as stream,
        GzipFile("", "wb", compresslevel=9, fileobj=stream, mtime=0) as compressed,
        TextIOWrapper(compressed, encoding="utf-8", errors="backslashreplace", newline="\n") as lines,
    ):
        lines.writelines(f"{_encode(encoder(StoredAnswer)(each))}\n" for each in answers)


def read_answers(path: Path) -> list[StoredAnswer]:
    """Read the answers that `write_answers` wrote.

    Raises:
        DataError: the file is malformed; the message has the line if it is known.
        SettingError: the file cannot be read.
    """
    advice = "write it anew with --rag-update-baseline"
    answers: list[StoredAnswer] = []
    try:
        with GzipFile(regular_path(path), "rb") as compressed:
            for line in compressed:
                answers.append(_answer(line))  # noqa: PERF401 - an error needs its length, to report the line
    except (EOFError, zlib.error) as error:
        raise DataError(str(path), f"truncated or malformed gzip file; {advice}", code="RAG211") from error
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        problem = "is missing" if missing else f"cannot be read: {error.strerror or error}"
        raise SettingError(f"the baseline's answers {path} {problem}; {advice}", code="RAG211") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        where = f"{path}:{len(answers) + 1}"
        raise DataError(
            where, f"malformed answer ({type(error).__name__}: {error}); {advice}", code="RAG211"
        ) from error
    return answers


def _answer(line: bytes) -> StoredAnswer:
    stored: StoredAnswer = decoder(StoredAnswer)(parse_json(line))
    if stored.answer.abstained not in (None, True, False):
        raise TypeError("abstained is neither true nor false nor null")
    return stored
