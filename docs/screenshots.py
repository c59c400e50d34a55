"""Take the screenshots of docs/: break the example, write its page, open it in Chromium, and play with it.

    python docs/screenshots.py

It needs Chromium, the `dev` extra, and about 30 seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
NAMES = ("chromium", "chromium-browser", "google-chrome")
WHOLE, CUT = "MOST_SENTENCES = 3", "MOST_SENTENCES = 1"


def main() -> None:
    """Write the images."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise SystemExit("docs/screenshots.py: no Chromium is installed; run apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        page_of_example(Path(name))
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
        page.goto((Path(name) / "page.html").as_uri())
        page.locator("html[data-ready]").wait_for(state="attached")
        take(page, "page")
        page.get_by_role("link", name="show ").first.click()
        page.locator("#case-title").scroll_into_view_if_needed()
        take(page, "case")
        page_of_play(Path(name) / "desk", browser.new_context(viewport=SIZE).new_page())  # type: ignore[arg-type]
        browser.close()


def page_of_play(desk: Path, page: Page) -> None:
    """Ask a case of the example on its page, leave a passage out, and take what stands there then."""
    source = desk / "assistant" / "desk.py"
    source.write_text(source.read_text(encoding="utf-8").replace(CUT, WHOLE))
    page.set_viewport_size({"width": 1280, "height": 1060})
    command = [sys.executable, "-c", "from pytest_rageval.cli import main; raise SystemExit(main())"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        [*command, "play", "--no-browser"], cwd=desk, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        address = (server.stdout or sys.stdin).readline().split()[2]
        page.goto(address)
        page.locator("[data-ready=yes]").wait_for(state="attached", timeout=120_000)
        page.locator("#words").fill("student pass address")
        page.locator("#found .pick").first.click()
        page.locator("#of-case").filter(has_text="[").wait_for()
        with page.expect_navigation():
            page.locator("#ask").click()
        page.locator("#passages .on").first.uncheck()
        with page.expect_navigation():
            page.locator("#again").click()
        take(page, "play")
    finally:
        server.terminate()
        server.wait()


def page_of_example(folder: Path) -> None:
    """Write the page of the example after its reader was cut to one sentence."""
    desk = shutil.copytree(ROOT / "example_project", folder / "desk", ignore=shutil.ignore_patterns(".rageval"))
    source = desk / "assistant" / "desk.py"
    source.write_text(source.read_text(encoding="utf-8").replace(WHOLE, CUT), encoding="utf-8")
    english = ("-m", "rag(language='en')")  # a machine without Chinese fonts draws boxes
    where = ("tests/town.rag.toml::town", "--rag-html", str(folder / "page.html"))
    command = [sys.executable, "-m", "pytest", *english, *where]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=desk, env=environment, check=False, stdout=subprocess.DEVNULL)


def take(page: Page, name: str) -> None:
    """Write what the window shows."""
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    main()
