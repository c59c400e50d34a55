"""Measure a trained judge on labels, for ``rageval judge eval``."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.agreement import parse_worth
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.judge_command import judged_metric, loaded_judge
from pytest_rageval.judge_training.card import figure_lines, left_out_lines
from pytest_rageval.judge_training.examples import Example, digest_of_example, read_examples
from pytest_rageval.judge_training.figures import Prediction, figures_of
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.local_judges.judge_file import metric_digest
from pytest_rageval.local_judges.local_judge import BATCH
from pytest_rageval.local_judges.lora_judge import is_llm, load_lora_judge
from pytest_rageval.model.judging import Judge
from pytest_rageval.report.text.lines import counted
from pytest_rageval.retrieval.encoder import model_digest

__all__ = ["evaluate"]


def evaluate(
    folder: Path, sheets: Sequence[Path], values: Sequence[str], *, min_kappa: float | None, as_json: bool
) -> Generator[str, None, int]:
    """Yield the agreement of a judge with labels; return 1 if its kappa is below ``min_kappa``, else 0.

    Raises:
        RagEvalError: the judge or a sheet cannot be read, or no label belongs to one of its classes.
    """
    if min_kappa is not None and not -1 <= min_kappa <= 1:
        raise SettingError(f"--min-kappa {min_kappa:g}: wanted a number in -1..1")
    judge = _load_llm(folder) if is_llm(folder) else _load_head(folder)
    with doing("reading the labels"):
        examples = read_examples(
            sheets, judge.metric, parse_worth(values, None), lambda: stored_run(rootdir(Path.cwd()), None)
        )
    rows = [each for each in examples.rows if each.value in judge.values]
    with doing("judging"):
        by_row = zip(rows, judge.decide(rows), strict=True)
        predictions = [Prediction(example, above) for example, above in by_row if above is not None]
    unjudged = len(examples.rows) - len(predictions)
    if not predictions:
        raise SettingError(f"the sheets have no label that {judge.name} of {folder} can be compared with; name others")
    in_training = sum(digest_of_example(each.example) in judge.trained_on for each in predictions)
    figures = figures_of(predictions, judge.labels, judge.values)
    if as_json:
        fields = {"judge": judge.digest, "metric": judge.name, "labels": len(predictions), "not_judged": unjudged}
        fields["of_training"] = in_training if judge.trained_on else None
        yield json.dumps({**fields, "left_out": examples.left_out, "figures": asdict(figures)}, indent=1)
    else:
        yield f"{judge.name} ({judge.digest[:8]}) on {counted(len(predictions), 'label')}"
        if in_training:
            share = f"{in_training:,} of {counted(len(predictions), 'label')}"
            note = "they measure it too well; its card has its figures on labels that did not train it"
            yield f"{share} trained this judge: {note}"
        elif not judge.trained_on:
            yield "judge.json does not say which labels trained the judge, so these may have; train it again to know"
        yield from left_out_lines(examples)
        if unjudged:
            yield f"{counted(unjudged, 'label')} not judged: another language, or a label that did not train the judge"
        yield from figure_lines(figures)
    kappa = figures.agreement.kappa.value
    return int(min_kappa is not None and (kappa is None or kappa < min_kappa))


@dataclass(frozen=True, slots=True)
class _Judge:
    """A trained judge, of the kind head or llm.

    Attributes:
        name: the name of the metric's judge.
        digest: the checksum of its judge.json.
        trained_on: `digest_of_example` of each label that trained it; empty if an earlier version trained it.
        labels, values: its classes in ascending order of value, and their values.
        metric: the judge of the metric; the trained judge decides between its labels.
        decide: returns for each example the probabilities that its label is above each class but the highest; None if
            it does not judge the example.
    """

    name: str
    digest: str
    trained_on: frozenset[str]
    labels: Sequence[str | float]
    values: Sequence[float]
    metric: Judge
    decide: Callable[[Sequence[Example]], list[tuple[float, ...] | None]]


def _load_head(folder: Path) -> _Judge:
    judge = loaded_judge(folder)
    trained = judge.trained

    def decide(rows: Sequence[Example]) -> list[tuple[float, ...] | None]:
        batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
        results = [result for batch in batches for result in judge.judge_batch([each.judged for each in batch])]
        return [None if each.decision is None else each.decision.above for each in results]

    metric = _metric(folder, judge.name, trained.metric_digest)
    trained_on = frozenset(trained.training.examples)
    return _Judge(judge.name, judge.digest, trained_on, trained.labels, trained.values, metric, decide)


def _load_llm(folder: Path) -> _Judge:
    judge = load_lora_judge(folder, model_digest)
    metric = _metric(folder, judge.name, judge.metric_digest)
    if not isinstance(metric, PromptedJudge):
        raise SettingError(f"{folder}: the judge {judge.name} no longer has a prompt; train a judge of kind head")
    prompts = metric.messages

    def decide(rows: Sequence[Example]) -> list[tuple[float, ...] | None]:
        return [judge.above(prompts(each.judged.sample)) for each in rows]

    return _Judge(judge.name, judge.digest, frozenset(judge.examples), judge.labels, judge.values, metric, decide)


def _metric(folder: Path, name: str, digest: str) -> Judge:
    """Return the judge of a metric in the project; raise `SettingError` if its labels differ from the training."""
    metric = judged_metric(name).judge
    if metric_digest(metric) != digest:
        raise SettingError(f"{folder}: the labels of {name} changed since the judge was trained; train it again")
    return metric
