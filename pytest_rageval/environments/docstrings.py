"""Parse the description and the parameters in a Google, NumPy or Sphinx docstring."""

from __future__ import annotations

import inspect
import re

__all__ = ["parse_docstring"]

_SPHINX = re.compile(r":(?:param|parameter|arg|argument)\s+(?:[^:\n]*\s)?\*{0,2}(\w+)\s*:[ \t]*(.*)")
_SPHINX_FIELD = re.compile(r":\w[^:\n]*:")
_GOOGLE = re.compile(r"(?:Args|Arguments|Parameters)\s*:\s*")
_GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SECTION = re.compile(r"[A-Z][A-Za-z ]*:\s*")
_RULE = re.compile(r"-{3,}\s*")


def parse_docstring(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Return the text before the sections of a docstring, and parameter -> description."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    end = next((at for at in range(len(lines)) if _begins_sections(lines, at)), len(lines))
    return _join_lines(lines[:end]), {**_google(lines), **_numpy(lines), **_sphinx(lines)}


def _begins_sections(lines: list[str], at: int) -> bool:
    line = lines[at]
    followed = at + 1 < len(lines) and bool(lines[at + 1].strip())
    if _SPHINX_FIELD.match(line) or (_is_heading(lines, at) and at > 0):
        return True
    return bool(_SECTION.fullmatch(line)) and followed and lines[at + 1][:1].isspace()


def _is_heading(lines: list[str], at: int) -> bool:
    """Return whether a line is underlined, like NumPy's headings."""
    return bool(lines[at].strip()) and at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1]) is not None


def _google(lines: list[str]) -> dict[str, str]:
    start = next((at for at, line in enumerate(lines) if _GOOGLE.fullmatch(line)), None)
    if start is None:
        return {}
    section = []
    for line in lines[start + 1 :]:
        if line.strip() and not line[:1].isspace():
            break
        section.append(line)
    return _items(inspect.cleandoc("\n".join(["", *section])).splitlines(), _GOOGLE_ITEM)


def _numpy(lines: list[str]) -> dict[str, str]:
    headings = [at for at in range(len(lines)) if _is_heading(lines, at)]
    start = next((at for at in headings if lines[at].strip() == "Parameters"), None)
    if start is None:
        return {}
    end = next((at for at in headings if at > start), len(lines))
    return _items(lines[start + 2 : end], _NUMPY_ITEM)


def _sphinx(lines: list[str]) -> dict[str, str]:
    descriptions: dict[str, str] = {}
    name = ""
    for line in lines:
        item = _SPHINX.match(line)
        if item:
            name = item[1]
            descriptions[name] = item[2].strip()
        elif _SPHINX_FIELD.match(line) or not line.strip():
            name = ""
        elif name:
            descriptions[name] = f"{descriptions[name]} {line.strip()}".strip()
    return descriptions


def _items(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Return the parameters of a section: a line without indent names them, indented lines describe them."""
    descriptions: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        item = None if line[:1].isspace() else pattern.fullmatch(line)
        if item:
            names = [each.strip().lstrip("*") for each in item[1].split(",")]
            descriptions.update(dict.fromkeys(names, item[2].strip() if pattern.groups > 1 else ""))
        elif line.strip():
            descriptions.update({name: f"{descriptions[name]} {line.strip()}".strip() for name in names})
    return descriptions


def _join_lines(lines: list[str]) -> str:
    """Join lines into one text; blank lines still separate paragraphs."""
    paragraphs = "\n".join(line.strip() for line in lines).strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())
