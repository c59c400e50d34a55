"""``rageval score``: score recorded answers without pytest."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Generator

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.config.models import model_setting
from pytest_rageval.report.sections.gates import gate_failure
from pytest_rageval.scoring.score import Options, score_answers
from pytest_rageval.scoring.summary import lines_of

__all__ = ["score"]


def score(arguments: argparse.Namespace) -> Generator[str, None, int]:
    """Score the answers, yield the lines of the summary, and return 1 if a gate failed, else 0.

    With ``--strict``, also return 1 if an answer has no case or a case has no answer.

    Raises:
        DataError, SettingError: the answers cannot be scored.
    """
    options = Options(
        metrics=_names(arguments.metrics),
        gates=arguments.gate,
        cluster=arguments.cluster,
        by=_names(arguments.by),
        matrix=arguments.matrix,
        rows=arguments.rows,
        cols=arguments.cols,
        baseline=arguments.baseline,
        out=arguments.out,
        jobs=arguments.jobs,
        engine=arguments.engine,
        address=arguments.address,
        corpus=arguments.corpus,
        chunking=arguments.chunking,
        judge_model=arguments.judge_model,
        judge_params=model_setting(None, arguments.judge_param, "--judge-param", {}).params,
        cassettes=arguments.cassettes,
    )
    scores = score_answers(arguments.cases, arguments.answers, options, keep=False)
    yield from lines_of(scores, shutil.get_terminal_size().columns)
    for gate in scores.gates:
        if gate.status == "failed":
            yield ""
            yield ascii_safe(str(gate.gate))
            yield gate_failure(gate)
    yield f"written: {arguments.out}"
    n_without_partner = scores.leftovers.n_unused + scores.leftovers.n_unanswered
    return int(not scores.passed or (arguments.strict and n_without_partner > 0))


def _names(text: str | None) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
