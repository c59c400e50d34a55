"""The session's datasets: locate their files, and read each dataset once, on first use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import DataError, SettingError, ascii_safe, short_repr

if TYPE_CHECKING:
    from pytest_rageval.datasets import Loader
    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.model.case import Instance
    from pytest_rageval.registry import Registry

__all__ = ["Source", "Sources"]


@dataclass(frozen=True, slots=True)
class Source:
    """A loaded dataset.

    Attributes:
        name: ``format:path``, relative to the rootdir if inside; ``+path`` follows if a qrels file replaces the labels.
        instances: its records.
        digest: sha256 of its files.
        recorded: the answers in the dataset, which are scored instead of a system's; None if it has none.
        notes: one sentence about lines or files that are not records; empty if there are none.
        metrics: the default metrics of testbeds without an ability; empty for the plugin's defaults.
    """

    name: str
    instances: tuple[Instance, ...]
    digest: bytes
    recorded: RecordedAnswers | None = None
    notes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


class Sources:
    """Loads the datasets of a session, and caches them by format and file.

    Args:
        loaders: format -> loader.
        rootdir: pytest's rootdir.
    """

    def __init__(self, loaders: Registry[Loader], rootdir: Path) -> None:
        self._loaders = loaders
        self._rootdir = rootdir
        self._loaded: dict[tuple[str, Path], Source] = {}
        self._with_qrels: dict[tuple[str, Path], Source] = {}

    def __iter__(self) -> Iterator[Source]:
        return iter(sorted([*self._loaded.values(), *self._with_qrels.values()], key=lambda source: source.name))

    def load(self, dataset: str, folders: Sequence[Path], where: str) -> Source:
        """Return the dataset ``format:path``; messages start with ``where``.

        The path is searched in ``folders`` (of the file that names the dataset), then in the rootdir.
        """
        format_name, colon, text = dataset.partition(":")
        if not colon or not text:
            hint = short_repr(f"jsonl:{dataset.strip(':')}")
            raise SettingError(
                f"{where}: dataset {short_repr(dataset)} is not format:path; write for instance {hint}", code="RAG104"
            )
        loader = self._loaders.get(format_name, where)
        path = self._find("dataset", text, folders, where)
        key = (format_name, path.resolve())
        if key not in self._loaded:
            name = f"{format_name}:{self._relative(path)}"
            instances, notes = tuple(loader(path)), _skipped_notes(name, loader, path)
            if not instances:
                problem = f"dataset {short_repr(name)} has no record; it needs at least one"
                raise DataError(where, "; ".join([problem, *notes]))
            digest = _digest(getattr(loader, "files", _files)(path))
            recorded = _recorded_answers(loader, path)
            self._loaded[key] = Source(name, instances, digest, recorded, notes, getattr(loader, "metrics", ()))
        return self._loaded[key]

    def with_qrels(self, source: Source, text: str, folders: Sequence[Path], where: str) -> Source:
        """Return a dataset with the relevance judgements of the qrels file ``text`` instead of its own.

        The file is searched in the same folders as in `load`. It may also judge queries that the dataset lacks.

        Raises:
            SettingError: the file judges no record of the dataset.
        """
        from pytest_rageval.datasets.qrels import read_qrels

        path = self._find("qrels", text, folders, where)
        key = (source.name, path.resolve())
        if key not in self._with_qrels:
            qrels = read_qrels(path)
            instances = tuple(_with_grades(each, qrels.get(each.id, {})) for each in source.instances)
            if not any(each.qrels for each in instances):
                examples = short_repr(next(iter(qrels))), short_repr(instances[0].id)
                ids = "its ids are like {}, the dataset's like {}".format(*examples)
                raise SettingError(
                    f"{where}: qrels {short_repr(text)} judges no record of {short_repr(source.name)}; {ids}",
                    code="RAG205",
                )
            digest = hashlib.sha256(source.digest + _digest([path])).digest()
            name = f"{source.name}+{self._relative(path)}"
            self._with_qrels[key] = replace(source, name=name, instances=instances, digest=digest, notes=())
        return self._with_qrels[key]

    def _find(self, what: str, text: str, folders: Sequence[Path], where: str) -> Path:
        candidates = dict.fromkeys(folder / text for folder in (*folders, self._rootdir))
        try:
            matches = [path for path in candidates if path.exists()]
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(where, f"{what} path {short_repr(text)} cannot be used: {why}") from None
        if matches:
            return matches[0]
        tried = " nor ".join(ascii_safe(str(path)) for path in candidates)
        raise DataError(where, f"{what} {short_repr(text)} is missing: no {tried}; correct the path", code="RAG105")

    def _relative(self, path: Path) -> str:
        """Return a path relative to the rootdir if inside, else absolute; with slashes."""
        resolved = path.resolve()
        is_inside = resolved.is_relative_to(self._rootdir)
        return resolved.relative_to(self._rootdir).as_posix() if is_inside else resolved.as_posix()


def _with_grades(instance: Instance, grades: dict[str, int]) -> Instance:
    """Return an instance with the judgements ``grades`` (passage id -> grade) instead of its own and its evidence.

    If ``grades`` is empty, the gold passages of the instance no longer count as judgements either.
    """
    if grades or instance.passages is None:
        return replace(instance, qrels=grades, evidence=())
    return replace(
        instance, qrels=grades, evidence=(), passages=tuple(replace(each, page="") for each in instance.passages)
    )


def _recorded_answers(loader: Loader, path: Path) -> RecordedAnswers | None:
    """Return the recorded answers of a dataset, from its loader's method ``answers``; None for formats without it."""
    answers = getattr(loader, "answers", None)
    if answers is None:
        return None
    from pytest_rageval.engine.recorded_answers import RecordedAnswers

    return RecordedAnswers(answers(path))


def _skipped_notes(name: str, loader: Loader, path: Path) -> tuple[str, ...]:
    """Return a sentence about the lines or files that the loader skipped, with the first one; () if there are none."""
    places = list(loader.left_out(path)) if hasattr(loader, "left_out") else []
    if not places:
        return ()
    where, what = places[0]
    if not where.rpartition(":")[2].isdigit():
        count = "1 file is not read" if len(places) == 1 else f"{len(places)} files are not read, the first"
        return (f"{name}: {count}: {where} ({what})",)
    count = "1 line is no case" if len(places) == 1 else f"{len(places)} lines are no cases, the first"
    return (f"{name}: {count}: {what} at {where}",)


def _files(path: Path) -> list[Path]:
    """Return the file, or every file in a folder."""
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


def _digest(files: Iterable[Path]) -> bytes:
    """Return sha256 over the bytes of files."""
    from pytest_rageval.datasets.source import forget_bytes, read_bytes

    digest = hashlib.sha256()
    for file in files:
        digest.update(read_bytes(file))
    forget_bytes()
    return digest.digest()
