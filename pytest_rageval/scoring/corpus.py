"""Locate the evidence of cases in the corpus of ``--corpus``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.locating import EvidenceLocator, names_of
from pytest_rageval.corpora.places import check_form, places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.case import Instance
from pytest_rageval.model.evidence import Chunk, EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.report.text.lines import counted

__all__ = ["CorpusLines", "decode_evidence", "locate_evidence"]


@dataclass(frozen=True, slots=True)
class CorpusLines:
    """The documents of a corpus and their chunking.

    Attributes:
        lines: lines like those of ``rag_corpus``, relative to the current folder.
        chunking: the chunking of the passages that rankings name, like ``rag_chunking``.
    """

    lines: tuple[str, ...]
    chunking: str


def locate_evidence(corpus: CorpusLines, instances: Sequence[Instance]) -> tuple[str, tuple[str, ...]]:
    """Return the places of the records' evidence, and warnings about evidence that the corpus lacks.

    The places are text, which can be sent to any process; `decode_evidence` reads it.

    Raises:
        DataError, SettingError: the corpus cannot be read, or a span is outside of its document.
    """
    formats, folder = Catalog().corpora, Path.cwd()
    check_form(corpus.lines, formats)
    locator = EvidenceLocator(instances)
    files = places(corpus.lines, folder, formats)
    names = names_of(passages(files, formats, parse_chunking(corpus.chunking), locator))
    locator.check()
    located = locator.located(names.__contains__)
    plain = {
        "places": [[asdict(unit), list(map(asdict, places))] for unit, places in located.places.items()],
        "chunks": {name: asdict(chunk) for name, chunk in located.chunks.items()},
        "names": sorted(names),
    }
    return json.dumps(plain), tuple(_missing(locator, instances))


def _missing(locator: EvidenceLocator, instances: Sequence[Instance]) -> list[str]:
    missing = [instance for instance in instances if not locator.has_whole(instance)]
    if not missing:
        return []
    count = f"{len(missing)} of {counted(len(instances), 'case')} with evidence"
    what = f"the corpus does not hold the evidence of {count}, and their rankings are unscored"
    return [f"{what} (evidence_not_in_corpus); the first at {missing[0].origin}; run rageval lint --corpus"]


def decode_evidence(text: str) -> LocatedEvidence:
    """Return the places from the text of `locate_evidence`."""
    plain = json.loads(text)
    units = ((_with_span(unit), places) for unit, places in plain["places"])
    return LocatedEvidence(
        places={
            EvidenceUnit(**unit): tuple(EvidencePlace(**_with_span(each)) for each in places) for unit, places in units
        },
        chunks={name: Chunk(**_with_span(chunk)) for name, chunk in plain["chunks"].items()},
        holds=frozenset(plain["names"]).__contains__,
    )


def _with_span(plain: dict[str, Any]) -> dict[str, Any]:
    """Return decoded fields with their span as a tuple."""
    span = plain["span"]
    return plain | {"span": tuple(span) if isinstance(span, list) else None}
