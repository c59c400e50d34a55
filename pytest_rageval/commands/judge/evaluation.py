"""Measure a trained judge on labels, for ``rageval judge eval``."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import asdict
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.agreement import parse_worth
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.judge_command import judged_metric, loaded_judge
from pytest_rageval.judge_training.card import figure_lines, left_out_lines
from pytest_rageval.judge_training.examples import read_examples
from pytest_rageval.judge_training.figures import Predicted, figures_of
from pytest_rageval.local_judges.judge_file import metric_digest
from pytest_rageval.local_judges.local_judge import BATCH
from pytest_rageval.report.text.lines import counted

__all__ = ["evaluate"]


def evaluate(
    folder: Path, sheets: Sequence[Path], values: Sequence[str], *, min_kappa: float | None, as_json: bool
) -> Generator[str, None, int]:
    """Yield how a judge agrees with labels; the status is 1 if its kappa is below ``min_kappa``.

    Raises:
        RagEvalError: the judge or a sheet cannot be read, or no label belongs to one of its classes.
    """
    if min_kappa is not None and not -1 <= min_kappa <= 1:
        raise SettingError(f"--min-kappa {min_kappa:g}: wanted a number in -1..1")
    judge = loaded_judge(folder)
    metric = judged_metric(judge.name).judge
    if metric_digest(metric) != judge.trained.metric_digest:
        raise SettingError(f"{folder}: the labels of {judge.name} changed since the judge was trained; train it again")
    with doing("reading the labels"):
        examples = read_examples(
            sheets, metric, parse_worth(values, None), lambda: stored_run(rootdir(Path.cwd()), None)
        )
    predictions, unjudged = [], 0
    with doing("judging"):
        for start in range(0, len(examples.rows), BATCH):
            batch = examples.rows[start : start + BATCH]
            for example, judgement in zip(batch, judge.judge_batch([each.judged for each in batch]), strict=True):
                if judgement.decision is None or example.value not in judge.trained.values:
                    unjudged += 1
                else:
                    predictions.append(Predicted(example, judgement.decision.above))
    if not predictions:
        raise SettingError(f"the sheets have no label that {judge.name} of {folder} can be compared with; name others")
    figures = figures_of(predictions, judge.trained.labels, judge.trained.values)
    if as_json:
        plain = {"judge": judge.digest, "metric": judge.name, "labels": len(predictions), "not_judged": unjudged}
        yield json.dumps({**plain, "left_out": examples.left_out, "figures": asdict(figures)}, indent=1)
    else:
        yield f"{judge.name} ({judge.digest[:8]}) on {counted(len(predictions), 'label')}"
        yield from left_out_lines(examples)
        if unjudged:
            yield f"{counted(unjudged, 'label')} not judged: another language, or a label that did not train the judge"
        yield from figure_lines(figures)
    kappa = figures.agreement.kappa.value
    return int(min_kappa is not None and (kappa is None or kappa < min_kappa))
