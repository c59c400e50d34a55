"""Groups of options: reports, the baseline, and the agreement of judges with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.config import components, parsing
from pytest_rageval.hooks.config.setting import Setting, Settings

if TYPE_CHECKING:
    from pytest_rageval.analysis.baseline.regression import AlphaPer, Policy
    from pytest_rageval.hooks.config.diagnosis_rule import DiagnosisRule
    from pytest_rageval.hooks.config.setting import Place
    from pytest_rageval.report.html.text_selection import HtmlCases

__all__ = ["BaselineSetting", "ReportTargets", "TrustSetting", "diagnosis"]


def diagnosis(value: str, place: Place) -> DiagnosisRule | None:
    """Return the rule that decides whether an answer is correct; None if ``rag_diagnosis`` is not set."""
    if not value.strip():
        return None
    from pytest_rageval.hooks.config.diagnosis_rule import diagnosis_rule

    return diagnosis_rule(value)


class ReportTargets(Settings):
    """Where to write reports in addition to the run folder; None for no report."""

    # fmt: off
    json = Setting("--rag-json", parse=parsing.report, metavar="PATH",
        help="also write results.json to PATH", more="reference/results.md")
    html = Setting("--rag-html", parse=parsing.page, metavar="PATH",
        help="write an HTML page of the run to PATH, as a single file",
        more="how-to/reports.md#a-page-of-the-run")
    html_cases: Setting[HtmlCases | None] = Setting("--rag-html-cases", choices=("all", "changed"),
        help="cases whose texts the page contains: all (up to 50,000), or changed for those that broke, were fixed, "
        "missed or failed",
        more="how-to/reports.md#a-page-of-the-run")
    markdown = Setting("--rag-markdown", parse=parsing.report, metavar="PATH",
        help="write a report for a pull request comment to PATH", more="how-to/pull-request.md")
    mlflow = Setting("--rag-mlflow", parse=parsing.store, metavar="URI",
        help="log each system as an MLflow run, to a server, a database or a folder",
        more="how-to/reports.md#mlflow")
    # fmt: on


class BaselineSetting(Settings):
    """The baseline of the run, and how gates compare with it."""

    # fmt: off
    path = Setting("--rag-baseline", "rag_baseline", parse=parsing.baseline, metavar="PATH",
        help="compare the run with this committed baseline", more="how-to/gates.md#compare-with-a-baseline")
    whole: Setting[bool] = Setting("--rag-update-baseline", action="store_true",
        help="replace the baseline with this run", more="how-to/gates.md#compare-with-a-baseline")
    part: Setting[bool] = Setting("--rag-update-baseline-part", action="store_true",
        help="update only the cases that ran in the baseline",
        more="how-to/gates.md#compare-with-a-baseline")
    answers: Setting[bool] = Setting("rag_baseline_answers", kind="bool", default=False,
        help="whether --rag-update-baseline also writes the answers, compressed, next to the baseline",
        more="how-to/gates.md#keep-the-old-answers")
    against = Setting("--rag-against", parse=parsing.results, metavar="RESULTS",
        help="results.json of an earlier run: its answers are shown next to the new ones; without a baseline, gates "
        "compare with it", more="how-to/gates.md#keep-the-old-answers")
    alpha = Setting("rag_alpha", parse=parsing.alpha, default="0.05",
        help="accepted chance of a false alarm in a comparison, as a share", more="explanation/decisions.md")
    alpha_per: Setting[AlphaPer] = Setting("rag_alpha_per", parse=parsing.one_of("session", "gate"), default="session",
        help="session or gate: what rag_alpha applies to", more="explanation/decisions.md")
    min_compared = Setting("rag_min_compared", parse=parsing.share, default="0.5",
        help="least share of a gate's cases to compare with the baseline, or to score for a fixed bound",
        more="explanation/decisions.md#not-comparable")
    inconclusive: Setting[Policy] = Setting("rag_inconclusive", parse=parsing.one_of("pass", "warn", "fail"),
        help="pass, warn or fail for a drop that is not significant", default="warn",
        more="explanation/decisions.md#inconclusive")
    # fmt: on

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        if self.whole and self.part:
            raise SettingError(
                "--rag-update-baseline and --rag-update-baseline-part exclude each other; give one of them",
                code="RAG103",
            )
        if self.path is None and self.update:
            raise SettingError(
                "there is no baseline to update; name one with --rag-baseline or as rag_baseline in the ini",
                code="RAG210",
            )

    @property
    def update(self) -> bool:
        """Whether the run updates the baseline."""
        return self.whole or self.part


class TrustSetting(Settings):
    """The agreement with people's labels that judges must reach."""

    # fmt: off
    labels = Setting("rag_judge_labels", parse=parsing.labels,
        help="file of people's labels of answers, to check judges against",
        more="how-to/people.md#let-the-labels-decide")
    min_kappas = Setting("rag_judge_min_kappa", parse=components.kappas, kind="linelist",
        help="minimum kappa with the labels: a number, or 'judge: number', one per line",
        more="how-to/people.md#let-the-labels-decide")
    max_bias = Setting("rag_judge_max_bias", parse=parsing.share, default="0.1",
        help="largest difference from people's mean that a judge may have for a system",
        more="how-to/people.md#a-judge-that-favours-a-system")
    # fmt: on

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        if self.min_kappas and self.labels is None:
            setting, missing = TrustSetting.min_kappas.ini, TrustSetting.labels.ini
            raise SettingError(f"{setting} has no effect without {missing}; set both, or neither", code="RAG103")
