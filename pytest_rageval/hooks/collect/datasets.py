"""The session's datasets: locate their files, read each once, when the first case needs it."""

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
        name: ``format:path``, relative to the rootdir if inside; then ``+path`` of a qrels file that replaces labels.
        instances: its records.
        digest: sha256 of its files.
        recorded: the recorded answers that it includes, scored instead of a system's; None if it has none.
        notes: one sentence on lines or files that are not records.
        metrics: the default metrics of its testbeds without an ability; empty for the usual ones.
    """

    name: str
    instances: tuple[Instance, ...]
    digest: bytes
    recorded: RecordedAnswers | None = None
    notes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


class Sources:
    """Every dataset of the session, by format and file."""

    def __init__(self, loaders: Registry[Loader], rootdir: Path) -> None:
        self._loaders = loaders
        self._rootdir = rootdir
        self._read: dict[tuple[str, Path], Source] = {}
        self._judged: dict[tuple[str, Path], Source] = {}

    def __iter__(self) -> Iterator[Source]:
        return iter(sorted([*self._read.values(), *self._judged.values()], key=lambda source: source.name))

    def load(self, dataset: str, folders: Sequence[Path], where: str) -> Source:
        """Return the dataset ``format:path``; messages start with ``where``.

        Look for the path in ``folders`` (those of the file that names the dataset), then in the rootdir.
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
        if key not in self._read:
            name = f"{format_name}:{self._shown(path)}"
            instances, notes = tuple(loader(path)), _left_out(name, loader, path)
            if not instances:
                problem = f"dataset {short_repr(name)} has no record; it needs at least one"
                raise DataError(where, "; ".join([problem, *notes]))
            digest = _digest(getattr(loader, "files", _files)(path))
            recorded = _recorded(loader, path)
            self._read[key] = Source(name, instances, digest, recorded, notes, getattr(loader, "metrics", ()))
        return self._read[key]

    def judged(self, source: Source, text: str, folders: Sequence[Path], where: str) -> Source:
        """Return a dataset with the judgements of the qrels file ``text`` instead of its own.

        Look for the file as `load` does. It may judge other queries too.

        Raises:
            SettingError: the file judges no record of the dataset.
        """
        from pytest_rageval.datasets.qrels import read_qrels

        path = self._find("qrels", text, folders, where)
        key = (source.name, path.resolve())
        if key not in self._judged:
            qrels = read_qrels(path)
            instances = tuple(_judged(each, qrels.get(each.id, {})) for each in source.instances)
            if not any(each.qrels for each in instances):
                examples = short_repr(next(iter(qrels))), short_repr(instances[0].id)
                ids = "its ids are like {}, the dataset's like {}".format(*examples)
                raise SettingError(
                    f"{where}: qrels {short_repr(text)} judges no record of {short_repr(source.name)}; {ids}",
                    code="RAG205",
                )
            digest = hashlib.sha256(source.digest + _digest([path])).digest()
            name = f"{source.name}+{self._shown(path)}"
            self._judged[key] = replace(source, name=name, instances=instances, digest=digest, notes=())
        return self._judged[key]

    def _find(self, what: str, text: str, folders: Sequence[Path], where: str) -> Path:
        places = dict.fromkeys(folder / text for folder in (*folders, self._rootdir))
        try:
            matches = [path for path in places if path.exists()]
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(where, f"{what} path {short_repr(text)} cannot be used: {why}") from None
        if matches:
            return matches[0]
        tried = " nor ".join(ascii_safe(str(path)) for path in places)
        raise DataError(where, f"{what} {short_repr(text)} is missing: no {tried}; correct the path", code="RAG105")

    def _shown(self, path: Path) -> str:
        resolved = path.resolve()
        is_inside = resolved.is_relative_to(self._rootdir)
        return resolved.relative_to(self._rootdir).as_posix() if is_inside else resolved.as_posix()


def _judged(instance: Instance, grades: dict[str, int]) -> Instance:
    """Return an instance with these judgements instead of its own and of its evidence.

    If ``grades`` is empty, its gold passages no longer count as judgements either.
    """
    if grades or instance.passages is None:
        return replace(instance, qrels=grades, evidence=())
    return replace(
        instance, qrels=grades, evidence=(), passages=tuple(replace(each, page="") for each in instance.passages)
    )


def _recorded(loader: Loader, path: Path) -> RecordedAnswers | None:
    """Return the recorded answers of a dataset, read by its loader's ``answers``; None if the format has none."""
    answers = getattr(loader, "answers", None)
    if answers is None:
        return None
    from pytest_rageval.engine.recorded_answers import RecordedAnswers

    return RecordedAnswers(answers(path))


def _left_out(name: str, loader: Loader, path: Path) -> tuple[str, ...]:
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
