"""Report pages in headless Chromium; a test fails if a page uses the network or reports an error."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.report.html.page import write_html
from pytest_rageval.report.html.text_selection import HtmlCases

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

__all__ = ["Opener", "chromium", "golden", "opened", "violations", "violations_in_each_scheme"]

Opener = Callable[..., "Page"]

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one has no window and takes half of the time."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return a headless Chromium; it ends with the module, because other tests run their own event loops."""
    play = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install -e '.[dev]')")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium to open pages with (apt-get install chromium-headless-shell)")
    with play.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Return a function that writes results as a page and opens it; no page may use the network or report an error."""
    faults: list[str] = []
    requested_urls: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(
        results: Mapping[str, Any],
        at: str = "",
        *,
        width: int = 1280,
        scheme: Any = "light",
        runs: Path | None = None,
        cases: HtmlCases = "all",
    ) -> Page:
        path = tmp_path / f"page-{len(contexts)}.html"
        write_html(path, results, runs, cases)
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requested_urls.append(request.url.partition("#")[0]))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
        page.goto(path.as_uri() + at)
        page.locator("html[data-ready]").wait_for(state="attached")
        assert page.locator("html").get_attribute("data-ready") == "yes", page.get_by_role("alert").all_inner_texts()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    assert {url.partition(":")[0] for url in requested_urls} <= {"file"}
    assert {url.rpartition("/")[2].partition("-")[0] for url in requested_urls} <= {"page"}


@pytest.fixture
def golden(fixtures_dir: Path) -> dict[str, Any]:
    """Return the results of ``fixtures/html/results.json``."""
    loaded: dict[str, Any] = json.loads((fixtures_dir / "html" / "results.json").read_text(encoding="utf-8"))
    return loaded


def violations(page: Page) -> list[str]:
    """Return the violations that axe-core finds in a page; skip the test if axe-core is missing."""
    path = Path(os.environ.get("RAGEVAL_AXE") or "axe.min.js")
    if not path.is_file():
        pytest.skip("axe-core is not available (npm pack axe-core, and name its axe.min.js in RAGEVAL_AXE)")
    source = path.read_text(encoding="utf-8")
    page.context.new_cdp_session(page).send("Runtime.evaluate", {"expression": source})  # the page's policy forbids it
    results = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in results for node in each["nodes"]]


def violations_in_each_scheme(page: Page) -> list[str]:
    """Return the violations that axe-core finds in light and in dark colours; the page stays dark."""
    results = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results += [f"{scheme}: {each}" for each in violations(page)]
    return results
