"""Gates are bars: bound, was, now and interval on one scale; failed ones first, passed ones folded."""

from __future__ import annotations

from support.browser.opened_pages import Opener
from support.browser.written_reports import case, gate, results


def test_a_gate_is_a_bar_and_passed_ones_are_folded(opened: Opener) -> None:
    regressed = gate("accuracy >= baseline - 0.1", "failed", value=0.5, baseline=0.8, ci95=[0.4, 0.6])
    regressed |= {"delta": -0.3, "delta_ci95": None, "n_pairs": 10, "verdict": "worse", "p_value": 9.5e-153}
    page = opened(results([case("q1", "keeper", 1.0)], gates=[gate(), regressed]))
    bar = page.locator("#gates .bar")
    expected = "now 0.50, was 0.80, allowed >= 0.70, 95 % interval 0.40 to 0.60"
    assert bar.get_attribute("aria-label") == expected
    assert bar.locator(".bound").get_attribute("d") == "M145.0 1V19"
    assert bar.locator(".now").get_attribute("cx") == "105.0"
    assert page.locator("#gates tbody tr").count() == 1
    assert not page.locator("#gate-1").is_visible()
    page.get_by_text("1 gate passed").click()
    assert page.locator("#gate-1").is_visible()
    page.get_by_text("how it was decided").click()
    told = page.locator("#gate-0 details p").first.inner_text()
    assert "one-sided p < 0.001" in told
    assert "e-1" not in told


def test_a_bound_beyond_one_widens_the_scale(opened: Opener) -> None:
    slow = gate("latency_p95 <= 3", "failed", value=6.0, ci95=None)
    page = opened(results([case("q1", "keeper", 1.0)], gates=[slow]))
    assert page.locator("#gates .bars small").inner_text() == "0 to 6"
    assert page.locator("#gates .bar .now").get_attribute("cx") == "205.0"
