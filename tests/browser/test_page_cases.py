"""The list of cases on a page: its content, the links to a case, and the open case."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from support.browser.opened_pages import Opener, violations
from support.browser.written_reports import NOISE, TOWN, case, failed, instance, outcome, results

from pytest_rageval.metrics.diagnosis.diagnose import WORDS

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOCUSED = "() => document.activeElement.id || document.activeElement.getAttribute('role')"


def wait_for_case(page: Page, nodeid: str) -> None:
    """Wait until the page shows a case; check that the address names it."""
    page.locator(".nodeid").get_by_text(nodeid, exact=True).wait_for()
    assert page.evaluate("() => decodeURIComponent(location.hash)").endswith(f"case={nodeid}")


def test_cases_are_searched_filtered_and_sorted(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    cases = page.locator("#cases")
    names = cases.locator(".row .about")
    cases.get_by_role("button", name="Clear").click()
    cases.get_by_label("Search").fill("clock MUSEUM")  # only answers contain these words
    page.get_by_text("3 cases of 24").wait_for()
    cases.get_by_role("button", name="Clear").click()
    cases.get_by_label("Search").fill("desk closed")  # an error contains these words
    page.get_by_text("1 case of 24").wait_for()
    cases.get_by_role("button", name="Clear").click()
    for label, value, n in (
        ("State", "error", 1),
        ("State", "missed", 7),
        ("State", "unscored", 1),
        ("State", "asked", 24),
        ("Error type", "=DeskClosed", 1),
        ("System", "keeper", 12),
        ("Testbed", f"testbed:{TOWN}", 6),
        ("Value of", "rouge_l", 24),
    ):
        cases.get_by_label(label).select_option(value)
        page.get_by_text(f"{n} case{'s' * (n > 1)} of 24").wait_for()
        cases.get_by_role("button", name="Clear").click()
    cases.locator("summary", has_text="Facets").click()
    cases.get_by_label("noise_rate").select_option("=0.8")
    cases.get_by_label("topic", exact=True).select_option("=Fares")
    page.get_by_text("2 cases of 24").wait_for()
    assert page.get_by_text("Facets (2 chosen)").is_visible()
    cases.get_by_role("button", name="Clear").click()
    cases.get_by_label("Value of").select_option("rouge_l")
    cases.get_by_label("Sort by").select_option("low")
    assert names.first.inner_text() == "rouge_l · ferry · keeper · noise_rate=0.8 · noise"
    cases.get_by_label("Sort by").select_option("high")
    assert names.first.inner_text() == "rouge_l · ferry · challenger · noise_rate=0 · noise"


def test_a_case_shows_its_diagnosis(opened: Opener) -> None:
    why = "4 of 5 tool calls failed: <Search>"
    rest = {"right": False, "grounded": "no", "end": "step_limit", "why": why}
    page = opened(results([outcome(f"q{at}", diagnosis={"type": kind, **rest}) for at, kind in enumerate(WORDS)]))
    for at, (kind, words) in enumerate(WORDS.items()):
        page.locator(".row").nth(at).click()
        page.locator("#case-title", has_text=f"q{at}").wait_for()
        part = page.locator(".part", has=page.get_by_role("heading", name="Diagnosis"))
        assert part.locator("dd").all_inner_texts() == [f"{kind} {words}", why, "step_limit"]


def test_a_cell_of_the_matrix_leads_to_its_cases(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    page.locator("table.heat tr:has(bdi:text-is('Fares')) td button").first.click()
    page.get_by_text("3 cases of 24").wait_for()
    assert page.locator(".row .chip").all_inner_texts() == ["0.00\n▼ worse", "0.00\n✗ missed", "1.00"]
    page.locator("#case-title").get_by_text("pass").wait_for()
    assert page.evaluate("() => document.activeElement.getAttribute('role')") == "listbox"


def test_a_cell_lists_its_cases_worst_first(opened: Opener, golden: dict[str, Any]) -> None:
    outcomes = [
        *(case(name, "keeper", 1.0, topic="A") for name in ("q1", "q2")),
        failed("q3", facets={"topic": "A"}),
        outcome("q4", status="skipped", scores={}, facets={"topic": "A"}) | {"answer": None},
    ]
    page = opened(results(outcomes))
    page.locator("#matrix").get_by_label("Metric").select_option("error_rate")
    page.locator("table.heat td.margin button").last.click()
    page.get_by_text("3 cases of 4").wait_for()
    assert page.locator(".row .chip").all_inner_texts() == ["error", "1.00", "1.00"]
    page = opened(golden)
    page.locator("#matrix").get_by_label("Show", exact=True).select_option("baseline")
    page.locator("table.heat td.margin button").last.click()
    page.get_by_text("9 cases of 24").wait_for()
    differences = [text.split(" · ")[0] for text in page.locator(".row .about").all_inner_texts()]
    drops = ["accuracy, difference −1.00"] * 2
    assert differences == [*drops, *["accuracy, difference +0.00"] * 6, "accuracy, difference +1.00"]
    page.locator("#matrix").get_by_label("Show", exact=True).select_option("system:challenger")
    page.locator("table.heat td.margin button").last.click()
    assert page.locator("#cases").get_by_label("Sort by").input_value() == "change"
    other = page.locator("#cases option[value=change]").text_content()
    assert other == "difference to challenger"
    scores = {(each["nodeid"]): each["scores"].get("accuracy", {}).get("value") for each in golden["outcomes"]}
    first = page.locator(".row .about").first.inner_text().split(" · ")
    keeper_nodeid = f"{NOISE}[{first[1]}-{first[3]}-keeper]"
    change = scores[keeper_nodeid] - scores[keeper_nodeid.replace("keeper", "challenger")]
    assert first[0] == f"accuracy, difference {change:+.2f}".replace("-", "−")
    assert change < 0


def test_a_link_opens_its_case_every_time_and_back_returns_to_the_previous_one(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    page.locator("summary", has_text="Broken").click()
    link = page.locator(".named[open] a").first
    nodeid = link.inner_text()
    for _ in range(2):  # the second time, the address already names the case
        link.focus()
        page.keyboard.press("Enter")
        wait_for_case(page, nodeid)
        page.wait_for_function("() => document.activeElement.id === 'case-title'")
        assert page.get_by_role("region", name="The case").locator("#case-title").count() == 1
    page.locator("table.heat tr:has(bdi:text-is('Museums')) td button").first.click()
    other = page.locator("[aria-selected=true]")
    assert page.evaluate(FOCUSED) == "listbox"
    assert other.get_attribute("aria-posinset") == "1"
    page.wait_for_function("name => document.querySelector('.nodeid').textContent !== name", arg=nodeid)
    wait_for_case(page, page.locator(".nodeid").inner_text())
    link.click()
    wait_for_case(page, nodeid)
    page.go_back()
    page.wait_for_function("name => document.querySelector('.nodeid').textContent !== name", arg=nodeid)
    page.go_back()
    wait_for_case(page, nodeid)
    page.go_back()
    page.wait_for_function("() => !location.hash")
    page.evaluate("() => { location.hash = 'case=nothing' }")
    page.get_by_role("alert").get_by_text("This run has no case nothing.").wait_for()
    assert page.evaluate("() => document.activeElement.textContent") == "This run has no case nothing."
    assert page.locator("[aria-selected=true]").count() == 0


def test_rows_of_one_case_have_different_names(opened: Opener) -> None:
    settings = [(rate, passages, at) for rate in ("0", "0.4") for passages in ("1", "5") for at in ("1", "2")]
    outcomes = [
        case("q1", "keeper", 1.0, NOISE, noise_rate=rate, passages=passages, repeat=at)
        for rate, passages, at in settings
    ]
    for at, each in enumerate(outcomes):
        each["nodeid"] = f"{NOISE}[q1-{at}]"
        each["scores"] = {"fake_rate": {"value": 0.0}}
    outcomes.append(case("q1", "keeper", 0.0, TOWN, topic="Ferries"))
    run_results = results(outcomes, run={"failed": [outcomes[0]["nodeid"]]})
    run_results["testbeds"][NOISE]["metrics"] = ["fake_rate"]
    page = opened(run_results)
    page.locator("#cases").get_by_role("button", name="Clear").click()
    rows = page.locator(".row .about").all_inner_texts()
    assert len(set(rows)) == 9
    assert rows[1] == "fake_rate, low is better · q1 · noise_rate=0 · passages=1 · repeat=2 · noise"
    assert rows[-1] == "accuracy · q1 · town"
    page.locator("#cases").get_by_label("State").select_option("failed")
    page.get_by_text("1 case of 9").wait_for()
    page.locator(".row").click()
    wait_for_case(page, outcomes[0]["nodeid"])
    assert page.locator("h3 .state").all_inner_texts() == ["scored", "test failed"]


def test_the_detail_and_the_filter_agree_on_the_state_of_a_case(opened: Opener, golden: dict[str, Any]) -> None:
    run_results = copy.deepcopy(golden)
    accuracy, overlap = (
        next(each for each in run_results["comparison"]["comparisons"] if each["metric"] == name and not each["slice"])
        for name in ("accuracy", "rouge_l")
    )
    (first, second), (fixed,) = accuracy["broken"], accuracy["fixed"]
    overlap["broken"] = [fixed]  # by a metric that is not the primary one
    for each in (*run_results["outcomes"], *run_results["baseline"]["cases"]):
        each["evidence"] = 1.0 if each.get("nodeid") == first else None
    page = opened(run_results, f"#case={first}")
    states = page.locator("h3 .state")
    for nodeid, expected in (
        (first, ["scored", "missed", "broke (generation)"]),
        (second, ["scored", "missed", "broke"]),
        (fixed, ["scored", "fixed"]),
    ):
        page.evaluate("nodeid => { location.hash = `case=${nodeid}` }", nodeid)
        wait_for_case(page, nodeid)
        assert states.all_inner_texts() == expected
    cases = page.locator("#cases")
    for metric, state, n in (("", "broken", 2), ("", "fixed", 1), ("rouge_l", "broken", 1), ("rouge_l", "fixed", 0)):
        cases.get_by_label("Value of").select_option(metric)
        cases.get_by_label("State").select_option(state)
        page.get_by_text(f"{n} case{'s' * (n != 1)} of 24").wait_for()


def test_a_missing_facet_value_differs_from_the_value_dash(opened: Opener) -> None:
    outcomes = [case(f"q{at}", "keeper", 1.0, **facets) for at, facets in enumerate(({"topic": "-"}, {}, {}))]
    page = opened(results([*outcomes, case("q9", "keeper", 1.0, topic="Ferries")]))
    page.locator("#cases summary", has_text="Facets").click()
    topic = page.locator("#cases").get_by_label("topic")
    assert topic.locator("option").all_text_contents() == [
        *("any", "Ferries (1)", "- (1)", "no value (2)", "- or no value (3)")
    ]
    for value, n in (("=-", "1 case"), ("none", "2 cases"), ("dash", "3 cases")):
        topic.select_option(value)
        page.get_by_text(f"{n} of 4").wait_for()
    page.locator("table.heat tr:has(bdi:text-is('-')) td button").first.click()
    page.get_by_text("3 cases of 4").wait_for()
    assert topic.input_value() == "dash"


def test_filters_can_be_cleared_and_an_open_case_outside_of_them_is_reported(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    cases = page.locator("#cases")
    page.locator(".row").first.click()
    cases.locator("summary", has_text="Facets").click()
    cases.get_by_label("topic", exact=True).select_option("=Fares")
    cases.get_by_label("Search").fill("nowhere to be found")
    page.get_by_text("No case matches.").wait_for()
    outside = page.locator("#detail").get_by_text("This case is not among those that are listed.")
    assert outside.is_visible()
    assert page.get_by_role("listbox").count() == 0
    clear = cases.get_by_role("button", name="Clear")
    clear.press("Enter")
    page.get_by_text("24 cases of 24").wait_for()
    assert not outside.is_visible()
    assert clear.evaluate("each => each === document.activeElement")
    assert cases.get_by_label("topic", exact=True).is_visible()
    assert cases.get_by_label("topic", exact=True).input_value() == ""
    assert cases.get_by_label("Search").input_value() == ""


def test_evidence_is_shown_with_its_quote_span_and_grade(opened: Opener) -> None:
    quote = {"page": "docs/ferry.md", "quote": "leaves at <b>23:15</b>", "grade": 1}
    span = {"page": "docs/quay.md", "span": [3, 90], "grade": 2}
    page = opened(
        results([outcome()], {"q1": instance(evidence=[[quote], [span, {"page": "docs/pier.md", "grade": 1}]])})
    )
    page.locator(".row").first.click()
    part = page.locator("section.part", has=page.get_by_role("heading", name="Evidence"))
    part.wait_for()
    assert part.locator("li").all_inner_texts() == [
        "docs/ferry.md leaves at <b>23:15</b>",
        "docs/quay.md code points 3 to 90 grade 2",
        "docs/pier.md Texts are left out of this run's reports (rag_report_texts).",
    ]
    assert part.get_by_text("or", exact=True).count() == 1


def test_long_facet_names_do_not_widen_the_page(opened: Opener) -> None:
    page = opened(results([case("q1", "keeper", 1.0, **{"f" * 90: "v" * 90})]), width=360)
    page.locator("#cases summary", has_text="Facets").click()
    assert page.evaluate("() => document.documentElement.scrollWidth") == 360


def test_axe_finds_no_violation_if_no_case_is_listed(opened: Opener, golden: dict[str, Any]) -> None:
    empty = opened(results([]))
    assert empty.locator("select").count() == 0
    assert violations(empty) == []
    page = opened(golden)
    page.locator("#cases").get_by_label("Search").fill("nowhere to be found")
    page.get_by_text("No case matches.").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize(("now", "expected"), [(0.4 - 4e-7, "0.40, as before"), (0.404, "0.4, now 0.404")])
def test_values_are_compared_with_the_digits_that_a_baseline_stores(
    opened: Opener, golden: dict[str, Any], now: float, expected: str
) -> None:
    run_results = copy.deepcopy(golden)
    nodeid = "test_desk.py::test_noise[pass-noise_rate=0.8-keeper]"
    (run,) = (each for each in run_results["outcomes"] if each["nodeid"] == nodeid)
    run["scores"]["rouge_l"]["value"] = now
    page = opened(run_results, f"#case={nodeid}")
    page.locator("#case-title").wait_for()
    assert page.locator(".beside dd").all_inner_texts() == ["0.00, as before", expected]
    page.locator("#cases").get_by_label("State").select_option("")
    page.locator("#cases").get_by_label("Value of").select_option("rouge_l")
    page.locator("#cases").get_by_label("Sort by").select_option("change")
    assert page.locator("[aria-selected=true] .about").inner_text().startswith("rouge_l, difference +0.00 · ")


def test_repeats_are_compared_with_the_mean_that_a_baseline_stores(opened: Opener, golden: dict[str, Any]) -> None:
    run_results = copy.deepcopy(golden)
    nodeid = "test_desk.py::test_noise[pass-noise_rate=0.8-keeper]"
    (first,) = (each for each in run_results["outcomes"] if each["nodeid"] == nodeid)
    run_results["outcomes"].append(copy.deepcopy(first) | {"nodeid": f"{nodeid}-2"})
    for at, each in enumerate((first, run_results["outcomes"][-1])):
        each["facets"]["repeat"] = str(at + 1)
        each["scores"]["accuracy"]["value"] = float(at)
    page = opened(run_results, f"#case={nodeid}")
    page.locator("#case-title").wait_for()
    assert page.locator(".beside dd").first.inner_text() == "0.00, now 0.50 over 2 runs"


def test_a_list_of_many_cases_renders_only_the_visible_rows(opened: Opener) -> None:
    outcomes = [case(f"q{at}", "keeper", float(at % 3 > 0), topic=f"t{at % 7}") for at in range(3_000)]
    page = opened(results(outcomes))
    page.locator("#cases").get_by_role("button", name="Clear").click()
    rows = page.locator(".row")
    assert 5 < rows.count() < 40
    page.get_by_role("listbox").evaluate("list => { list.scrollTop = 1500 * 76 }")
    page.locator("[aria-posinset='1505']").wait_for()
    assert rows.count() < 40
    page.get_by_role("listbox").press("End")
    page.locator("#case-title").get_by_text("q2999").wait_for()  # from the last parcel


def test_the_steps_of_an_answer_are_nested_and_readable(opened: Opener) -> None:
    passages = [{"id": "d1", "text": "The last ferry leaves at 23:40. " * 30}]
    tool_arguments = {"title": "<b>ferry</b>" * 9, "k": [1, 2]}
    tool = {"name": "search", "arguments": tool_arguments, "filter": {"year": 1931}, "result": None}
    trace = [
        {"kind": "tool", "detail": tool},
        {"kind": "retrieve", "detail": {"parent": 0, "query": "ferry", "passages": passages, "seconds": 0.1234567891}},
        {"kind": "completion", "detail": {"model": "m", "text": "Line one\nline two"}},
        {"kind": "end", "detail": {"reason": "finished", "parent": 7}},
    ]
    results_of = results([outcome("q1", answer={"trace": trace})])
    page = opened(results_of)
    page.get_by_role("listbox").press("ArrowDown")
    steps = page.locator("#detail section", has=page.locator("h4", has_text="Trace"))
    assert steps.locator("> ol > li > b").all_text_contents() == ["tool", "completion", "end"]
    search = steps.locator("> ol > li").first
    assert search.locator("> ol > li > b").all_text_contents() == ["retrieve"]
    arguments = search.locator("> details", has_text="arguments").locator("pre").text_content()
    assert json.loads(arguments or "") == tool_arguments
    assert search.locator("> dl").text_content() == 'namesearchfilter{"year":1931}result–'
    assert search.locator("> ol dl").text_content() == "queryferryseconds0.123457"
    retrieval_details = search.locator("> ol details")
    assert retrieval_details.get_attribute("open") is None
    retrieval_details.locator("summary").click()
    assert "23:40" in (retrieval_details.locator("pre").text_content() or "")
    assert "Line one\nline two" in (steps.locator("> ol > li").nth(1).locator("pre").text_content() or "")
