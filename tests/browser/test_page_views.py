"""Content and use of the page: by mouse, by keyboard, on a phone, on paper."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from support.browser.opened_pages import Opener, violations
from support.browser.written_reports import gate, instance, outcome, results

from pytest_rageval.metrics.shared.proportion import wilson_interval
from pytest_rageval.report.files.results_json import schema

if TYPE_CHECKING:
    from playwright.sync_api import Page

OUTLINE = """
    () => {
        const text = node => node.textContent.replace(/\\s+/g, " ").trim();
        const lines = [];
        const write = (depth, ...parts) => lines.push("  ".repeat(depth) + parts.filter(Boolean).join(" "));
        const walk = (node, depth) => {
            const tag = node.localName;
            if (/^h[1-6]$/.test(tag)) write(depth, tag, text(node));
            else if (tag === "tr") write(depth, [...node.children].map(text).join(" | "));
            else if (tag === "select") {
                const options = [...node.options].map(each => (each.selected ? "*" : "") + each.text);
                write(depth, "choose", node.labels[0].textContent + ":", options.join(" / "));
            }
            else if (tag === "input") write(depth, "input", node.labels[0].textContent);
            else if (tag === "button") write(depth, "button", text(node));
            else if (tag === "svg" && node.getAttribute("role") === "img") {
                const marks = node.querySelectorAll(".mark").length, lines = node.querySelectorAll(".line").length;
                write(depth, "chart", node.getAttribute("aria-label"), `(${lines} lines, ${marks} marks)`);
            }
            else if (/^(p|li|dt|dd|caption|summary|a|pre)$/.test(tag)) write(depth, tag, text(node));
            else if (node.className === "prose") write(depth, "text", text(node));
            else if (node.getAttribute("role") === "option") write(depth, "option", text(node));
            else {
                const tags = ["section", "header", "main", "footer", "nav", "article", "figure", "details", "table"];
                const role = node.getAttribute("role");
                const deeper = tags.includes(tag) || role;
                if (deeper) write(depth, role ?? tag, node.getAttribute("aria-label") ?? node.id);
                for (const child of node.children) walk(child, depth + (deeper ? 1 : 0));
                return;
            }
            if (tag === "li") for (const child of node.querySelectorAll("mark")) write(depth + 1, "mark", text(child));
        };
        for (const child of document.body.children) if (child.localName !== "script") walk(child, 0);
        return lines.join("\\n") + "\\n";
    }
"""


FOCUSED = """() => {
    const at = document.activeElement;
    return at.labels?.[0]?.textContent ?? at.getAttribute("role") ?? at.localName;
}"""


def read_case(page: Page, nodeid: str) -> None:
    page.evaluate("name => { location.hash = name }", f"case={quote(nodeid, safe='')}")
    page.locator(".nodeid").get_by_text(nodeid, exact=True).wait_for()


def test_the_page_of_the_golden_run_has_the_stored_outline(
    opened: Opener, golden: dict[str, Any], fixtures_dir: Path
) -> None:
    """RAGEVAL_RENEW=1 stores the current outline of the page as the expected one."""
    Draft202012Validator(schema()).validate(golden)
    page = opened(golden)
    read_case(page, "test_desk.py::test_town[tram-keeper]")
    for details in page.locator("#detail details, figure details").all():
        details.evaluate("each => { each.open = true }")
    outline = page.evaluate(OUTLINE)
    path = fixtures_dir / "html" / "outline.txt"
    if os.environ.get("RAGEVAL_RENEW"):
        path.write_text(outline, encoding="utf-8")
    assert outline == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_light_and_dark(opened: Opener, golden: dict[str, Any], scheme: str) -> None:
    page = opened(golden, scheme=scheme)
    read_case(page, "test_desk.py::test_noise[pass-noise_rate=0.8-keeper]")
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true }")
    colour = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert (int(colour.removeprefix("rgb(").partition(",")[0]) < 100) == (scheme == "dark")
    if scheme == "dark":
        page.locator("#matrix").get_by_label("Show", exact=True).select_option("baseline")
        page.set_viewport_size({"width": 360, "height": 740})
    assert violations(page) == []


def test_a_phone_shows_all_without_scrolling_sideways(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden, width=360)
    page.locator(".row").first.click()
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true }")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 360
    box = page.locator("#detail").bounding_box()
    assert box is not None
    assert box["width"] > 320


def test_the_theme_button_switches_the_theme_and_stores_it(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden, scheme="dark")
    paper = "body => getComputedStyle(body).backgroundColor"
    dark = page.locator("body").evaluate(paper)
    page.get_by_role("button", name="Theme: system").click()
    assert page.get_by_role("button", name="Theme: light").is_visible()
    light = page.locator("body").evaluate(paper)
    assert light != dark
    assert page.evaluate("() => localStorage.getItem('rageval-theme')") == "light"
    page.add_init_script("localStorage.setItem('rageval-theme', 'light')")  # a reload may come before it is stored
    page.reload()
    page.locator("html[data-theme=light]").wait_for(state="attached")
    page.get_by_role("button", name="Theme: light").click()
    assert page.locator("body").evaluate(paper) == dark


def test_a_link_opens_its_case(opened: Opener, golden: dict[str, Any]) -> None:
    nodeid = "test_desk.py::test_noise[pass-noise_rate=0.8-keeper]"
    page = opened(golden, f"#case={quote(nodeid, safe='')}")
    detail = page.locator("#detail")
    detail.get_by_text(nodeid, exact=True).wait_for()
    assert (
        page.locator("[role=option][aria-selected=true] .about").inner_text()
        == "accuracy · pass · keeper · noise_rate=0.8 · noise"
    )
    assert detail.get_by_text("✗ not said 6 Rope Walk or six Rope Walk").is_visible()
    assert detail.get_by_text("✓ said Harbour Desk").is_visible()
    assert detail.locator("section:has(h4:text-is('Answer')) mark").all_inner_texts() == ["Harbour Desk"]
    assert detail.locator(".passage .role").all_inner_texts() == ["negative", "positive"]
    read_case(page, "test_desk.py::test_town[museum-challenger]")
    answer = detail.locator("section:has(h4:text-is('Answer')) mark")
    assert answer.all_inner_texts() == ["Clock Museum"]
    assert answer.get_attribute("class") == "fake"
    assert detail.locator(".passage mark.gold").all_inner_texts() == ["Net Museum"]
    page.evaluate("() => { location.hash = 'case=nobody%' }")
    assert page.get_by_text("This run has no case nobody%.").is_visible()


def test_a_case_is_shown_next_to_its_baseline(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    page.locator("summary", has_text="Broken by the primary metric: 2 cases").click()
    page.get_by_role("link", name="test_noise[pass-noise_rate=0.4-keeper]").first.click()
    beside = page.locator(".beside > div")
    beside.first.wait_for()
    hint = (
        "The old answer is not available. To have it: keep answers next to the baseline (rag_baseline_answers = true), "
        "then update the baseline, or compare with a run (--rag-against results.json)."
    )
    values = "accuracy 1.00, now 0.00 rouge_l 0.60, as before"
    assert " ".join(beside.all_inner_texts()[0].split()) == f"Baseline {hint} {values}"
    cases = page.locator("#cases")
    cases.get_by_label("State").select_option("fixed")
    page.get_by_text("1 case of 24").wait_for()
    cases.get_by_label("State").select_option("broken")
    page.get_by_text("2 cases of 24").wait_for()


def test_an_answer_is_shown_next_to_that_of_the_baseline_run(
    opened: Opener, golden: dict[str, Any], tmp_path: Path
) -> None:
    nodeid = "test_desk.py::test_noise[pass-noise_rate=0.4-keeper]"
    old_outcomes = [
        {**each, "answer": {**each["answer"], "text": "At 6 Rope Walk."}}
        for each in golden["outcomes"]
        if each["answer"]
    ]
    folder = tmp_path / golden["comparison"]["baseline"]["run"]
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps({**golden, "outcomes": old_outcomes}))
    page = opened(golden, f"#case={quote(nodeid, safe='')}", runs=tmp_path)
    before, now = page.locator(".beside > div").all()
    assert now.locator("mark").all_inner_texts() == ["Harbour Desk"]
    assert before.locator("mark").all_inner_texts() == ["6 Rope Walk"]


def test_a_radar_opens_on_a_facet_with_enough_values_and_ten_systems_look_different(opened: Opener) -> None:
    outcomes = [
        outcome(f"q{at}", f"system {n}", facets={"ability": "noise_robustness", "level": f"l{at}"})
        for at in range(3)
        for n in range(10)
    ]
    radar = opened(results(outcomes)).locator("#charts article", has_text="Radar")
    assert radar.get_by_label("Over").input_value() == "level"
    assert radar.locator("polygon.area").count() == 10
    look = "each => [each.getAttribute('class'), each.localName, each.getAttribute('points')].join()"
    assert len({mark.evaluate(look) for mark in radar.locator(".sample .mark").all()}) == 10


def test_charts_have_a_line_or_point_per_system_and_a_table_of_numbers(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    curve, radar, scatter = page.locator("#charts article").all()
    assert curve.locator("polyline.line").count() == 2
    assert curve.locator(".whisker").count() == 6
    curve.get_by_label("Metric").select_option("rouge_l")
    curve.locator("summary").click()
    rows = curve.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows] == [
        [rate, f"{mean:.2f} (n 3) [{low:.2f}, {high:.2f}]"]
        for rate, mean in (("0", 0.8), ("0.4", 0.6), ("0.8", 0.4))
        for low, high in [wilson_interval(3 * mean, 3)]
    ]
    radar.get_by_label("Over").select_option("level")
    assert radar.locator("tbody th").all_text_contents()[-1] == "knowledge_understanding"
    assert radar.locator("polygon.area").count() == 2
    assert scatter.locator(".mark").count() == 4  # two of them in the legend
    scatter.get_by_label("What it takes").select_option("cost")
    scatter.locator("summary").click()
    assert scatter.locator("tbody tr").first.inner_text().split("\t")[1] == "$0.0010"


def test_the_chart_of_cost_against_quality_marks_the_front(opened: Opener) -> None:
    def outcomes_of(system: str, right: int, seconds: float, model: str) -> list[dict[str, Any]]:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost_usd": 0.1, "latency_s": seconds}
        return [
            outcome(
                f"q{at}",
                system,
                facets={"workflow": "rag", "model": model},
                scores={"accuracy": {"value": float(at < right)}},
                answer={"usage": usage},
            )
            for at in range(4)
        ]

    outcomes = [
        *outcomes_of("good", 4, 9.0, "m1"),
        *outcomes_of("quick", 3, 1.0, "m2"),
        *outcomes_of("worse", 2, 2.0, "m3"),
    ]
    scatter = opened(results(outcomes)).locator("#charts article", has_text="Time and cost against quality")
    assert len((scatter.locator("polyline.front").get_attribute("points") or "").split()) == 2
    scatter.locator("summary").click()
    rows = [row.split("\t") for row in scatter.locator("tbody tr").all_inner_texts()]
    assert [[row[0], *row[3:6]] for row in rows] == [
        ["good", "front", "rag", "m1"],
        ["quick", "front", "rag", "m2"],
        ["worse", "dominated by quick", "rag", "m3"],
    ]
    scatter.get_by_label("What it takes").select_option("cost")
    assert scatter.locator("polyline.front").count() == 0  # all cost the same, so one system is the front


def test_the_keyboard_alone_reaches_every_control(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    focus_names = []
    for _ in range(120):
        page.keyboard.press("Tab")
        focus_names.append(page.evaluate(FOCUSED))
        if focus_names[-1] == "listbox":
            break
    assert {"a", "summary", "button", "region", "Metric", "Rows", "Over", "State", "Sort by"} <= set(focus_names)
    assert focus_names[-1] == "listbox"
    selected = page.locator("[role=option][aria-selected=true]")
    assert selected.get_attribute("aria-posinset") == "1"  # the worst case is open
    n = int(selected.get_attribute("aria-setsize") or 0)
    for key, at in (("ArrowDown", 2), ("ArrowDown", 3), ("ArrowUp", 2), ("End", n), ("PageUp", None), ("Home", 1)):
        page.keyboard.press(key)
        place = int(selected.get_attribute("aria-posinset") or 0)
        assert place == at if at else place < n
    page.locator("#case-title").wait_for()
    focused = page.locator("[role=listbox]").get_attribute("aria-activedescendant")
    assert focused == selected.get_attribute("id")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "case-title"
    page.locator("#matrix").get_by_label("Rows").focus()
    page.keyboard.press("ArrowDown")  # the matrix is redrawn, and the choice keeps the focus
    assert page.evaluate("() => document.activeElement.labels[0].textContent") == "Rows"


def test_paper_shows_the_verdict_the_matrix_and_the_open_case(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden, "#case=test_desk.py::test_town[museum-keeper]", width=760, scheme="dark")
    page.locator("#case-title").wait_for()
    page.emulate_media(media="print")
    assert page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("() => document.documentElement.scrollWidth") == 760
    for visible in ("#gates", "table.heat", "#charts svg.chart", "#case-title"):
        assert page.locator(visible).first.is_visible()
    for hidden in ("#theme", ".list", "#matrix .controls"):
        assert not page.locator(hidden).first.is_visible()


def test_without_script_the_page_shows_the_verdict_and_the_gates(opened: Opener, golden: dict[str, Any]) -> None:
    path = Path(opened(golden).url.removeprefix("file://"))
    text = path.read_text(encoding="utf-8")
    assert "1 of 3 gates failed" in text
    assert "fake_rate[topic=*] &lt;= 0.3" in text
    assert "<noscript>" in text


def test_the_page_and_accuracy_find_the_same_gold_answers(opened: Opener) -> None:
    from pytest_rageval.metrics.shared.matching import contains

    pairs = [
        ("It was 70.", "70"), ("170", "70"), ("70.5", "70"), (".70", "70"), ("2.3%", "2.3%"), ("12.3%", "2.3%"),
        ("12,345 men", "12345"), ("12,345 men", "12,345"), ("12,345", "345"),
        ("2022.1.3", "2022"), ("v2022.1.3", "1.3"),
        ("the party", "art"), ("THE  Net\tMuseum", "net museum"), ("Straße", "STRASSE"), ("ﬁve", "five"),
        ("１２３ yen", "123"), ("18强", "8强"), ("8 强", "8强"), ("晚上 十一点", "晚上十一点"), ("cafe\u0301", "café"),
        ("", "x"), ("x", ""), ("a b", "a  b"), ("ab", "a b"), ("…70", "70"), ("...70", "70"), ("x.70", "70"),
        ("$1,577 million", "1577"), ("1\u202f577", "1577"), ("in 2021,2022", "2021"), ("1,234,567", "1234567"),
        ("1577", "577"), ("-5%", "5%"), ("\u22125%", "-5%"), ("60-70", "70"), ("covid-19", "19"), ("-$5", "$5"),
        ("$(5)", "5"), ("(5)", "5"), ("负5", "5"), ("同比-5%", "5%"), ("同比-5%", "-5%"), ("3月-5月", "5月"),
        ("minus 5", "5"), ("5万亿", "5万"), ("5%-10%", "10%"),
    ]  # fmt: skip
    outcomes = [outcome(f"q{at}", text=text, scores={}) for at, (text, _) in enumerate(pairs)]
    instances = {f"q{at}": instance("?", [alias]) for at, (_, alias) in enumerate(pairs)}
    page = opened(results(outcomes, instances))
    for at, (text, alias) in enumerate(pairs):
        read_case(page, outcomes[at]["nodeid"])
        is_found = page.locator(".slots .met").count() == 1
        assert is_found == contains(text, alias), (text, alias)


def test_gold_that_matches_as_a_quantity_is_marked_as_found(opened: Opener) -> None:
    right, wrong = (
        outcome(name, text="$1,577 million", scores={"accuracy": {"value": value}})
        for name, value in (("q1", 1.0), ("q2", 0.0))
    )
    page = opened(results([right, wrong], {"q1": instance("?", ["$1577.00"]), "q2": instance("?", ["$1578"])}))
    for each, n_found in ((right, 1), (wrong, 0)):
        read_case(page, each["nodeid"])
        assert page.locator(".slots .met").count() == n_found


def test_a_gate_over_cells_reports_each_cell(opened: Opener) -> None:
    cells = [{"slice": {"topic": "A"}, "status": "skipped", "value": 0.2, "n": 1, "ci95": None, "reason": "n < 5"}]
    page = opened(results([outcome()], gates=[gate("accuracy[topic=*] >= 0.5", "failed", cells=cells)]))
    page.locator("summary", has_text="1 cell").click()
    assert page.locator("#gates li").inner_text() == "skipped topic=A: 0.20, n 1, –, n < 5"
