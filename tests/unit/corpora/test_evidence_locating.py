"""Evidence located in the documents and chunks of a corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.locating import EvidenceLocator, located_in
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.evidence import Chunk, EvidencePlace, EvidenceUnit
from pytest_rageval.registry import Registry

VISIT = "# Visit\n\nThe museum  OPENS\nat 9:00, not at 8:00. It opens at 9:00.\n"
QUOTE = EvidenceUnit("visit.md", "opens at 9:00")


def locate(
    folder: Path, *units: EvidenceUnit, chunking: str = "tokens 4 1", entry: str = "*.md"
) -> tuple[EvidenceLocator, list[Passage]]:
    formats: Registry[Reader] = Registry("corpus format", BUILTIN)
    locator = EvidenceLocator([Instance("q1", "?", evidence=(units,), origin="cases.jsonl:1")])
    chunks = passages(places((entry,), folder, formats), formats, parse_chunking(chunking), locator)
    return locator, list(chunks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visit.md").write_text(VISIT, encoding="utf-8")
    (tmp_path / "shop.md").write_text("# Shop\n\nIt opens at 9:00.", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("chunking", ["none", "tokens 4 1", "sentences 1", "sections"])
def test_each_occurrence_of_a_quote_in_its_page_is_a_place(folder: Path, chunking: str) -> None:
    locator, _ = locate(folder, QUOTE, chunking=chunking)
    places = locator.located(lambda name: False).places[QUOTE]
    first, second = VISIT.index("OPENS"), VISIT.rindex("opens")
    assert places == (
        EvidencePlace("visit.md", (first, first + 13), "OPENS\nat 9:00"),
        EvidencePlace("visit.md", (second, second + 13), "opens at 9:00"),
    )


def test_the_order_of_evidence_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from pytest_rageval.corpora.document import Document\n"
        "from pytest_rageval.corpora.locating import EvidenceLocator\n"
        "from pytest_rageval.model.case import Instance\n"
        "from pytest_rageval.model.evidence import EvidenceUnit\n"
        "pages = [page for at in range(9) for page in (f'd{at}', f'p{at}')]\n"
        "evidence = (tuple(EvidenceUnit(page, 'opens') for page in pages),)\n"
        "locator = EvidenceLocator([Instance('q1', '?', evidence=evidence)])\n"
        "for at in range(9):\n"
        "    locator.look(Document(f'd{at}', 'It opens.', page=f'p{at}'), ())\n"
        "print([unit.page for unit in locator.located(str).places] == pages)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"


def test_a_span_counts_code_points(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("🙂 中文 text", encoding="utf-8")
    unit = EvidenceUnit("a.md", span=(2, 4))
    locator, _ = locate(tmp_path, unit)
    assert locator.located(lambda name: False).places == {unit: (EvidencePlace("a.md", (2, 4), "中文"),)}


def test_chunks_of_a_document_with_evidence_have_their_spans(folder: Path) -> None:
    locator, passages_read = locate(folder, QUOTE)
    chunks = locator.located(lambda name: False).chunks
    expected = {p.id: Chunk("visit.md", p.span or (0, 0), p.text) for p in passages_read if p.page == "visit.md"}
    assert chunks == expected
    assert all(VISIT[slice(*chunk.span)] == chunk.text for chunk in chunks.values())


def test_a_whole_document_is_one_chunk(folder: Path) -> None:
    locator, _ = locate(folder, QUOTE, chunking="none")
    assert locator.located(lambda name: False).chunks == {"visit.md": Chunk("visit.md", (0, len(VISIT)), VISIT)}


def test_a_quote_is_searched_in_all_documents_of_its_page(tmp_path: Path) -> None:
    records = [{"id": f"v{n}", "page": "visit", "text": text} for n, text in enumerate(["It opens at 9:00.", "Free."])]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    unit = EvidenceUnit("visit", "opens at 9:00")
    locator, _ = locate(tmp_path, unit, chunking="none", entry="jsonl:corpus.jsonl")
    assert locator.located(lambda name: False).places == {unit: (EvidencePlace("v0", (3, 16), "opens at 9:00"),)}


@pytest.mark.parametrize(
    ("unit", "problem"),
    [
        (
            EvidenceUnit("visit.md", "opens at 10:00"),
            "the quote 'opens at 10:00' of its evidence is not in the document",
        ),
        (
            EvidenceUnit("visits.md", "opens at 9:00"),
            "the corpus has no document 'visits.md', the page of its evidence",
        ),
    ],
)
def test_evidence_outside_the_corpus_is_missing(folder: Path, unit: EvidenceUnit, problem: str) -> None:
    locator, _ = locate(folder, QUOTE, unit)
    instance = Instance("q1", "?", evidence=((QUOTE, unit),))
    [(missing, reason)] = locator.missing(instance)
    assert missing == unit
    assert reason.startswith(problem)
    assert not locator.has_whole(instance)
    assert locator.has_whole(Instance("q1", "?", evidence=((unit,), (QUOTE,))))


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ((10, len(VISIT) + 1), f"is outside the document 'visit.md', which has {len(VISIT)} code points"),
        ((7, 9), "has only white space in the document 'visit.md'"),
    ],
)
def test_an_invalid_span_is_reported_with_its_line(folder: Path, span: tuple[int, int], problem: str) -> None:
    locator, _ = locate(folder, EvidenceUnit("visit.md", span=span))
    with pytest.raises(DataError) as error:
        locator.check()
    assert error.value.where == "cases.jsonl:1"
    assert error.value.problem == f"the span {list(span)} of its evidence {problem}; correct the span"


def test_a_span_may_cover_the_whole_document(folder: Path) -> None:
    unit = EvidenceUnit("visit.md", span=(0, len(VISIT)))
    locator, _ = locate(folder, unit)
    locator.check()
    assert locator.located(lambda name: False).places[unit][0].text == VISIT


def test_evidence_is_located_in_documents_and_chunks_of_a_fixture() -> None:
    instance = Instance("q1", "?", evidence=((QUOTE, EvidenceUnit("shop", span=(3, 8))),))
    begin = VISIT.index("OPENS")
    chunks = [
        Passage("v#1", VISIT[begin + 6 : begin + 20], page="visit.md", span=(begin + 6, begin + 20)),
        Passage("v#0", VISIT[: begin + 9], page="visit.md", span=(0, begin + 9)),
        Passage("shop", "It closes."),
    ]
    evidence = located_in(chunks, [instance])
    assert evidence.places == {
        QUOTE: (EvidencePlace("visit.md", (begin, begin + 13), "OPENS\nat 9:00"),),
        EvidenceUnit("shop", span=(3, 8)): (EvidencePlace("shop", (3, 8), "close"),),
    }
    assert evidence.chunks["v#1"] == Chunk("visit.md", (begin + 6, begin + 20), chunks[0].text)
    assert evidence.chunks["shop"] == Chunk("shop", (0, 10), "It closes.")
    assert [name for name in ("v#0", "v#2", "visit.md", "shop", "v") if evidence.holds(name)] == [
        "v#0",
        "visit.md",
        "shop",
    ]
