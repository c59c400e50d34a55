"""Draw the differences from the baseline over two facets, for the most regressed metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_rageval.report.html.comparison_rows import alpha_of, is_significant
from pytest_rageval.report.html.links import view_query

__all__ = ["difference_map_of"]

MAX_ROWS = 12
MAX_COLS = 7
SHADES = (0.005, 0.1, 0.3)
"""Bounds of a difference; beyond each of them its colour is one step stronger."""

Row = Mapping[str, Any]
Cells = Mapping[tuple[str, str], Row]


def difference_map_of(results: Row) -> dict[str, Any] | None:
    """Return the rows and columns of the map; None if no metric has cells that can be compared."""
    comparisons = results.get("comparison", {}).get("comparisons", ())
    worst = _worst_comparison(results, comparisons)
    if worst is None:
        return None
    keys = ("testbed", "metric", "system")
    rows = [each for each in comparisons if len(each["slice"]) > 1 and all(each[key] == worst[key] for key in keys)]
    if not rows:
        return None
    *row_facets, col_facet = rows[0]["slice"]
    cells = {(_name(each["slice"], row_facets), each["slice"].get(col_facet, "-")): each for each in rows}
    names, cols = _largest_differences(cells, 0, MAX_ROWS), _largest_differences(cells, 1, MAX_COLS)
    alpha, higher = alpha_of(results), results["plan"]["metrics"].get(worst["metric"], {}).get("higher_is_better", True)
    view = {**_view_of(worst), "rows": row_facets[-1], "cols": col_facet, "minus": "baseline"}
    return {
        "metric": worst["metric"],
        "testbed": results["testbeds"].get(worst["testbed"], {}).get("name", worst["testbed"]),
        "facets": (" / ".join(row_facets), col_facet),
        "cols": cols,
        "rows": [(name, [_cell(cells.get((name, col)), alpha, higher=higher) for col in cols]) for name in names],
        "hidden": (len({row for row, _ in cells}) - len(names), len({col for _, col in cells}) - len(cols)),
        "to": f"matrix&{view_query(view)}",
    }


def _worst_comparison(results: Row, comparisons: Sequence[Row]) -> Row | None:
    """Return the comparison of the account's first drop, or else the lowest significant difference."""
    cells = {_key(each) for each in comparisons if len(each["slice"]) > 1}
    overall = {_key(each): each for each in comparisons if not each["slice"] and _key(each) in cells}
    for finding in results.get("account", {}).get("findings", ()):
        if finding["kind"] == "drop" and _key(finding) in overall:
            return overall[_key(finding)]
    alpha = alpha_of(results)
    significant = [each for each in comparisons if _key(each) in overall and is_significant(each, alpha)]
    return overall[_key(min(significant, key=lambda each: each["delta"]))] if significant else None


def _key(each: Row) -> tuple[str, str, str]:
    return each.get("testbed", ""), each.get("metric", ""), each.get("system", "")


def _name(slice_: Mapping[str, str], facets: Iterable[str]) -> str:
    return " / ".join(slice_.get(facet, "-") for facet in facets)


def _largest_differences(cells: Cells, side: int, max_names: int) -> list[str]:
    """Return at most ``max_names`` names of rows (side 0) or columns (side 1), in their order.

    If there are more, those with the largest differences remain.
    """
    largest: dict[str, float] = {}
    for key, each in cells.items():
        largest[key[side]] = max(largest.get(key[side], 0.0), abs(each["delta"] or 0.0))
    largest_names = set(sorted(largest, key=lambda name: -largest[name])[:max_names])
    return [name for name in largest if name in largest_names]


def _cell(each: Row | None, alpha: float, *, higher: bool) -> dict[str, Any] | None:
    if each is None or None in (each["delta"], each["baseline"], each["value"]):
        return None
    gain = each["delta"] if higher else -each["delta"]
    shade = sum(abs(gain) > bound for bound in SHADES)
    return {
        "was": f"{each['baseline']:.2f}",
        "now": f"{each['value']:.2f}",
        "delta": f"{each['delta']:+.2f}".replace("-", "−") if shade else "0.00",
        "n": each["n_pairs"],
        "kind": f"{'fall' if gain < 0 else 'rise'} shade-{shade}" if shade else "same",
        "sign": ("▼" if gain < 0 else "▲") if shade else "",
        "word": ("worse" if gain < 0 else "better") if shade else "as before",
        "sure": is_significant(each, alpha),
        "to": f"cases&{view_query({**_view_of(each), **_facet_filters(each), 'state': 'asked', 'sort': 'change'})}",
    }


def _view_of(each: Row) -> dict[str, str]:
    return {"of": f"testbed:{each['testbed']}", "metric": each["metric"], "system": each["system"]}


def _facet_filters(each: Row) -> dict[str, str]:
    return {f"facet.{name}": "-" if value == "-" else f"={value}" for name, value in each["slice"].items()}
