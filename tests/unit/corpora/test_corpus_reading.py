"""Passages of a corpus: ids, chunks, errors and memory."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_rageval.corpora.chunking import Chunking
from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.model.case import Passage


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**contents: str) -> None:
    for name, content in contents.items():
        Path(name.replace("_", ".")).write_text(content, encoding="utf-8")


def read(*entries: str, chunking: Chunking | None = None, catalog: Catalog | None = None) -> Iterator[Passage]:
    formats = (catalog or Catalog()).corpora
    return passages(places(entries, Path.cwd(), formats), formats, chunking or Chunking())


def error_of(*entries: str, catalog: Catalog | None = None) -> str:
    with pytest.raises((DataError, SettingError)) as caught:
        list(read(*entries, catalog=catalog))
    return str(caught.value)


def test_whole_documents_keep_their_ids_and_texts() -> None:
    write(a_jsonl='{"id": "d1", "text": " One. ", "title": "T", "year": 2}\n{"id": "d2", "text": "Two.", "page": "P"}')
    assert list(read("a.jsonl")) == [
        Passage("d1", " One. ", "T", page="d1", metadata={"year": 2}),
        Passage("d2", "Two.", page="P"),
    ]


def test_chunks_are_numbered_and_have_their_page_and_span() -> None:
    text = "First one.  Second one.\nThird."
    write(a_txt=text)
    passages = list(read("a.txt", chunking=Chunking("sentences", 2, 1)))
    assert passages == [
        Passage("a.txt#0", "First one.  Second one.", page="a.txt", span=(0, 23)),
        Passage("a.txt#1", "Second one.\nThird.", page="a.txt", span=(12, 30)),
    ]


def test_ids_that_look_like_chunks_do_not_collide_after_chunking() -> None:
    write(a_jsonl="".join(f'{{"id": "{name}", "text": "One. Two."}}\n' for name in ("a", "a#0", "a#1", "a#0#1")))
    ids = [passage.id for passage in read("a.jsonl", chunking=Chunking("sentences", 1))]
    assert len(ids) == len(set(ids)) == 8
    assert ids[:4] == ["a#0", "a#1", "a#0#0", "a#0#1"]


def test_a_duplicate_id_is_reported_with_both_places() -> None:
    write(
        a_jsonl='{"id": "d1", "text": "One."}\n\n{"id": "d2", "text": "Two."}',
        b_jsonl='{"id": "d3", "text": "Three."}\n{"id": "d2", "text": "Two."}',
    )
    assert error_of("*.jsonl") == "b.jsonl:2: duplicate id 'd2', first used in a.jsonl:3"
    assert error_of("a.jsonl", "jsonl:a.jsonl") == "a.jsonl:1: duplicate id 'd1', first used in a.jsonl:1"


def test_a_file_without_a_document_or_without_a_text_is_refused() -> None:
    write(a_txt=" \n", b_jsonl="\n\n", c_html="<script>x</script>", d_tsv="id\ttext\n", e_md="")
    assert error_of("a.txt") == "a.txt: the document has no text; add a text or remove the document"
    assert error_of("e.md") == "e.md: the document has no text; add a text or remove the document"
    assert error_of("c.html") == "c.html: the document has no text; add a text or remove the document"
    assert error_of("b.jsonl") == "b.jsonl: has no document; it needs at least one"
    assert error_of("d.tsv") == "d.tsv: has no document; it needs at least one"


def test_passages_are_read_lazily() -> None:
    write(a_jsonl='{"id": "d1", "text": "One."}\n{"id": "d2"}\n')
    stream = read("a.jsonl")
    assert next(stream).id == "d1"
    with pytest.raises(DataError, match=r"^a\.jsonl:2: the field text is missing"):
        next(stream)


def test_a_custom_format_is_read_and_its_errors_are_reported() -> None:
    def pairs(path: Path, name: str) -> Iterator[Document]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            yield Document(f"{name}/{number}", line.upper())

    catalog = Catalog()
    catalog.corpora.register("pairs", pairs)
    catalog.corpora.register("broken", lambda path, name: [1 / 0 for _ in name])  # type: ignore[misc]
    catalog.corpora.register("tuples", lambda path, name: [("d1", "text")])  # type: ignore[list-item]
    write(a_dat="one\ntwo")
    assert [(p.id, p.text) for p in read("pairs:a.dat", catalog=catalog)] == [("a.dat/0", "ONE"), ("a.dat/1", "TWO")]
    problem = "rag_corpus: the reader of 'broken' failed on a.dat: ZeroDivisionError: division by zero"
    assert error_of("broken:a.dat", catalog=catalog) == problem
    problem = "rag_corpus: the reader of 'tuples' yielded ('d1', 'text'), wanted Document(id, text, title) with strings"
    assert error_of("tuples:a.dat", catalog=catalog) == problem


@pytest.mark.parametrize("chunking", [Chunking(), Chunking("sentences", 20)])
def test_a_corpus_is_never_in_memory_twice(chunking: Chunking) -> None:
    write(a_jsonl="".join(f'{{"id": {n}, "text": "{"Water boils at some heat. " * 100}"}}\n' for n in range(500)))
    assert sum(1 for _ in read("a.jsonl", chunking=chunking)) >= 500  # the first use imports modules and fills caches
    tracemalloc.start()
    try:
        corpus = tuple(read("a.jsonl", chunking=chunking))
        current, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert current > sum(len(passage.text) for passage in corpus)
    assert peak < 1.1 * current


def test_rgb_has_each_text_of_all_records_and_files_once() -> None:
    records = [
        {"id": 1, "query": "Q?", "answer": "A", "positive": ["茶。", "b"], "negative": ["c"]},
        {"id": 2, "query": "Q?", "answer": "A", "positive": [["c"], ["b", "e"]], "negative": ["茶。", "f", "f"]},
        {"id": 3, "query": "Q?", "answer": "A", "fakeanswer": "F", "positive": ["g"], "positive_wrong": ["h"],
         "negative": []},
    ]  # fmt: skip
    write(en_json="\n".join(map(json.dumps, records)), zh_json=json.dumps({**records[0], "negative": ["z"]}))
    passages = list(read("rgb:en.json", "rgb:zh.json"))
    assert [passage.text for passage in passages] == ["茶。", "b", "c", "e", "f", "g", "h", "z"]
    assert passages[1].id == passages[1].page == hashlib.sha256(b"b").hexdigest()[:12]
    assert [passage.id for passage in passages] == [content_id(passage.text) for passage in passages]
    chunks = list(read("rgb:en.json", "rgb:zh.json", chunking=Chunking("tokens", 1)))
    assert chunks[0].page == passages[0].id
    assert len({chunk.id for chunk in chunks}) == len(chunks)
