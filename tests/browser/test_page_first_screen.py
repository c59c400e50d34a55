"""The first screen of a report, on a desktop and on a phone, and the printed report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.browser.opened_pages import Opener
from support.browser.written_reports import TOWN, case, gate, outcome, results

PLACES = """links => links.map(each => each.getAttribute("href").slice(1))
    .filter(each => !/^(case=|cases&|matrix&)/.test(each))"""
OVERFLOWS = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"


@pytest.fixture(scope="module")
def museum(fixtures_dir: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return loaded


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_first_screen_shows_the_failed_gates_and_the_broken_cases(
    opened: Opener, museum: dict[str, Any], width: int, scheme: str
) -> None:
    page = opened(museum, width=width, scheme=scheme)
    sentences = page.locator(".verdict .told li")
    assert sentences.count() == 8
    for sentence in sentences.all():
        box = sentence.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800
    assert page.locator("#verdict .scroll:not(.map *)").evaluate_all(OVERFLOWS) == 0
    places = page.locator("#verdict a").evaluate_all(PLACES)
    assert len(set(places)) >= 5
    assert [each for each in places if page.locator(f"[id='{each}']").count() != 1] == []
    sentences.nth(4).get_by_role("link", name="ex11").click()
    page.locator("#case-title").get_by_text("ex11").wait_for()
    sentences.nth(3).get_by_role("link").click()
    assert page.url.endswith("#gates")
    sentences.nth(4).get_by_role("link", name="3 more").click()
    assert page.locator("#broken-cases").is_visible()  # it was folded


def test_gates_are_cards_on_a_phone_and_still_a_table(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden, width=390)
    table = page.get_by_role("table").first
    assert table.get_by_role("row").count() == 3  # the one that passed is folded
    card = table.get_by_role("row").nth(1)
    parts = [part.bounding_box() for part in card.locator("th, td:not(:empty)").all()]
    assert all(part is not None and part["x"] + part["width"] <= 390 for part in parts)
    label = card.get_by_role("cell").nth(2).evaluate("each => getComputedStyle(each, '::before').content")
    assert label == '"now "'


def test_failed_tests_are_links_if_they_are_cases(opened: Opener) -> None:
    outcomes = [case(f"q{at}", "keeper", float(at >= 230)) for at in range(240)]
    names = [each["nodeid"] for each in outcomes[:230]]
    page = opened(results(outcomes, gates=[gate()], run={"failed": [*names, "test_q.py::test_plain"]}))
    assert page.locator("#verdict-title").inner_text() == "231 tests failed, no gate failed"
    page.locator(".told").get_by_role("link", name="228 more").click()
    failed_tests = page.locator("#failed-tests")
    assert failed_tests.locator("li").count() == 200
    assert failed_tests.locator("li:not(:has(a))").all_inner_texts() == ["test_q.py::test_plain"]
    more = page.locator(".named p").inner_text()
    assert more == "and 31 more: show all 230 cases"  # the test without a case is not among them
    page.get_by_role("link", name="show all 230 cases").click()
    page.locator("#cases .count").get_by_text("230 cases of 240").wait_for()


@pytest.mark.parametrize(("kind", "other"), [("broken", "fixed"), ("fixed", "broken")])
def test_a_long_list_of_changed_cases_links_to_exactly_these_cases(
    opened: Opener, golden: dict[str, Any], kind: str, other: str
) -> None:
    outcomes = [case(f"q{at}", "keeper", float(at >= 230)) for at in range(240)]
    nodeids = [each["nodeid"] for each in outcomes]
    row = golden["comparison"]["comparisons"][0] | {"testbed": TOWN, "metric": "accuracy", "system": "keeper"}
    row |= {"slice": {}, kind: nodeids[:230], other: nodeids[230:]}
    comparison = {**golden["comparison"], "comparisons": [row]}
    page = opened(results(outcomes, comparison=comparison, baseline=golden["baseline"]))
    page.locator(f"details:has(#{kind}-cases) > summary").click()
    page.locator(f"details:has(#{kind}-cases)").get_by_role("link", name="show all 230 cases").click()
    page.locator("#cases .count").get_by_text("230 cases of 240").wait_for()
    assert f"state={kind}" in page.url
    assert page.get_by_label("State", exact=True).input_value() == kind


def test_a_run_without_comparisons_shows_a_sentence_instead_of_an_empty_table(
    opened: Opener, golden: dict[str, Any]
) -> None:
    comparison = {**golden["comparison"], "comparisons": []}
    page = opened(results([], comparison=comparison, baseline=golden["baseline"]))
    message = "nothing to compare: no case of this run is in the baseline with a score"
    assert page.locator(".told li").all_inner_texts() == [message]
    assert page.locator("#verdict table").count() == 0


def test_the_link_of_a_case_with_half_a_surrogate_pair_opens_the_case(opened: Opener) -> None:
    strange = outcome("q1") | {"nodeid": f"{TOWN}[\ud800é\U0001f600]"}
    page = opened(results([strange], run={"failed": [strange["nodeid"]]}))
    page.locator(".told").get_by_role("link").click()
    page.locator("#case-title").get_by_text("q1").wait_for()


def test_printing_unfolds_the_account_and_splits_a_wide_matrix(opened: Opener, tmp_path: Path) -> None:
    outcomes = [
        case(f"q{row}-{col}", "keeper", float(row % 2), topic=f"t{row}", task=f"k{col:02}")
        for row in range(3)
        for col in range(20)
    ]
    page = opened(results(outcomes, gates=[gate()], run={"failed": [outcomes[0]["nodeid"]]}), width=718)
    page.emulate_media(media="print")
    page.evaluate("""() => {
        window.layout = [];
        addEventListener("beforeprint", () => {
            const tables = [...document.querySelectorAll("table.heat:not([hidden])")];
            layout.push(document.querySelectorAll(".told details:not([open])").length, innerWidth);
            layout.push(...tables.map(table => table.offsetWidth));
            layout.push(...tables.map(table => [...table.rows[0].cells].map(each => each.textContent).join(" ")));
        });
    }""")
    page.locator("#case-title").wait_for()  # the worst case is open
    page.pdf(path=tmp_path / "page.pdf")
    folded, paper, *rest = page.evaluate("layout")
    widths, heads = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    assert folded == 0
    assert max(widths) < paper
    cols = [f"k{col:02}" for col in range(20)] + ["all (micro)", "macro"]
    assert [head.removeprefix("topic \\ task ") for head in heads] == [
        " ".join(cols[at : at + 9]) for at in range(0, len(cols), 9)
    ]
    assert page.locator("table.heat").count() == 1
    assert page.locator("details[open]").count() == 0
