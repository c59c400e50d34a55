"""A page of several systems: the leaderboard, and the cases that each won, tied or lost."""

from __future__ import annotations

from typing import Any

from support.browser.opened_pages import Opener, violations
from support.browser.written_reports import Row, case, gate, results

from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.sections.section import encode_sections

SCORES = {
    "keeper": [1.0] * 12,
    "clerk": [1.0] * 11 + [0.0],
    "parrot": [0.0] * 11 + [1.0],
}


def ranked_results() -> dict[str, Any]:
    """Return results of three systems over the same twelve cases; each system has its own workflow."""
    rows: list[Row] = []
    for system, values in SCORES.items():
        for at, value in enumerate(values):
            row = case(f"q{at}", system, value, topic=f"t{at % 3}", workflow=system)
            row["answer"]["text"] = f"{system} says {'It leaves at 23:15' if value else 'nothing of use'}."
            rows.append(row)
    run_results = results(rows, gates=[gate()])
    return run_results | encode_sections(run_of(run_results)[0])


def test_the_leaderboard_leads_to_the_cases_that_each_system_won_tied_and_lost(opened: Opener) -> None:
    page = opened(ranked_results(), width=1440)
    board = page.locator(".board")
    box = board.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800  # on the first screen
    rows = [row.inner_text().split() for row in board.locator("tbody tr").all()]
    assert [row[1] for row in rows] == ["keeper", "clerk", "parrot"]
    assert rows[0][2:] == ["1.00", "[0.76,", "1.00]", "best"]
    assert rows[1][2:6] == ["0.92", "[0.65,", "0.99]", "−0.08"]
    assert "not significant" in " ".join(rows[1])
    assert rows[2][2:6] == ["0.08", "[0.01,", "0.35]", "−0.92"]
    assert "not significant" not in " ".join(rows[2])
    assert board.locator(".duels").all_inner_texts() == ["", "0, 11, 1", "0, 1, 11"]

    for word, n in (("tied", 1), ("lost", 11)):
        board.locator("tr", has_text="parrot").get_by_role("link", name=word).click()
        page.locator("#cases .count").get_by_text(f"{n} case{'s' if n > 1 else ''} of 36").wait_for()
    assert "minus=system%3Akeeper" in page.url
    assert "state=worse" in page.url
    page.locator("#case-title").get_by_text("q0").wait_for()
    assert page.locator(".row").first.locator(".chip").inner_text().split() == ["0.00", "▼", "worse"]
    answers = page.locator("#detail .beside > div").all_inner_texts()
    assert [text.splitlines()[:2] for text in answers] == [
        ["keeper", "keeper says It leaves at 23:15."],
        ["parrot", "parrot says nothing of use."],
    ]
    assert "The same as those of keeper." in page.locator("#detail").inner_text()

    page.reload()  # the address restores the list
    page.locator("#cases .count").get_by_text("11 cases of 36").wait_for()
    page.get_by_label("Compared with", exact=True).select_option("clerk")
    page.locator("#cases .count").get_by_text("11 cases of 36").wait_for()
    page.get_by_label("State", exact=True).select_option("better than what it is compared with")
    page.locator("#cases .count").get_by_text("1 case of 36").wait_for()
    assert violations(page) == []

    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
