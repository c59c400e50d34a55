"""`rageval play` in Chromium: questions, passages by mouse and keys, cases, chains, a phone."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.browser.opened_pages import violations_in_each_scheme
from support.projects.play_project import FILES, PlayPage, play_project, run_tests, slow_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Opener = Callable[..., "Page"]

CHAIN = """\
[[action]]
name = "found"
do = "retrieve"
query = "{question}"
k = 1

[[action]]
name = "reply"
do = "generate"
prompt = "{found} {question}"
"""


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlayPage]:
    """Return a running page over a project with a stored run."""
    systems = FILES["pyproject.toml"].replace('"steps:', '"ours: chain:ours.toml", "steps:')
    project = play_project(tmp_path_factory.mktemp("town"), **{"ours.toml": CHAIN, "pyproject.toml": systems})
    run_tests(project)
    with PlayPage(project) as page:
        page.wait()
        yield page


@pytest.fixture
def opened(chromium: Browser, play: PlayPage) -> Iterator[Opener]:
    """Return a function that opens the page; check that it uses no other host and reports no fault."""
    faults: list[str] = []
    requested_urls: list[str] = []
    fresh = {"version": play.client.get("/api/state").json()["version"], "case": "", "fresh": True}
    assert play.client.put("/api/draft", json=fresh).status_code == 200  # an earlier test left a case open

    def open_page(path: str = "", *, width: int = 1280, height: int = 800) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("request", lambda request: requested_urls.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.goto(play.url)
        page.goto(play.base + path)
        return page

    yield open_page
    for context in list(chromium.contexts):
        context.close()
    assert [url for url in requested_urls if not url.startswith(play.origin)] == []
    assert faults == []


def pick_case(page: Page, words: str) -> None:
    page.locator("#find summary").click() if not page.locator("#words").is_visible() else None
    page.locator("#words").fill(words)
    with page.expect_navigation():
        page.locator("#found .pick").filter(has_text=words).first.click()
    page.locator("#of-case").filter(has_text="[").wait_for()


def ask(page: Page, name: str = "Ask") -> str:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()
    return page.locator("#last .answer").last.inner_text()


def passage_ids(page: Page) -> list[str]:
    return page.locator("#passages .passage-bar b").all_inner_texts()


def test_keys_leave_out_and_move_the_passages_of_a_case(opened: Opener) -> None:
    page = opened()
    pick_case(page, "castle")
    assert "11:00" in ask(page)
    assert passage_ids(page) == ["wrong", "right", "noise"]
    assert page.locator(".passage.fake").count() == 1
    page.get_by_label("wrong", exact=True).focus()
    page.keyboard.press("Space")
    page.get_by_label("right", exact=True).focus()
    page.keyboard.press("Alt+ArrowDown")
    assert passage_ids(page) == ["wrong", "noise", "right"]
    page.keyboard.press("g")
    page.wait_for_url("**/")
    page.get_by_role("heading", name="Before").wait_for()
    assert "11:00" not in page.locator("#last .answer").last.inner_text()
    assert page.locator("del").count() > 0
    assert passage_ids(page) == ["wrong", "noise", "right"]
    assert not page.get_by_label("wrong", exact=True).is_checked()
    page.reload()
    assert passage_ids(page) == ["wrong", "noise", "right"]


def test_passages_can_be_moved_by_mouse_edited_and_added(opened: Opener, play: PlayPage) -> None:
    page = opened(height=1600)
    pick_case(page, "castle")
    ask(page)
    start, end = (
        page.locator("#passages .handle").first.bounding_box(),
        page.locator("#passages li.passage").last.bounding_box(),
    )
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 4, start["y"] + 4)
    page.mouse.down()
    page.mouse.move(end["x"] + 20, end["y"] + end["height"] - 5, steps=8)
    last = page.locator("#passages ol.passages > li:last-child").filter(has_text="wrong")
    for at in range(50):  # the browser starts a drag a few moves after the first
        page.mouse.move(end["x"] + 21 + at % 2, end["y"] + end["height"] - 4)
        if last.count():
            break
        page.wait_for_timeout(100)
    page.mouse.up()
    last.get_by_text("Edit").click()
    last.locator("textarea").fill("The castle opens at 16:00.")
    page.locator("#add summary").click()
    page.get_by_label("Or write one").fill("The castle opens at 16:20.")
    with page.expect_navigation():
        page.get_by_role("button", name="Add it").click()
    assert passage_ids(page) == ["right", "noise", "wrong", "own-3"]
    assert "16:00" in ask(page, "Ask again with these")
    page.locator("#add summary").click()
    page.get_by_label("Search the corpus").fill("museum")
    page.get_by_role("button", name="Search", exact=True).click()
    with page.expect_navigation():
        page.locator("#hits .pick").first.click()
    assert len(passage_ids(page)) == 5


def test_a_missed_case_of_a_run_can_be_asked_again_without_a_passage(opened: Opener, play: PlayPage) -> None:
    first = min(path.name for path in (play.project / ".rageval" / "runs").iterdir() if path.is_dir())
    page = opened(f"run?run={first}")
    page.get_by_label("missed or in error").check()
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="How often do boats leave?").click()
    assert "every hour" in page.locator(".answer").inner_text()
    page.get_by_role("button", name="Change its passages and ask again").click()
    page.locator("#passages .on").first.uncheck()
    assert "every hour" not in ask(page, "Ask again with these")


def test_the_stop_button_stops_a_question(opened: Opener) -> None:
    page = opened()
    page.locator("#question").fill("Please wait")
    page.locator("#system").select_option("steps")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("#progress li").first.wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name="Stop").click()
    assert "stopped" in page.locator("#last [role=alert]").inner_text()


def test_the_stop_button_stops_the_search_for_the_smallest_context(chromium: Browser, tmp_path: Path) -> None:
    with PlayPage(slow_project(tmp_path)) as slow:
        slow.wait()
        page = chromium.new_context().new_page()
        page.goto(slow.url)
        pick_case(page, "How much?")
        assert ask(page) == "12 euros"
        page.get_by_role("button", name="Smallest context").click()
        stop = page.get_by_role("button", name="Stop")
        stop.wait_for()
        while (slow.project / "log.txt").read_text().split() != ["asked"] * 4:  # the last one waits
            page.wait_for_timeout(50)
        stop.click()
        page.locator("#shrunk").get_by_text("stopped: you stopped it; a smaller one may exist").wait_for()
        assert not stop.is_visible()
        assert (slow.project / "log.txt").read_text().endswith("cancelled\n")


def test_a_case_is_saved_with_marked_evidence_and_its_testbed(opened: Opener, play: PlayPage) -> None:
    page = opened()
    page.locator("#question").fill("When does the museum open on Mondays?")
    page.locator("#system").select_option("extractive")
    ask(page)
    page.locator("#right").check()
    assert "9:00" in page.locator("#gold").input_value()
    page.locator("#gold").fill("9:00")
    page.locator("#passages .text").filter(has_text="The museum opens").first.select_text()
    page.get_by_role("button", name="Use the marked text").click()
    assert "The museum opens at 9:00" in page.locator("#evidence q").inner_text()
    page.locator("#file").fill("cases/play.jsonl")
    page.get_by_role("button", name="Show what will be written").click()
    page.locator("#planned .diff").first.wait_for()
    assert not (play.project / "cases").exists()
    assert "When does the museum open on Mondays?" in page.locator("#planned .plus").first.inner_text()
    page.get_by_role("button", name="Write", exact=True).click()
    command = page.locator("#planned code").inner_text()
    assert (play.project / "cases" / "play.jsonl").is_file()
    assert (play.project / "tests" / "play.rag.toml").is_file()
    run = run_tests(play.project, *shlex.split(command)[1:])
    assert "1 passed" in run.stdout, run.stdout
    page.reload()
    assert page.locator("#gold").input_value() == "9:00"
    assert page.locator("#evidence q").count() == 1


def test_an_action_of_a_chain_can_be_edited_run_and_saved(opened: Opener, play: PlayPage) -> None:
    page = opened("chain?chain=ours")
    page.locator("#chain-question").fill("When does the museum open?")
    with page.expect_navigation():
        page.get_by_role("button", name="Run all").click()
    assert "9:00" in page.locator("[data-action=reply] .answer").inner_text()
    page.get_by_label("k", exact=True).fill("2")
    page.get_by_label("k", exact=True).blur()
    page.locator("[data-action=reply].stale").wait_for()
    page.locator("[data-action=reply]").get_by_role("button", name="Show prompt").click()
    assert "The museum opens" in page.locator("[data-action=reply] .shown pre").inner_text()
    with page.expect_navigation():
        page.locator("[data-action=found]").get_by_role("button", name="Run this action").click()
    assert page.locator("[data-action=found] li.passage").count() == 2
    assert "older than a change" in page.locator("[data-action=reply]").inner_text()
    page.get_by_role("button", name="Show what will be saved").click()
    page.get_by_role("button", name="Save chain").click()
    page.get_by_text("Written: ").wait_for()
    assert (play.project / "ours.toml").read_text().endswith(CHAIN.replace("k = 1", "k = 2"))


def test_two_systems_answer_one_question_and_a_chat_has_several_turns(opened: Opener) -> None:
    page = opened("two")
    page.locator("#two-question").fill("When does the museum open?")
    first, second = page.locator(".side").all()
    first.fill("extractive")
    second.fill("steps")
    page.locator("#cost").filter(has_text="no model call").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name="Ask both").click()
    assert page.locator("section .answer").count() == 2
    assert "It opens at 9:00." in page.locator("section .answer").last.inner_text()
    page.get_by_role("link", name="Chat").click()
    for at, question in enumerate(("Where?", "And when?"), 1):
        page.locator("#chat-system").select_option("turns")
        page.locator("#chat-question").fill(question)
        with page.expect_navigation():  # until its scripts have run
            page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_text(f"turn {at}: {question}").first.wait_for()
    page.get_by_role("button", name="Show what will be written").click()
    assert '"history"' in page.locator("#planned .plus").first.inner_text()


def test_pages_fit_390_pixels_and_axe_finds_no_violation_in_light_and_dark(opened: Opener, play: PlayPage) -> None:
    play.ask(question="Who?", system="loud")
    page = opened("", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    pick_case(page, "castle")
    ask(page)
    page.locator("#passages .on").first.uncheck()
    ask(page, "Ask again with these")
    first = min(path.name for path in (play.project / ".rageval" / "runs").iterdir() if path.is_dir())
    for path in ("", "run", f"run?run={first}&case=castle", "chain?chain=ours", "chat", "two?left=1&right=2"):
        page.goto(play.base + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert violations_in_each_scheme(page) == [], path
