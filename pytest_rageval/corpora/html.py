"""The format ``html``: the visible text of a file is one document."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import text_of

__all__ = ["read"]

_HIDDEN = frozenset({"script", "style", "title"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | {
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "legend", "li", "main", "nav", "ol", "option",
    "p", "pre", "section", "summary", "table", "tbody", "textarea", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_CELLS = frozenset({"td", "th"})


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield the file as one document: one line per block, without scripts and styles.

    The document's title is ``<title>``, otherwise the first heading.
    """
    page = _Page()
    page.feed(text_of(path))
    page.close()
    yield Document(name, _join(page.text), " ".join(_join(page.title or page.heading).split()))


class _Page(HTMLParser):
    """Collects the visible text of a page.

    Attributes:
        text: pieces of the text, with a line break between blocks.
        title: pieces of the first ``<title>``.
        heading: pieces of the first heading.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.title: list[str] = []
        self.heading: list[str] = []
        self._hidden_tag: str | None = None
        self._heading_tag: str | None = None
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden_tag = tag
        elif tag in _HEADINGS and not any(map(str.strip, self.heading)):
            self._heading_tag = tag
        self._pre += tag == "pre"
        self._separate(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden_tag:
            self._hidden_tag = None
        if tag == self._heading_tag:
            self._heading_tag = None
        self._pre -= tag == "pre" and self._pre > 0
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        data = data.replace("\0", "\ufffd")
        if not self._pre:
            data = data.replace("\n", " ")
        if self._hidden_tag == "title":
            self.title.append(data)
        elif self._hidden_tag is None:
            self.text.append(data)
            if self._heading_tag:
                self.heading.append(data)

    def _separate(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.text.append("\n")
        elif tag in _CELLS:
            self.text.append(" ")


def _join(pieces: list[str]) -> str:
    """Return the non-blank lines of the pieces, with single spaces."""
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)
