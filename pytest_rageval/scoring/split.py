"""Read cases and answers as streams, and write each line to the chunk of its case."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.datasets.recorded import KEYS, read_recorded
from pytest_rageval.datasets.source import JsonObject, read_line, read_records, read_text
from pytest_rageval.engine.recorded_answers import labels_of, system_of
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance
from pytest_rageval.scoring.record_lines import JSONL, encode_record, instances_at
from pytest_rageval.testbeds.ids import safe

__all__ = ["CHUNK_BYTES", "InputFile", "SplitData", "ignored_keys", "split"]

CHUNK_BYTES = 2_500_000
"""Bytes of cases and answers in a chunk, about 5,000 answers."""

BUFFER_BYTES = 32_000_000
"""Maximum bytes of lines in memory before they are written."""

_decode = json.JSONDecoder().raw_decode

_SETTINGS = re.compile(r"(-(passages|noise_rate|correct_rate)=[^-]*)+$")
"""The settings at the end of an answer's id."""


@dataclass
class SplitData:
    """The chunks, and a summary of the lines in them.

    Attributes:
        chunks: the paths of the chunks; a chunk without lines has no file.
        digest: sha256 of the content of all files.
        n_cases: number of records of each file of cases.
        n_answers: number of answers.
        samples: one record of each set of keys, by the number of its file of cases.
        systems: the systems of all answers -> the distinct facets ``workflow`` and ``model`` of their rows.
        keys: the keys of answers that may be facets.
        evidence: the records with evidence; empty if `split` does not collect them.
    """

    chunks: list[Path] = field(default_factory=list)
    digest: str = ""
    n_cases: dict[int, int] = field(default_factory=dict)
    n_answers: int = 0
    samples: dict[int, list[Instance]] = field(default_factory=dict)
    systems: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    evidence: list[Instance] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of cases or answers.

    Attributes:
        path: its path.
        name: its name in messages.
        dataset: for cases, the facet ``dataset``.
        form: for cases, their format.
    """

    path: Path
    name: str
    dataset: str = ""
    form: str = JSONL


def split(
    cases: Sequence[InputFile], answers: Sequence[InputFile], folder: Path, *, evidence: bool = False
) -> SplitData:
    """Write the lines of all files into chunks by the id of their case.

    The number of chunks depends only on the size of the data.

    Args:
        cases: the files of cases, numbered from 0.
        answers: the files of answers; their numbers follow.
        folder: an empty folder for the chunks.
        evidence: whether to collect the records with evidence.

    Raises:
        DataError: a file cannot be read, or a line has no valid id.
        OSError: a chunk cannot be written.
    """
    data = SplitData()
    other_formats = {at: _encoded_records(file) for at, file in enumerate(cases) if file.form != JSONL}
    streamed = [file for at, file in enumerate((*cases, *answers)) if at not in other_formats]
    for file in streamed:
        if not file.path.is_file():
            read_text(file.path)  # raises for a missing file, a folder or a device
    size = sum(file.path.stat().st_size for file in streamed)
    size += sum(len(line) for lines in other_formats.values() for _, line in lines)
    writer = _Writer(folder, size // CHUNK_BYTES + 1)
    digest = hashlib.sha256()
    for number, file in enumerate(cases):
        if number in other_formats:
            _split_records(other_formats[number], number, data, writer, digest)
            data.evidence += [each for each, _ in other_formats[number] if evidence and each.evidence]
        else:
            _split_cases(file, number, data, writer, digest, evidence=evidence)
    shapes: set[object] = set()
    for number, file in enumerate(answers, start=len(cases)):
        _split_answers(file, number, data, shapes, writer, digest)
    writer.flush()
    data.chunks, data.digest = writer.paths, digest.hexdigest()
    data.systems = {name: sorted(data.systems[name], key=repr) for name in sorted(data.systems)}
    return data


def _split_records(
    lines: Sequence[tuple[Instance, bytes]], number: int, data: SplitData, writer: _Writer, digest: hashlib._Hash
) -> None:
    data.n_cases[number] = len(lines)
    data.samples[number] = list({tuple(each.facets): each for each, _ in lines}.values())
    for at, (instance, line) in enumerate(lines, start=1):
        digest.update(line)
        writer.write(safe(instance.id), number, at, line)


def _split_cases(
    file: InputFile, number: int, data: SplitData, writer: _Writer, digest: hashlib._Hash, *, evidence: bool
) -> None:
    shapes: set[tuple[str, ...]] = set()
    data.n_cases[number] = 0
    for line, raw, values in _records(file, digest):
        data.n_cases[number] += 1
        name = _id(values)
        if tuple(values) not in shapes or name is None:
            shapes.add(tuple(values))
            instance = read_instance(Fields(f"{file.name}:{line}", values), file.dataset)
            data.samples.setdefault(number, []).append(instance)
            name = instance.id
        if evidence and values.get("evidence"):
            data.evidence.append(read_instance(Fields(f"{file.name}:{line}", values), file.dataset))
        writer.write(safe(name), number, line, raw)


def _split_answers(
    file: InputFile, number: int, data: SplitData, shapes: set[object], writer: _Writer, digest: hashlib._Hash
) -> None:
    for line, raw, values in _records(file, digest):
        data.n_answers += 1
        name = _id(values)
        shape = tuple(values), values.get("system"), values.get("workflow"), values.get("model")
        if name is None or not _is_in(shapes, shape):
            row = read_recorded(Fields(f"{file.name}:{line}", values))
            name = row.id
            shapes.add(shape)
            data.keys.update(row.where)
            labels = data.systems.setdefault(system_of(row), [])
            labels += [each for each in (labels_of(row),) if each not in labels]
        writer.write(safe(_SETTINGS.sub("", name)) if "=" in name else safe(name), number, line, raw)


def _encoded_records(file: InputFile) -> list[tuple[Instance, bytes]]:
    """Return the records of a dataset that cannot be read as a stream, each with its line in a chunk."""
    return [(instance, encode_record(instance)) for instance in instances_at(file.form, file.path, file.name)]


def _is_in(shapes: set[object], shape: object) -> bool:
    try:
        return shape in shapes
    except TypeError:  # an unhashable value; `read_recorded` raises for it
        return False


def _id(values: JsonObject) -> str | None:
    """Return the id of a record; None if it is missing or is not a plain id."""
    value = values.get("id")
    if type(value) is str and value and not value.isspace():
        return value
    return str(value) if type(value) is int else None


def _records(file: InputFile, digest: hashlib._Hash) -> Iterator[tuple[int, bytes, JsonObject]]:
    """Yield the line number, the text and the values of each record, and add the lines to the digest.

    The fast decoder accepts some lines that `read_line` refuses; `read_chunk` reads all lines again with `read_line`.
    """
    with file.path.open("rb") as stream:
        start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        stream.seek(0)
        if start.startswith(b"["):
            digest.update(stream.read())
            yield from ((line, json.dumps(values).encode(), values) for line, values in read_records(file.path))
            return
        n = 0
        for line, raw in enumerate(stream, start=1):
            digest.update(raw)
            text = raw.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n") if line == 1 else raw.strip(b" \t\r\n")
            if text:
                n += 1
                yield line, text, _values(text, file.name, line)
        if not n:
            raise DataError(f"{file.name}:1", "the file holds no record; it needs at least one JSON object")


def _values(text: bytes, name: str, line: int) -> JsonObject:
    try:
        plain = text.decode("utf-8")
        values, end = _decode(plain)
    except UnicodeDecodeError as error:
        problem = f"byte 0x{text[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise DataError(f"{name}:{line}", problem, code="RAG204") from None
    except (ValueError, RecursionError):
        values = end = None
    return values if isinstance(values, dict) and end == len(plain) else read_line(plain, name, line) or {}


class _Writer:
    """Appends lines to the files of chunks; keeps few lines in memory and no file open."""

    def __init__(self, folder: Path, n_chunks: int) -> None:
        self._folder = folder
        self._n = n_chunks
        self._lines: dict[int, list[bytes]] = {}
        self._size = 0
        self._with_lines: set[int] = set()

    @property
    def paths(self) -> list[Path]:
        """The paths of the chunks with lines."""
        return [self._path(at) for at in sorted(self._with_lines)]

    def write(self, key: str, file: int, line: int, raw: bytes) -> None:
        """Add a line to the chunk of a case."""
        self._lines.setdefault(crc32(key.encode("utf-8", "surrogatepass")) % self._n, []).append(
            b"%d:%d\t%b\n" % (file, line, raw)
        )
        self._size += len(raw)
        if self._size > BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the lines to their files."""
        for at, lines in self._lines.items():
            with self._path(at).open("ab") as stream:
                stream.writelines(lines)
        self._with_lines.update(self._lines)
        self._lines.clear()
        self._size = 0

    def _path(self, at: int) -> Path:
        return self._folder / f"chunk-{at:05d}"


def ignored_keys(data: SplitData, facets: Iterable[str]) -> Sequence[str]:
    """Return the sorted keys of answers that are not facets of any case."""
    return sorted(data.keys - set(facets) - set(KEYS))
