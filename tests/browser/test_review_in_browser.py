"""`rageval review` in Chromium: keys alone, no scripts, two people, a phone."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from support.browser.opened_pages import violations_in_each_scheme
from support.projects.review_project import ReviewProject, of_task
from support.servers.page_process import REVIEW, PageProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Opener = Callable[..., "Page"]


@pytest.fixture
def review(chromium: Browser, generated: ReviewProject) -> Iterator[Opener]:
    """Return a function that opens the page of a reviewer; check its requests and that it reports no fault."""
    servers: list[PageProcess] = []
    faults: list[str] = []
    requested_urls: list[str] = []

    def open_page(reviewer: str, *, width: int = 1280, scripts: bool = True) -> Page:
        server = PageProcess(generated.folder / "cases", "--reviewer", reviewer, program=REVIEW)
        servers.append(server)
        context = chromium.new_context(viewport={"width": width, "height": 800}, java_script_enabled=scripts)
        context.set_default_timeout(10_000)
        page = context.new_page()
        page.on("request", lambda request: requested_urls.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if "Autofocus" not in message.text else None)
        page.goto(server.url)
        return page

    yield open_page
    for context in list(chromium.contexts):
        context.close()
    for server in servers:
        server.end(signal.SIGKILL)
    bases = tuple(server.base for server in servers)
    assert [url for url in requested_urls if not url.startswith(bases)] == []
    assert faults == []


def question_on(page: Page) -> str:
    return page.locator("h1").inner_text()


def test_without_scripts_enter_in_a_checkbox_grades_nothing(generated: ReviewProject, review: Opener) -> None:
    page = review("Ann", scripts=False)
    page.get_by_label("fits the task").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert question_on(page) == generated.session().folder.sample[0].question
    assert generated.session().decisions.standing == {}


def test_keys_accept_edit_drop_and_undo_cases_for_two_reviewers(generated: ReviewProject, review: Opener) -> None:
    sample = generated.session().folder.sample
    questions = [draft.question for draft in sample]
    page = review("Ann")
    assert question_on(page) == questions[0]
    assert page.locator("mark.gold").all_inner_texts() == [sample[0].evidence[0]]
    page.get_by_label("fits the task").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # grades nothing, and the box stays checked
    page.wait_for_timeout(200)
    assert page.get_by_label("fits the task").is_checked()
    page.keyboard.press("4")
    page.wait_for_url(f"**/case?id={sample[1].id}")
    page.keyboard.press("1")
    page.wait_for_url(f"**/case?id={sample[2].id}")
    page.keyboard.press("u")
    page.wait_for_url(f"**/case?id={sample[1].id}")
    page.keyboard.press("5")
    page.wait_for_url(f"**/case?id={sample[2].id}")
    page.keyboard.press("n")
    page.wait_for_url(f"**/case?id={sample[3].id}")

    draft = of_task(generated.session(), "extractive_qa")[0]
    at = sample.index(draft)
    page.goto(page.url.replace(sample[3].id, draft.id))
    page.keyboard.press("e")
    page.wait_for_url("**/edit?id=*")
    assert page.locator(":focus").get_attribute("name") == "question"
    page.keyboard.press("Control+a")
    page.keyboard.type(f"Is it {draft.gold[0][0]}?")
    page.get_by_role("button", name="Save with grade 3").press("Enter")
    assert "answer_in_question" in page.get_by_role("alert").filter(has_text="fails a check").inner_text()
    page.locator("#question").fill(draft.question.replace("Where does", "In what city does"))
    page.get_by_role("button", name="Check").press("Enter")
    assert page.locator("ins").all_inner_texts() == ["In what city"]
    page.get_by_role("button", name="Save with grade 3").press("Enter")
    page.wait_for_url(f"**/case?id={sample[at + 1].id}")
    page.keyboard.press("2")
    page.wait_for_url(f"**/case?id={sample[at + 2].id}")
    page.keyboard.press("?")
    assert "Next" in page.get_by_role("dialog").inner_text()

    other = review("Bo")
    other.wait_for_url(f"**/case?id={sample[2].id}")
    other.keyboard.press("3")
    other.wait_for_url(f"**/case?id={sample[3].id}")
    decisions = generated.session().decisions.standing
    assert {name: {who: each.grade for who, each in people.items()} for name, people in decisions.items()} == {
        sample[0].id: {"Ann": 4},
        sample[1].id: {"Ann": 5},
        draft.id: {"Ann": 3},
        sample[at + 1].id: {"Ann": 2},
        sample[2].id: {"Bo": 3},
    }
    assert decisions[sample[0].id]["Ann"].ticks == ("task",)
    other.keyboard.press("p")
    other.get_by_role("link", name=sample[2].question).wait_for()


def test_pages_fit_390_pixels_and_axe_finds_no_violation_in_light_and_dark(
    generated: ReviewProject, review: Opener
) -> None:
    page = review("Ann", width=390)
    base = page.url.partition("/case")[0]
    page.keyboard.press("3")
    page.wait_for_url(f"**/case?id={generated.session().folder.sample[1].id}")
    draft = of_task(generated.session(), "extractive_qa")[0]
    for path in (f"/case?id={draft.id}", f"/edit?id={draft.id}", "/progress"):
        page.goto(base + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert violations_in_each_scheme(page) == [], path
    page.goto(f"{base}/case?id={draft.id}")
    assert page.get_by_role("button", name="5 accept").bounding_box()["y"] < 800  # type: ignore[index]
