"""A run as one page of HTML that needs nothing else: no network, no server, no folder beside it."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.folders import whole_files
from pytest_rageval.report.html import headline
from pytest_rageval.report.html.baseline_answers import Earlier, read_earlier
from pytest_rageval.report.html.case_pairs import BaselineCases, paired_of
from pytest_rageval.report.html.columns import columns_of
from pytest_rageval.report.html.comparison import alpha_of, comparison_of
from pytest_rageval.report.html.gate_rows import gates_of
from pytest_rageval.report.html.links import Cases
from pytest_rageval.report.html.overviews import overviews_of
from pytest_rageval.report.html.payload import INSTANCES, OUTCOMES, pack, parcels_of
from pytest_rageval.report.html.sentences import sentences_of
from pytest_rageval.report.html.visible_text import UNSEEN, in_address, shown
from pytest_rageval.report.run.json_text import from_json, to_json

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["check_jinja2", "html_of", "write_html"]

SCRIPTS = (
    *("texts", "store", "statistics", "cells", "matrix", "heat", "grid", "plot", "charts"),
    *("filters", "controls", "browser", "numbers", "gold", "case", "paper", "start"),
)
"""The files of the page's script, in the order in which they are put together."""


def check_jinja2() -> None:
    """Raise `MissingDependencyError` where jinja2 is not installed: better before a session than at its end."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingDependencyError("an HTML report", "html") from None


def write_html(path: Path, results: Mapping[str, Any], runs: Path | None = None) -> None:
    """Write the page of a run, so that no reader sees half of it.

    Args:
        path: where to; folders that are missing are made.
        results: what results.json holds; its outcomes and instances may be JSON text.
        runs: the folder of earlier runs; if the baseline's is there, its answers stand beside those of this run.

    Raises:
        MissingDependencyError: jinja2 is not installed.
        OSError: the file cannot be written.
    """
    check_jinja2()
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_files(path) as (part,), part.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(html_of(results, runs))


def html_of(results: Mapping[str, Any], runs: Path | None = None) -> Iterator[str]:
    """Yield the page of a run piece by piece, each parcel of its texts made when its turn comes; see `write_html`."""
    paired = paired_of(results)
    earlier = read_earlier(runs, results, paired) if runs and paired else None
    columns, answers = columns_of(results, paired)
    statuses = Counter(columns["status"]["values"][code] for code in columns["status"]["codes"])
    questions = [from_json(each).get("question", "") for each in results["instances"].values()]
    cases = Cases(columns)
    script, style = _script(), _text("page.css")
    return _template().generate(
        run=results["run"],
        verdict=headline.conclusion_of(results, statuses["error"]),
        tiles=headline.tiles_of(results, statuses, len(columns["system"]["values"])),
        sentences=sentences_of(results, columns, cases),
        failed=headline.failed_tests_of(results, cases),
        gates=gates_of(results),
        comparison=comparison_of(results, statuses),
        overviews=overviews_of(results),
        cases=cases,
        notes=headline.notes_of(results),
        script=script,
        style=style,
        policy=_policy(script, style),
        columns=pack(to_json({**_told(results, earlier, paired), "columns": columns, "questions": questions})),
        answers=pack(to_json(answers)),
        parcels=parcels_of(results, earlier),
    )


def _told(results: Mapping[str, Any], earlier: Earlier | None, paired: BaselineCases | None) -> dict[str, Any]:
    """Return what the page needs besides the outcomes."""
    comparisons = results["comparison"]["comparisons"] if "comparison" in results else []
    causes = paired.causes if paired else {}
    return {
        "view": results["plan"]["view"],
        "metrics": results["plan"]["metrics"],
        "testbeds": [{"nodeid": key, **testbed} for key, testbed in results["testbeds"].items()],
        "comparisons": comparisons,
        "causes": {node: causes[node] for each in comparisons for node in each["broken"] if node in causes},
        "alpha": alpha_of(results),
        "sizes": {"outcomes": OUTCOMES, "instances": INSTANCES, "earlier": OUTCOMES if earlier else 0},
        "unseen": UNSEEN,
    }


def _policy(script: str, style: str) -> str:
    """Return a content security policy under which this script and this style run, and nothing is ever fetched."""
    one, other = (b64encode(sha256(text.encode()).digest()).decode() for text in (script, style))
    allowed = f"script-src 'sha256-{one}'; style-src 'sha256-{other}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _script() -> str:
    parts = "\n".join(_text(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_text), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    made.filters["shown"] = shown
    made.filters["in_address"] = in_address
    return made.get_template("page.html")


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
