"""Write a run as one self-contained HTML page, without network, server or further files."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.folders import atomic_files
from pytest_rageval.report.html import headline
from pytest_rageval.report.html.account_rows import causes_of, findings_of, stored_verdict
from pytest_rageval.report.html.baseline_answers import BaselineAnswers, read_baseline_answers
from pytest_rageval.report.html.case_pairs import BaselineCases, baseline_cases_of
from pytest_rageval.report.html.columns import columns_of
from pytest_rageval.report.html.comparison_rows import alpha_of, comparison_of
from pytest_rageval.report.html.difference_map import difference_map_of
from pytest_rageval.report.html.gate_rows import gates_of
from pytest_rageval.report.html.gate_trends import earlier_values
from pytest_rageval.report.html.glossary import TERMS
from pytest_rageval.report.html.leaderboards import leaderboards_of
from pytest_rageval.report.html.links import Cases
from pytest_rageval.report.html.overviews import overviews_of
from pytest_rageval.report.html.payload import INSTANCES, OUTCOMES, pack, parcels_of
from pytest_rageval.report.html.sentences import sentences_of
from pytest_rageval.report.html.text_selection import MAX_OUTCOMES, HtmlCases, TextSelection, select_texts
from pytest_rageval.report.html.visible_text import INVISIBLE_CHARACTERS, breakable_html, case_fragment, visible_html
from pytest_rageval.report.run.json_text import from_json, to_json
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["check_jinja2", "html_of", "write_html"]

SCRIPTS = (
    *("texts", "store", "statistics", "cells", "matrix", "heat", "grid", "plot", "charts"),
    *("filters", "address", "controls", "browser", "numbers", "gold", "words", "answers", "case"),
    *("paper", "tools", "start"),
)
"""The files of the page's script, in order of concatenation."""


def check_jinja2() -> None:
    """Raise `MissingDependencyError` if jinja2 is not installed; called before the session, not at its end."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingDependencyError("an HTML report", "html") from None


def write_html(
    path: Path, results: Mapping[str, Any], runs: Path | None = None, cases: HtmlCases | None = None
) -> None:
    """Write the page of a run, atomically.

    Args:
        path: the file to write; missing folders are created.
        results: the content of results.json; outcomes and instances may be JSON text.
        runs: the folder of earlier runs. The page shows their gate values, and the answers of the baseline's run.
        cases: the cases whose texts the page contains; see `select_texts`.

    Raises:
        MissingDependencyError: jinja2 is not installed.
        OSError: the file cannot be written.
    """
    check_jinja2()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_files(path) as (part,), part.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(html_of(results, runs, cases))


def html_of(results: Mapping[str, Any], runs: Path | None = None, texts_of: HtmlCases | None = None) -> Iterator[str]:
    """Yield the page of a run in pieces; each parcel of texts is packed only when it is written."""
    baseline_cases = baseline_cases_of(results)
    earlier = read_baseline_answers(runs, results, baseline_cases) if runs and baseline_cases else None
    columns, answers = columns_of(results, baseline_cases)
    selection = select_texts(results, texts_of)
    if selection.left_out:
        pairs = zip(selection.outcomes, answers, strict=True)
        answers = ["" if from_json(outcome) is None else answer for outcome, answer in pairs]
    statuses = Counter(columns["status"]["values"][code] for code in columns["status"]["codes"])
    questions = [from_json(each).get("question", "") for each in results["instances"].values()]
    cases = Cases(columns)
    script, style = _script(), _text("page.css")
    return _template().generate(
        run=results["run"],
        verdict=stored_verdict(results) or headline.conclusion_of(results, statuses["error"]),
        findings=findings_of(results, cases),
        terms=TERMS,
        map=difference_map_of(results),
        boards=leaderboards_of(results),
        tiles=headline.tiles_of(results, statuses, len(columns["system"]["values"])),
        sentences=[] if "account" in results else sentences_of(results, columns, cases),
        failed=headline.failed_tests_of(results, cases),
        gates=gates_of(results, earlier_values(runs, results) if runs and results["gates"] else None),
        comparison=comparison_of(results, statuses),
        overviews=overviews_of(results),
        cases=cases,
        notes=[*headline.notes_of(results), *_left_out(selection, texts_of)],
        script=script,
        style=style,
        policy=_policy(script, style),
        columns=pack(
            to_json({**_page_data(results, earlier, baseline_cases), "columns": columns, "questions": questions})
        ),
        answers=pack(to_json(answers)),
        parcels=parcels_of(selection, earlier),
    )


def _left_out(selection: TextSelection, texts_of: HtmlCases | None) -> Iterator[str]:
    """Yield a note if the page lacks the texts of some cases."""
    if selection.left_out:
        texts = f"the texts of {counted(selection.left_out, 'case')} that did not change are not in this page"
        why = "it was written with --rag-html-cases changed"
        if texts_of is None:
            why = f"a page with more than {MAX_OUTCOMES:,} cases has them only with --rag-html-cases all"
        yield f"{texts}: {why}; all figures include these cases"


def _page_data(
    results: Mapping[str, Any], earlier: BaselineAnswers | None, baseline_cases: BaselineCases | None
) -> dict[str, Any]:
    """Return the data of the page other than outcomes and instances."""
    comparisons = results["comparison"]["comparisons"] if "comparison" in results else []
    causes = baseline_cases.causes if baseline_cases else {}
    return {
        "view": results["plan"]["view"],
        "metrics": results["plan"]["metrics"],
        "testbeds": [{"nodeid": key, **testbed} for key, testbed in results["testbeds"].items()],
        "comparisons": comparisons,
        "causes": {node: causes[node] for each in comparisons for node in each["broken"] if node in causes},
        "alpha": alpha_of(results),
        "found": causes_of(results),
        "sizes": {"outcomes": OUTCOMES, "instances": INSTANCES, "earlier": OUTCOMES if earlier else 0},
        "unseen": INVISIBLE_CHARACTERS,
    }


def _policy(script: str, style: str) -> str:
    """Return a content security policy that allows only this script and this style, and no network access."""
    one, other = (b64encode(sha256(text.encode()).digest()).decode() for text in (script, style))
    allowed = f"script-src 'sha256-{one}'; style-src 'sha256-{other}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _script() -> str:
    parts = "\n".join(_text(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["shown"] = visible_html
    environment.filters["breakable"] = breakable_html
    environment.filters["case_fragment"] = case_fragment
    return environment.get_template("page.html")


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
