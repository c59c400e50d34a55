"""A local page in Chromium: token, texts, keys, forms, other origins, contrast, width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from support.browser.opened_pages import violations
from support.local_page.routes import HOSTILE
from support.servers import served_page
from support.servers.page_process import PageProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request


served = served_page.served


@pytest.fixture
def requested_urls() -> list[str]:
    """Collect the addresses that the browser requests."""
    return []


@pytest.fixture
def faults() -> list[str]:
    """Collect what the browser reports: errors, console messages, dialogs."""
    return []


@pytest.fixture
def page(
    chromium: Browser, served: PageProcess, requested_urls: list[str], faults: list[str], request: Any
) -> Iterator[Page]:
    """Open the page at its printed address; check that it sends requests to its own server only."""
    context = chromium.new_context(**getattr(request, "param", {}))
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.on("request", lambda request: requested_urls.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
    page.goto(served.url)
    yield page
    context.close()
    assert [url for url in requested_urls if not url.startswith(served.base)] == []


def test_the_token_leaves_the_address_and_scripts_cannot_read_it(
    page: Page, served: PageProcess, faults: list[str]
) -> None:
    assert page.url == served.base
    (cookie,) = page.context.cookies()
    assert (cookie["value"], cookie["httpOnly"], cookie["sameSite"]) == (served.token, True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert served.token not in page.evaluate("JSON.stringify(performance.getEntries())")
    page.reload()
    assert page.title() == "Sample page"
    assert faults == []


def test_hostile_texts_are_shown_as_text(page: Page, faults: list[str]) -> None:
    visible_text = HOSTILE.replace("\u202e", "U+202E").replace("\0", "U+0000").replace("\ud800", "U+D800")
    visible_text = visible_text.replace("\u200b", "U+200B").replace("\r", "U+000D")
    for place in ("#shown", "#bare"):
        assert page.locator(place).text_content() == visible_text
    assert page.locator("#shown").get_attribute("title") == visible_text
    assert page.locator("#shown .unseen").all_inner_texts() == ["U+202E", "U+0000", "U+D800", "U+200B", "U+000D"]
    assert page.locator("#shown bdi").count() == 1
    assert page.locator("#drawn").text_content() == "<b>x</b>U+202EU+0000"
    assert page.title() == "Sample page"
    assert faults == []


def test_a_form_returns_a_text_unchanged(page: Page, faults: list[str]) -> None:
    """Browsers send `Origin: null` with a form if the page has no referrer."""
    assert "\\u{202E}" in page.locator("#text").input_value()
    page.get_by_role("button", name="Keep").click()
    received = page.locator("#received li").last
    assert received.text_content() == page.locator("#shown").text_content()
    page.reload()  # the answer to the form was a redirect: nothing is sent again
    assert page.locator("#received li").count() == 1
    assert faults == []


def test_the_page_works_by_keyboard_alone(page: Page, faults: list[str]) -> None:
    page.keyboard.press("a")
    page.locator("#answer bdi").wait_for()
    assert page.locator("#answer").text_content() == "<i>U+202E"
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    key_descriptions = dialog.locator("dl > div").all_inner_texts()
    assert [" ".join(each.split()) for each in key_descriptions] == ["? Keys", "e Text", "k Keep", "a Ask", "f Fail"]
    page.keyboard.press("f")  # no key works behind the list
    page.keyboard.press("Escape")
    assert dialog.count() == 0
    assert page.locator("#message").text_content() == ""
    page.keyboard.press("e")
    page.keyboard.press("End")
    page.keyboard.type("fka?")
    assert "fka?" in page.locator("#text").input_value()
    assert faults == []


def test_an_error_of_the_server_is_shown_as_an_alert(page: Page) -> None:
    page.keyboard.press("f")
    page.locator("#message bdi").wait_for()
    assert page.get_by_role("alert").text_content() == "rag_model 'x' is unknown; name a model [RAG101]"


def test_the_theme_survives_a_reload(page: Page) -> None:
    for theme in ("light", "dark"):
        page.get_by_role("button", name="Theme").click()
        assert page.locator("html").get_attribute("data-theme") == theme
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_page_of_another_origin_cannot_use_the_server(page: Page, served: PageProcess) -> None:
    """A page on another port belongs to the same site: the browser sends the cookie, and the server refuses."""
    foreign_page = page.context.new_page()
    foreign_page.route(
        "http://127.0.0.1:9/*", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html")
    )
    foreign_page.goto("http://127.0.0.1:9/")
    requests: list[Request] = []
    foreign_page.on("request", lambda request: requests.append(request))
    form = "f => { const form = document.createElement('form'); form.method = 'post'; form.action = f; "
    with foreign_page.expect_navigation():
        foreign_page.evaluate(form + "document.body.append(form); form.submit(); }", f"{served.base}keep")
    assert foreign_page.locator("body").inner_text().strip() == "the request does not come from this page"
    assert "rageval-" in requests[0].all_headers()["cookie"]
    foreign_page.goto("http://127.0.0.1:9/")
    fetch = "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include'}).then(r => r.type, e => 0)"
    assert foreign_page.evaluate(fetch, f"{served.base}api/echo") in ("opaque", 0)
    add_frame = "url => { const f = document.createElement('iframe'); f.src = url; document.body.append(f); }"
    foreign_page.evaluate(add_frame, served.base)
    foreign_page.wait_for_timeout(200)
    assert "A case" not in "".join(frame.content() for frame in foreign_page.frames)


def test_a_link_on_a_page_of_another_site_opens_it(chromium: Browser, served: PageProcess) -> None:
    """An example is a terminal in the browser: a redirect from there would lose the cookie."""
    context = chromium.new_context()
    page = context.new_page()
    link = f"<a href='{served.url}'>open</a>"
    page.route("http://terminal.example/*", lambda route: route.fulfill(body=link, content_type="text/html"))
    page.goto("http://terminal.example/")
    page.get_by_text("open").click()
    page.get_by_role("heading", name="A case").wait_for()
    assert page.url == served.base
    context.close()


@pytest.mark.parametrize(
    "page",
    [
        {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        for width in (390, 1280)
        for scheme in ("light", "dark")
    ],
    indirect=True,
    ids=["narrow-light", "narrow-dark", "wide-light", "wide-dark"],
)
def test_the_page_fits_the_screen_and_axe_finds_no_violation(page: Page) -> None:
    page.keyboard.press("f")
    page.locator("#message bdi").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#theme").evaluate("e => e.getBoundingClientRect().right <= innerWidth")
    assert violations(page) == []
