"""The environment ``wiki``: open a page by title, and look up words in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_rageval.environments.environment import TIMEOUT_S, Environment
from pytest_rageval.environments.pages import Page, Pages, folded, paragraphs
from pytest_rageval.environments.parts import EnvironmentParts
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool, ToolResult
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.text.sentences import sentences

__all__ = ["Wiki", "build", "tools_over"]

UNITS: dict[str, Callable[[str], Sequence[str]]] = {"sentence": sentences, "paragraph": paragraphs}
"""Value of the option ``lookup`` -> the units that Lookup searches."""


def build(parts: EnvironmentParts) -> Environment:
    """Return the wiki environment over a corpus.

    Options: ``corpus`` (a line as in ``rag_corpus``; default: the session's corpus), ``lookup`` (``sentence`` or
    ``paragraph``), ``timeout`` and ``record``.

    Raises:
        SettingError: an option is invalid, or there is no corpus.
    """
    line, lookup = parts.options.text("corpus"), parts.options.choice("lookup", "sentence", tuple(UNITS))
    timeout = parts.options.seconds("timeout", TIMEOUT_S)
    record = parts.options.flag("record", default=False)
    parts.options.finish()
    parts.corpora.check(line)

    def load() -> Callable[[], Sequence[Tool]]:
        return tools_over(Pages(parts.corpora.read(line), parts.store), lookup)

    return Environment(parts.name, load, timeout, record)


def tools_over(pages: Pages, lookup: str = "sentence") -> Callable[[], Sequence[Tool]]:
    """Return the function that makes the tools of one case."""
    return lambda: Wiki(pages, UNITS[lookup]).tools


class Wiki:
    """The wiki state of one case: the current page, and the position of Lookup in it.

    A failed search keeps the current page, like ReAct's original environment and unlike LangChain's docstore.

    Args:
        pages: all pages.
        units: cuts a page's text into the units that Lookup searches.
    """

    def __init__(self, pages: Pages, units: Callable[[str], Sequence[str]]) -> None:
        self._pages = pages
        self._units = units
        self._page: Page | None = None
        self._keyword = ""
        self._next = 0

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools Search and Lookup."""
        return (
            Tool(
                "Search",
                "Open the page with this title and show its first paragraph; list similar titles if there is none.",
                _one_text("title", "The title of a page."),
                self.search,
            ),
            Tool(
                "Lookup",
                "Show the next place in the current page that contains this keyword.",
                _one_text("keyword", "A word or phrase."),
                self.lookup,
            ),
        )

    def search(self, title: str) -> ToolResult:
        """Open a page; if no page has the title, list similar ones and stay on the current page."""
        if not title.strip():
            raise InvalidArgumentsError("Search needs the title of a page.")
        page = self._pages.find(title.strip())
        if page is None:
            similar = "; ".join(self._pages.similar(title))
            suggestion = f" Similar: {similar}." if similar else ""
            return ToolResult(f"Could not find {title.strip()}.{suggestion}", found=False)
        self._page, self._keyword, self._next = page, "", 0
        return _shown(page, page.summary, page.summary)

    def lookup(self, keyword: str) -> ToolResult:
        """Show the next unit of the current page that contains a keyword."""
        wanted = folded(keyword)
        if not wanted:
            raise InvalidArgumentsError("Lookup needs a keyword.")
        if self._page is None:
            return ToolResult("No page yet: use Search first.", found=False)
        if wanted != self._keyword:
            self._keyword, self._next = wanted, 0
        places = [unit for unit in self._units(self._page.text) if wanted in folded(unit)]
        if self._next >= len(places):
            return ToolResult("No more results." if places else "No results.", found=False)
        unit = places[self._next]
        self._next += 1
        return _shown(self._page, unit, f"(Result {self._next} / {len(places)}) {unit}")


def _shown(page: Page, text: str, observation: str) -> ToolResult:
    """Return an observation of a page; its passage has the text that is shown."""
    return ToolResult(observation, (ScoredPassage(page.id, text=text, title=page.title, page=page.id),), found=True)


def _one_text(name: str, description: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": description}}
    return {"type": "object", "properties": properties, "required": [name], "additionalProperties": False}
