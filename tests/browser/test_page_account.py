"""The first screen shows the account of the run; each sentence links to its cases."""

from __future__ import annotations

from typing import Any

import pytest
from support.browser.opened_pages import Opener
from support.browser.written_reports import TOWN, case, results


def _account(*findings: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": "1 of 2 gates failed - 2 cases broke, 1 cause", "state": "failed", "findings": list(findings)}


@pytest.fixture
def run_results() -> dict[str, Any]:
    outcomes = [case(f"q{at}", "keeper", at % 2, topic=f"t{at}") for at in range(6)]
    drop = {
        "kind": "drop",
        "cause": "generation",
        "sentence": "generation: town accuracy 1.00 -> 0.33 (2 of 6 broke, p 0.031), answers <b>shorter</b>",
        "cases": [outcomes[4]["nodeid"], outcomes[0]["nodeid"]],
        "also": ["town recall 1.00 -> 0.50"],
    }
    noise = {"kind": "noise", "cause": "", "sentence": "not significant: 1 case broke, 0 fixed"}
    return {**results(outcomes), "account": _account(drop, noise)}


def test_sentences_come_from_the_account_and_their_links_list_the_cases(
    opened: Opener, run_results: dict[str, Any]
) -> None:
    page = opened(run_results)
    assert page.locator("#verdict-title").inner_text() == run_results["account"]["verdict"]
    sentences = page.locator(".sentence").all_inner_texts()
    assert sentences == [each["sentence"] for each in run_results["account"]["findings"]]
    page.get_by_role("link", name="show 2 cases").click()
    page.locator("#cases .count").get_by_text("2 cases of 6").wait_for()
    page.locator("#case-title").get_by_text("q4").wait_for()
    row_ids = page.locator("#cases .row").evaluate_all("rows => rows.map(each => each.id)")
    assert row_ids == ["row-4", "row-0"]  # worst first, in the order of the account
    assert "cause=0" in page.url


def test_back_and_forward_return_to_the_lists_that_were_shown(opened: Opener, run_results: dict[str, Any]) -> None:
    page = opened(run_results)
    page.get_by_role("link", name="show 2 cases").click()
    page.locator("#cases .count").get_by_text("2 cases of 6").wait_for()
    page.get_by_label("State", exact=True).select_option("any state")
    page.get_by_label("Cause", exact=True).select_option("any")
    page.locator("#cases .count").get_by_text("6 cases of 6").wait_for()
    page.go_back()
    page.go_back()
    page.locator("#cases .count").get_by_text("2 cases of 6").wait_for()
    page.go_forward()
    page.locator("#case-title").wait_for()


def test_an_address_opens_its_view(opened: Opener, run_results: dict[str, Any]) -> None:
    page = opened(run_results)
    nodeid = f"{TOWN}[q3-keeper]"
    stored_nodeid = run_results["outcomes"][3]["nodeid"]
    assert nodeid.split("[")[0] == stored_nodeid.split("[")[0]
    page.evaluate("address => { location.hash = address; }", f"#cases&state=&facet.topic=%3Dt3&case={stored_nodeid}")
    page.locator("#cases .count").get_by_text("1 case of 6").wait_for()
    page.locator("#case-title").get_by_text("q3").wait_for()
    page.locator("#matrix select").nth(3).select_option("topic")
    page.evaluate("() => { location.hash = '#matrix&rows=topic&cols=dataset&metric=accuracy'; }")
    page.locator("#matrix caption").get_by_text("accuracy over topic × dataset").wait_for()


def test_the_map_shows_old_and_new_values_of_the_dropped_metric_and_outlines_significant_drops(
    opened: Opener, run_results: dict[str, Any]
) -> None:
    def comparison(p_holm: float, was: float, now: float, **slice_: str) -> dict[str, Any]:
        statistics = {"n_pairs": 3, "ci95": None, "p_value": p_holm, "least_drop": None, "by_answer": 0}
        labels = {"testbed": TOWN, "metric": "accuracy", "system": "keeper", "slice": slice_, "p_holm": p_holm}
        changes: dict[str, Any] = {"broken": [], "fixed": [], "causes": {}}
        return {**statistics, **labels, **changes, "baseline": was, "value": now, "delta": now - was}

    cells = [
        comparison(0.01, 1.0, 0.5),
        comparison(0.01, 1.0, 0.25, topic="t1", task="qa"),
        comparison(0.9, 0.5, 0.75, topic="t2", task="qa"),
    ]
    run_results["comparison"] = {
        "baseline": {"path": "rag-baseline.json", "run": "r1", "started": "", "same_fingerprint": True},
        "cases": {
            "compared": 3,
            "new": [],
            "gone": [],
            "changed": [],
            "renamed": [],
            "errors": [],
            "answers_changed": 0,
        },
        "comparisons": cells,
    }
    for finding in run_results["account"]["findings"][:1]:
        finding.update(testbed=TOWN, metric="accuracy", system="keeper")
    page = opened(run_results)
    worse, better = page.locator(".differences td").all()
    assert worse.inner_text() == "▼ −0.75\n1.00 → 0.25"
    assert better.inner_text() == "▲ +0.25\n0.50 → 0.75"
    assert "sure" in str(worse.get_attribute("class"))
    assert "sure" not in str(better.get_attribute("class"))
    worse.get_by_role("link").click()
    page.locator("#cases .count").get_by_text("1 case of 6").wait_for()
    box = page.locator(".map").bounding_box()
    assert box is not None
    assert box["x"] > 500


def test_the_old_answer_is_next_to_the_new_one_and_changed_words_are_marked(opened: Opener) -> None:
    was = {"text": "The hall opens at nine <i>daily</i>.", "abstained": False, "passages": ["p0", "p9"]}
    now = case("q1", "keeper", 0.0) | {"was": was}
    now["answer"]["text"] = "The hall opens at ten."
    page = opened(results([now, case("q2", "keeper", 1.0)]))
    page.locator("#case-title").get_by_text("q1").wait_for()  # the worst one is open
    assert page.locator(".words del").all_inner_texts() == ["gone:\nnine <i>daily</i>."]
    assert page.locator(".words ins").all_inner_texts() == ["new:\nten."]
    assert page.locator("#detail .slots .unmet").get_by_text("p9").is_visible()
    assert page.locator("#detail .slots .met").get_by_text("n0").is_visible()


def test_without_old_answers_the_page_says_how_to_store_them(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    page.locator("#detail").get_by_text("The old answer is not available.").wait_for()
    assert page.locator("#detail .beside code").all_inner_texts() == [
        "rag_baseline_answers = true",
        "--rag-against results.json",
    ]


def test_keys_move_in_the_list_and_buttons_copy_the_command_and_download_cases(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    selected = page.locator("[role=option][aria-selected=true]")
    selected.wait_for()
    first = selected.get_attribute("id")
    page.keyboard.press("j")
    assert selected.get_attribute("aria-posinset") == "2"
    page.keyboard.press("k")
    assert selected.get_attribute("id") == first
    page.keyboard.press("n")
    assert selected.get_attribute("id") != first
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("next question").wait_for()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "search"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="copy pytest command").click()
    page.get_by_role("button", name="copied").wait_for()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download as CSV").click()
    text = downloading.value.path().read_text(encoding="utf-8-sig")
    assert len(text.splitlines()) == 1 + int(page.locator(".count").inner_text().split()[0])
    head = page.locator("#gates th[scope=col]", has_text="gate")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    gates = page.locator("#gates tbody th code").all_inner_texts()
    assert gates == sorted(gates)


def test_a_spreadsheet_computes_nothing_of_the_data(opened: Opener) -> None:
    page = opened(results([case("=1+1", "keeper", 0.0)]))
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download as CSV").click()
    assert ",'=1+1,keeper,scored,true," in downloading.value.path().read_text(encoding="utf-8-sig")


def test_a_small_page_has_only_the_texts_of_changed_cases_and_counts_all_cases(
    opened: Opener, run_results: dict[str, Any]
) -> None:
    changed, unchanged = run_results["outcomes"][4]["nodeid"], run_results["outcomes"][3]["nodeid"]
    page = opened(run_results, f"#case={changed}", cases="changed")
    page.locator("#case-title").get_by_text("q4").wait_for()
    assert page.get_by_text("This case did not change").count() == 0
    assert page.get_by_text("the texts of 4 cases that did not change are not in this page").count() == 1
    page.evaluate("nodeid => { location.hash = `case=${nodeid}` }", unchanged)
    page.locator("#case-title").get_by_text("q3").wait_for()
    assert page.get_by_text("This case did not change").count() == 1
    page.get_by_label("State", exact=True).select_option("any state")
    page.locator("#cases .count").get_by_text("6 cases of 6").wait_for()
