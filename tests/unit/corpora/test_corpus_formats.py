"""Corpus formats: JSON Lines, BEIR, TSV, lines, text, Markdown and HTML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.document import Document
from pytest_rageval.errors import DataError
from pytest_rageval.registry import Registry

FORMATS: Registry[Reader] = Registry("corpus format", BUILTIN)
BOM = b"\xef\xbb\xbf"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(format_name: str, content: str | bytes, name: str = "file") -> list[Document]:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(FORMATS.get(format_name)(path, name))


def error_of(format_name: str, content: str | bytes) -> str:
    with pytest.raises(DataError) as caught:
        read(format_name, content)
    return str(caught.value)


def id_text_title(documents: Iterable[Document]) -> list[tuple[str, str, str]]:
    return [(document.id, document.text, document.title) for document in documents]


def test_corpus_records_have_an_id_a_text_and_any_other_fields() -> None:
    content = (
        '{"id": 7, "text": "Kettles boil.", "title": "Kettles", "page": "K", "year": 2021, "tags": ["a"]}\n'
        '{"id": "b", "text": "茶壶。"}'
    )
    full, short = read("jsonl", content)
    assert full == Document("7", "Kettles boil.", "Kettles", "K", {"year": 2021, "tags": ["a"]}, "file:1")
    assert short == Document("b", "茶壶。", where="file:2")


def test_a_byte_order_mark_crlf_and_blank_lines_are_accepted_in_records() -> None:
    content = BOM + b'{"id": 1, "text": "a"}\r\n\r\n   \n{"id": 2, "text": "b\\r\\n"}\r\n'
    assert [(d.id, d.text, d.where) for d in read("jsonl", content)] == [("1", "a", "file:1"), ("2", "b\r\n", "file:4")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1, "text": "a"}\n{"id": 2, "te', "file:2: invalid JSON at column 11 (Unterminated string starting"),
        (b'{"id": 1, "text": "a"}\n[1]\n', "file:2: found an array of 1 for a record, wanted a JSON object"),
        (b'{"id": 1}\n', "file:1: the field text is missing, wanted a string that is not empty"),
        (b'{"_id": 1, "text": "a"}\n', "file:1: the field id is missing, wanted an integer or a string"),
        (b'{"id": 1, "text": "  "}\n', "file:1: text: found '  ', wanted a string that is not empty"),
        (b'{"id": null, "text": "a"}\n', "file:1: id: found null, wanted an integer or a string that is not empty"),
        (b'{"id": 1, "text": "a", "title": 3}\n', "file:1: title: found 3, wanted a string"),
        (b'\n{"id": 1, "text": "caf\xe9"}\n', "file:2: byte 0xe9 at offset 23 is not UTF-8; save the file as UTF-8"),
        (b'{"id": 1, "text": "a\x00"}\n', "file:1: found a NUL byte, wanted UTF-8 text"),
        (b'{"id": 1, "text": "a\\u0000"}\n', "file:1: text: found a NUL character (\\u0000), wanted text"),
        (b'{"id": 1, "id": 2, "text": "a"}\n', "file:1: the key 'id' occurs twice in one object, wanted it once"),
    ],
)
def test_an_invalid_record_is_reported_with_its_line(content: bytes, message: str) -> None:
    assert error_of("jsonl", content).startswith(message)


def test_a_line_of_a_megabyte_is_one_document() -> None:
    text = "kettle " * 150_000
    assert [d.text for d in read("jsonl", json.dumps({"id": 1, "text": text}))] == [text]
    assert [d.text for d in read("lines", text)] == [text]


def test_beir_is_a_folder_with_a_corpus() -> None:
    folder = Path("scifact")
    content = (
        '{"_id": "4983", "title": "Water", "text": "Boils.", "metadata": {"url": "u"}, "year": 1}\n'
        '{"_id": "5", "title": "But a title", "text": "", "metadata": {}}\n'
    )
    read("beir", content, "scifact/corpus.jsonl")
    documents = list(FORMATS.get("beir")(folder, "scifact"))
    assert id_text_title(documents) == [("4983", "Boils.", "Water"), ("5", "But a title", "")]
    assert [dict(document.metadata) for document in documents] == [{"url": "u", "year": 1}, {}]
    assert documents[1].where == "scifact/corpus.jsonl:2"


def test_beir_without_a_corpus_or_a_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^corpus\.jsonl: no such file; a BEIR folder needs it$"):
        list(FORMATS.get("beir")(tmp_path, "."))
    message = "file:1: text: found '', wanted a string that is not empty, or a title"
    assert error_of("beir", '{"_id": "1", "title": " ", "text": ""}') == message
    assert error_of("beir", '{"_id": 1, "text": "a", "metadata": 3}') == "file:1: metadata: found 3, wanted an object"


TSV = [("1", 'He said "hi", twice.', "Greetings"), ("2", "Kettles\\boil", "")]


@pytest.mark.parametrize("header", ["", "id\ttext\ttitle\n", '"id"\t"text"\t"title"\r\n', "\ufeffID\tText\tTitle\n"])
@pytest.mark.parametrize(
    "rows",
    [
        '1\tHe said "hi", twice.\tGreetings\n2\tKettles\\boil\t\n',
        '1\t"He said ""hi"", twice."\tGreetings\n2\t"Kettles\\boil"\t\n',
        '"1"\t"He said ""hi"", twice."\t"Greetings"\r\n\r\n2\t"Kettles\\boil"\t""',
    ],
)
def test_tsv_is_read_with_and_without_quotes_and_header(header: str, rows: str) -> None:
    assert id_text_title(read("tsv", header + rows)) == TSV


def test_tsv_uses_the_columns_of_its_header() -> None:
    (document,) = read("tsv", 'title\tid\tpage\turl\ttext\nWater\t1\tP\tu\t"a\tb"')
    assert document == Document("1", "a\tb", "Water", "P", {"url": "u"}, "file:2")


def test_tsv_needs_no_titles() -> None:
    assert id_text_title(read("tsv", '1\ta "b\n2\t"c" d\n')) == [("1", 'a "b', ""), ("2", '"c" d', "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id\ttext\ttitle\n1\ta\n", "file:2: found 2 columns between tabs, wanted 3 (id, text, title), like the first"),
        (
            "1\ta\tb\n2\ta\tb\tc\n",
            "file:2: found 4 columns between tabs, wanted 3 (id, text, title), like the first line",
        ),
        ('1\ta\tb\n2\t"begins here\nand ends"\tc\n', "file:2: found 2 columns between tabs, wanted 3"),
        ("1,a,b\n", "file:1: found the columns '1,a,b', wanted id, text and title"),
        ("id\tcontents\n1\ta\n", "file:1: found the columns 'id', 'contents', wanted id, text and title"),
        ("id\ttext\ttext\n", "file:1: found the header 'id', 'text', 'text', wanted each name once"),
        ("1\t\tb\n", "file:1: text: found '', wanted a text that is not empty"),
        (' \t"a"\tb\n', "file:1: id: found ' ', wanted a text that is not empty"),
    ],
)
def test_an_invalid_row_is_reported_with_its_line(content: str, message: str) -> None:
    assert error_of("tsv", content).startswith(message)


def test_each_line_is_a_document_with_its_line_number_as_id() -> None:
    documents = read("lines", "\ufefffirst\r\n\n\u2028\n 第二 \n")
    assert [(d.id, d.text, d.where) for d in documents] == [
        ("file:1", "first", "file:1"),
        ("file:4", " 第二 ", "file:4"),
    ]


@pytest.mark.parametrize("format_name", ["html", "lines", "markdown", "text"])
def test_other_encodings_and_binary_files_are_refused_with_their_line(format_name: str) -> None:
    assert (
        error_of(format_name, b"ok\ncaf\xe9\n") == "file:2: byte 0xe9 at offset 6 is not UTF-8; save the file as UTF-8"
    )
    assert error_of(format_name, BOM + b"ok\n\xff").startswith("file:2: byte 0xff at offset 6 is not UTF-8")
    assert error_of(format_name, "text".encode("utf-16")).startswith("file:1: byte 0xff at offset 0 is not UTF-8")
    assert error_of(format_name, b"ok\n\na\x00b").startswith("file:3: found a NUL byte, wanted UTF-8 text")


def test_text_is_decoded_like_pythons_text_mode() -> None:
    assert id_text_title(read("text", BOM + b"One.\r\nTwo.\rThree.\n")) == [("file", "One.\nTwo.\nThree.\n", "")]
    assert Path("file").read_text("utf-8-sig") == "One.\nTwo.\nThree.\n"


def test_markdown_keeps_its_markup_and_first_heading_as_title() -> None:
    content = "---\ntitle: x\n---\n```\n# not this\n```\nIntro.\n\nTea *pots*\n=========\n\n## Later\n"
    assert id_text_title(read("markdown", content)) == [("file", content, "Tea *pots*")]
    assert read("markdown", "No heading.\n")[0].title == ""


def test_html_gives_one_line_per_block_of_visible_text() -> None:
    content = """<!doctype html><html><head><title>Tea &amp;
      pots</title><style>p {color: red}</style><script>var x = "<p>no</p>";</script></head>
      <body><h1>The <em>pot</em></h1><p>Boils at
      100&nbsp;&deg;C.<br>Never <b>mo</b>re.</p><ul><li>one<li>two</ul>
      <table><tr><th>a<td>1</tr></table><pre>x = 1
      y = 2</pre><!-- hidden --></body></html>"""
    ((_, text, title),) = id_text_title(read("html", content))
    assert title == "Tea & pots"
    assert text.split("\n") == ["The pot", "Boils at 100 °C.", "Never more.", "one", "two", "a 1", "x = 1", "y = 2"]


def test_html_without_a_title_is_titled_by_its_first_heading() -> None:
    assert id_text_title(read("html", "<h2> </h2><h3>Pots</h3><h1>Big</h1><p>a")) == [("file", "Pots\nBig\na", "Pots")]
    assert id_text_title(read("html", "just text")) == [("file", "just text", "")]
    assert id_text_title(read("html", "<script>all of it")) == [("file", "", "")]
