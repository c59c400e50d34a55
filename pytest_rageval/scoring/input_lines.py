"""Read a chunk of work: lines ``FILE:LINE<tab>JSON`` with cases and their recorded answers."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.datasets.recorded import Recorded, read_recorded
from pytest_rageval.datasets.source import read_line
from pytest_rageval.errors import short_repr
from pytest_rageval.model.case import Instance
from pytest_rageval.scoring.job import Job
from pytest_rageval.scoring.record_lines import JSONL, decode_record

__all__ = ["read_chunk"]


def read_chunk(job: Job, chunk: bytes) -> tuple[dict[int, list[Instance]], list[Recorded]]:
    """Return a chunk's records (file number -> records, sorted by id) and its recorded answers.

    Raises:
        DataError: a line is invalid, or a duplicate.
    """
    datasets = {testbed.file: testbed.dataset for testbed in job.testbeds}
    forms = {testbed.file: testbed.form for testbed in job.testbeds}
    cases: dict[int, list[Instance]] = {}
    rows: list[Recorded] = []
    seen: dict[object, tuple[int, int]] = {}
    for line in chunk.decode("utf-8").split("\n")[:-1]:
        place, _, text = line.partition("\t")
        first, _, second = place.partition(":")
        file, number = int(first), int(second)
        name = job.files[file]
        if forms.get(file, JSONL) != JSONL:
            instance = decode_record(text)
            _claim(seen, instance.id, instance.id, job, (file, number))
            cases.setdefault(file, []).append(instance)
            continue
        record = Fields(f"{name}:{number}", read_line(text, name, number) or {})
        if file in datasets:
            instance = read_instance(record, datasets[file])
            _claim(seen, instance.id, instance.id, job, (file, number))
            cases.setdefault(file, []).append(instance)
        else:
            row = read_recorded(record)
            key = (row.id, row.system, tuple(sorted(row.where.items())) if row.where else ())
            _claim(seen, key, row.id, job, (file, number))
            rows.append(row)
    for instances in cases.values():
        instances.sort(key=lambda instance: instance.id)
    return cases, rows


def _claim(seen: dict[object, tuple[int, int]], key: object, name: str, job: Job, at: tuple[int, int]) -> None:
    """Record that a line uses the key of a case or an answer; raise for a duplicate, also in another file."""
    if key in seen:
        file, line = seen[key]
        of_case = f"the id {short_repr(name)}"
        what = of_case if key == name else f"an answer of the same system to the case {short_repr(name)}"
        claim({key: line}, key, what if file == at[0] else f"{what} of {job.files[file]}", job.files[at[0]], at[1])
    seen[key] = at
