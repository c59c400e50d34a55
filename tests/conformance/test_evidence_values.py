"""Compare values by evidence with ir_measures' values of qrels, on disjoint chunks of a real corpus.

If each unit lies in one chunk, and no chunk has two units, both judge the same passages. The test cuts the chunks and
chooses the units while it runs; nothing of the corpus is stored in the repository.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.model.evidence import EvidenceUnit
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from pytest_rageval.registry import Registry

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures, whose values ours shall equal, is not installed")

NAMES = ("AP", "AP@3", "P@1", "P@5", "R@1", "R@5", "R@20", "RR", "Rprec", "Success@2", "nDCG", "nDCG@5")
CASES, PAGES = 60, 40


@pytest.fixture(scope="module")
def documents(rageval_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with some documents of the corpus, one a line."""
    source = rageval_data / "crud" / "documents_part_1_1.txt"
    if not source.exists():
        pytest.skip("the public data has no crud/documents_part_1_1.txt")
    lines = list(dict.fromkeys(source.read_text(encoding="utf-8").splitlines()))
    folder = tmp_path_factory.mktemp("evidence")
    (folder / "docs.txt").write_text("\n".join(lines[:: len(lines) // PAGES][:PAGES]), encoding="utf-8")
    return folder


def read(folder: Path, locator: EvidenceLocator | None = None) -> Iterator[Passage]:
    formats: Registry[Reader] = Registry("corpus format", BUILTIN)
    return passages(places(("lines:docs.txt",), folder, formats), formats, parse_chunking("tokens 60"), locator)


def labelled_records(chunks: list[Passage]) -> Iterator[tuple[Instance, list[str]]]:
    """Yield records with a ranking of chunks for each; a unit is the inner text of a chunk."""
    rng = random.Random(20)
    once = [chunk for chunk in chunks if sum(chunk.text[4:44] in other.text for other in chunks) == 1]
    for number in range(CASES):
        gold_chunks = rng.sample(once, rng.randint(1, 4))
        units = tuple(
            EvidenceUnit(chunk.page, chunk.text[4:44], grade=rng.randint(1, 3))
            if rng.random() < 0.5
            else EvidenceUnit(chunk.page, span=_inside(chunk), grade=rng.randint(1, 3))
            for chunk in gold_chunks
        )
        qrels = {chunk.id: unit.grade for chunk, unit in zip(gold_chunks, units, strict=True)}
        ranking = rng.sample([*gold_chunks, *rng.sample(chunks, 12)], 9)
        ids = list(dict.fromkeys(chunk.id for chunk in ranking))
        yield Instance(f"q{number}", "?", qrels=qrels, evidence=(units,)), ids


def _inside(chunk: Passage) -> tuple[int, int]:
    assert chunk.span is not None
    return chunk.span[0] + 2, chunk.span[1] - 2


def test_values_equal_those_of_qrels_over_the_same_chunks(documents: Path) -> None:
    records = list(labelled_records([chunk for chunk in read(documents) if len(chunk.text) > 60]))
    locator = EvidenceLocator(instance for instance, _ in records)
    chunk_ids = {chunk.id for chunk in read(documents, locator)}
    locator.check()
    located = locator.located(chunk_ids.__contains__)
    measures = [ir_measures.parse_measure(name) for name in NAMES]
    metrics = Catalog().metrics
    for instance, ids in records:
        assert locator.has_whole(instance)
        ranking = Ranking(tuple(map(ScoredPassage, ids)))
        sample = Sample(Case("q", instance, None, {}, located=located), Answer("", ranking))
        run = {name: float(-rank) for rank, name in enumerate(ids)}
        theirs = ir_measures.iter_calc(measures, {"q": dict(instance.qrels)}, {"q": run})
        expected = {str(each.measure): each.value for each in theirs}
        assert {name: metrics.get(name).compute(sample).value for name in NAMES} == pytest.approx(expected)
