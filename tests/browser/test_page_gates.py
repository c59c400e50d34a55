"""Gates are bars with the bound, the old and new value and the interval; passed gates are folded."""

from __future__ import annotations

from pathlib import Path

from support.browser.opened_pages import Opener, violations
from support.browser.written_reports import case, gate, results

from pytest_rageval.report.files.run_folder import write_atomically


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
    explanation = page.locator("#gate-0 details p").first.inner_text()
    assert "one-sided p < 0.001" in explanation
    assert "e-1" not in explanation


def test_a_bound_beyond_one_widens_the_scale(opened: Opener) -> None:
    slow = gate("latency_p95 <= 3", "failed", value=6.0, ci95=None)
    page = opened(results([case("q1", "keeper", 1.0)], gates=[slow]))
    assert page.locator("#gates .bars small").inner_text() == "0 to 6"
    assert page.locator("#gates .bar .now").get_attribute("cx") == "205.0"


def _write_run(runs: Path, name: str, value: float | None, **more: str) -> Path:
    """Write the results.json of a run with one gate; return its path."""
    path = runs / name / "results.json"
    path.parent.mkdir(parents=True)
    gates = [gate(value=value, **more)]
    write_atomically(path, results([case("q1", "keeper", 1.0)], gates=gates, run={"id": name}))
    return path


def test_a_gate_shows_a_line_of_its_values_in_earlier_runs(opened: Opener, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for day, value in enumerate((0.91, 0.9, 0.8), start=1):
        _write_run(runs, f"2026010{day}T000000", value)
    _write_run(runs, "20260101T000001", None)
    _write_run(runs, "20260101T000002", 0.1, status="skipped", reason="not decided: 1 of 12 cases selected")
    _write_run(runs, "20260109T000000", 0.2)  # later than the page's run
    damaged = _write_run(runs, "20260101T000003", 0.3)
    damaged.write_bytes(damaged.read_bytes()[:-20])
    interrupted = _write_run(runs, "20260101T000004", 0.4)
    text = interrupted.read_text(encoding="utf-8").replace('"interrupted": false', '"interrupted": true')
    interrupted.write_text(text, encoding="utf-8")
    (runs / "20260101T000005").mkdir()
    (runs / "20260101T000006").mkdir()
    (runs / "20260101T000006" / "results.json").touch()
    new = gate("recall >= 0.5", value=0.6)
    now = results([case("q1", "keeper", 1.0)], gates=[gate(), new], run={"id": "20260104T000000"})
    page = opened(now, runs=runs)
    page.get_by_text("2 gates passed").click()
    label = "3 earlier runs, oldest first: 0.91, 0.9, 0.8; now 0.75"
    line = page.get_by_role("img", name=label, exact=True)
    assert line.is_visible()
    places = [float(point.split(",")[1]) for point in str(line.locator("polyline").get_attribute("points")).split()]
    assert places == [2.0, 3.0, 13.0, 18.0]
    assert page.locator(".trend").count() == 1  # the other gate is new
    assert violations(page) == []


def test_a_gate_with_one_earlier_value_has_no_trend(opened: Opener, tmp_path: Path) -> None:
    _write_run(tmp_path / "runs", "20260101T000000", 0.9)
    page = opened(results([case("q1", "keeper", 1.0)], gates=[gate()]), runs=tmp_path / "runs")
    assert page.locator(".trend").count() == 0
