"""Sphinx: MyST Markdown pages, the furo theme, and a table of contents made of the links in index.md."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from typing import Any

from pygments.lexers import JsonLexer, TextLexer

project = "pytest-rageval"
author = "the pytest-rageval authors"
version = release = installed("pytest-rageval")

extensions = ["myst_parser"]
html_theme = "furo"
smartquotes = False  # "--option" is no dash
html_extra_path = ["llms.txt"]
html_title = f"pytest-rageval {release}"
myst_heading_anchors = 4
exclude_patterns = ["_build"]

_SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<page>[\w/-]+)\.md\)")


def add_toctrees(app: Any, docname: str, source: list[str]) -> None:
    """Append a hidden toctree for each section of index.md, so that the page itself stays plain Markdown."""
    if docname != "index":
        return
    _, *parts = _SECTION.split(source[0])
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        pages = list(dict.fromkeys(_LINK.findall(text)))
        if pages:
            source[0] += "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```", ""])


def setup(app: Any) -> None:
    """Connect the table of contents, and color blocks that Pygments has no name for."""
    app.connect("source-read", add_toctrees)
    app.add_lexer("jsonl", JsonLexer)
    app.add_lexer("csv", TextLexer)
