"""Encode the records of other dataset formats as lines of chunks."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.codec import encode_instance
from pytest_rageval.model.derived_codec import decoder

__all__ = ["JSONL", "decode_record", "encode_record", "instances_at"]

JSONL = "jsonl"
"""The format that is read as a stream; chunks contain the lines of its files unchanged."""


def instances_at(form: str, path: Path, name: str) -> tuple[Instance, ...]:
    """Return the records of a dataset.

    Raises:
        DataError: it cannot be read, or has no record.
    """
    instances = tuple(Catalog().datasets.get(form)(path))
    if not instances:
        raise DataError(name, "the dataset has no record; it needs at least one")
    return instances


def encode_record(instance: Instance) -> bytes:
    """Return a record as a line of JSON."""
    passages = instance.passages
    plain = {
        "id": instance.id,
        "record": encode_instance(instance),
        "passages": None if passages is None else [_plain(each) for each in passages],
        "facets": dict(instance.facets),
        "language": instance.language,
        "answerable": instance.answerable,
    }
    return json.dumps(plain).encode()


def decode_record(line: str) -> Instance:
    """Return the record from a line of `encode_record`."""
    plain: dict[str, Any] = json.loads(line)
    values = {name: plain[name] for name in ("facets", "language", "answerable")}
    instance: Instance = decoder(Instance)(plain["record"], plain["id"], **values)
    passages = plain["passages"]
    return replace(instance, passages=None if passages is None else tuple(map(_passage, passages)))


def _plain(passage: Passage) -> dict[str, Any]:
    """Return all fields of a passage; results.json does not store all of them."""
    return {each.name: getattr(passage, each.name) for each in fields(Passage)} | {"metadata": dict(passage.metadata)}


def _passage(plain: dict[str, Any]) -> Passage:
    return Passage(**plain | {"span": plain["span"] and tuple(plain["span"])})
