"""The card of a judge: how good it is, on what, and where it is biased, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tabulate import tabulate

from pytest_rageval.analysis.people.agreement import Estimate
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.judge_training.examples import Example, Examples
from pytest_rageval.judge_training.figures import Figures, SystemFigures
from pytest_rageval.judge_training.fitting import FOLDS, weights_of
from pytest_rageval.judge_training.training import TrainingResult
from pytest_rageval.local_judges.features import COSINES, RULES
from pytest_rageval.report.text.lines import counted

__all__ = ["CARD", "card", "figure_lines", "headline", "left_out_lines"]

CARD = "card.md"
LARGEST = 5  # weights that the card lists
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def card(trained: TrainingResult, digest: str) -> str:
    """Return the card.

    Args:
        trained: the judge and its figures.
        digest: the checksum of its judge.json.
    """
    return "\n".join(_card(trained, digest)) + "\n"


def headline(trained: TrainingResult) -> Iterator[str]:
    """Yield the most important figures as lines for a terminal."""
    figures = trained.figures
    yield from _counts(trained)
    yield from left_out_lines(trained.examples)
    yield ""
    yield f"{_how(trained)}:"
    yield f"  kappa {_estimate(figures.agreement.kappa)}, accuracy {_estimate(figures.agreement.accuracy)}"
    for each in figures.systems:
        kappa = _estimate(each.agreement.kappa)
        yield f"  {each.system or 'no system'}: kappa {kappa}, bias {_signed(each.bias, each.ci95)}{_warning(each)}"


def figure_lines(figures: Figures) -> Iterator[str]:
    """Yield the tables of figures as Markdown."""
    agreement = figures.agreement
    yield from ("", "## Agreement with people", "")
    rows = [("kappa", _estimate(agreement.kappa))]
    if len(agreement.levels) > 2:
        rows.append(("weighted kappa", _estimate(agreement.kappa_quadratic)))
    rows.append(("accuracy", _estimate(agreement.accuracy)))
    rows += [(f"recall of {each.label} (n {each.n})", _share(each.recall, each.ci95)) for each in figures.classes]
    yield from _table(("figure", "value [95 %]"), rows)
    yield from ("", "## By system", "")
    yield from _table(
        ("system", "n", "kappa", "judge's mean", "people's mean", "bias [95 %]"), map(_system_row, figures.systems)
    )
    yield "Bias is the judge's mean - people's mean. If its interval excludes 0, the judge is biased: compare such"
    yield "systems by people's labels."
    yield from ("", "## Confusion", "")
    names = [str(each.label) for each in figures.classes]
    table = zip(names, agreement.confusion, strict=False)
    yield from _table(("people \\ judge", *names), [(name, *row) for name, row in table])
    yield from ("", "## Calibration", "")
    yield from _table(
        ("predicted", "n", "mean", "people"),
        [
            (f"{each.low:.1f} to {each.low + 0.1:.1f}", each.n, _number(each.predicted), _number(each.share))
            for each in figures.calibration
        ],
    )
    yield f"ECE {figures.ece:.3f}, Brier {figures.brier:.3f}."
    yield ""
    total = figures.certainty[0].n
    yield from _table(
        ("confidence at least", "answers", "accuracy"),
        [
            (
                f"{each.confidence:.2f}",
                f"{each.n} ({each.n / total:.0%})",
                _number(each.right / each.n if each.n else None),
            )
            for each in figures.certainty
        ],
    )


def left_out_lines(examples: Examples) -> Iterator[str]:
    """Yield the number of unused labels for each reason."""
    for why, n in sorted(examples.left_out.items()):
        yield f"{counted(n, 'label')} not used: {why}"


def _card(trained: TrainingResult, digest: str) -> Iterator[str]:
    judge = trained.judge
    yield from (f"# A local judge of {judge.metric}", "")
    yield from _listed(_counts(trained))
    yield from _listed(left_out_lines(trained.examples))
    if trained.examples.alpha is not None:
        several = trained.examples.n_several
        yield f"- people among themselves: alpha {trained.examples.alpha:.2f} on {several} answers with several labels"
    yield f"- figures: {_how(trained)}"
    features = "by rule alone" if judge.embedder is None else f"by rule, and cosines of {judge.embedder.name}"
    yield f"- features: {features}; C {judge.training.penalty:g}"
    yield f"- 1,000 answers: less than {_step(trained.seconds)} s of CPU on the machine that trained it, USD 0"
    for heading, count in (
        ("label", lambda each: str(each.label)),
        ("system", lambda each: each.system or "no system"),
        ("language", lambda each: each.judged.language),
    ):
        counts = Counter(map(count, trained.examples.rows))
        yield f"- labels by {heading}: {', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}"
    yield from figure_lines(trained.figures)
    if trained.others:
        yield from ("", "## Held-out systems", "")
        yield "Each system is judged by a judge that was trained on the answers of the other systems:"
        yield ""
        yield from _table(
            ("system", "n", "kappa", "judge's mean", "people's mean", "bias [95 %]"),
            [_system_row(each.systems[0]) for each in trained.others],
        )
        measured = {each.systems[0].system for each in trained.others}
        missing = sorted({each.system for each in trained.examples.rows} - measured)
        if missing:
            yield f"Not measured, because the others answered fewer than {FOLDS} questions: {', '.join(missing)}."
    yield from ("", "## Largest weights", "")
    yield from _weights(trained)
    yield from ("", "## Digests", "")
    yield f"- training data {judge.training.digest}"
    yield f"- metric {judge.metric_digest}"
    if judge.embedder is not None:
        yield f"- embedding model {judge.embedder.digest}"
    yield f"- judge {digest}"
    yield f"- {', '.join(f'{name} {version}' for name, version in judge.versions.items())}; seed {judge.training.seed}"


def _counts(trained: TrainingResult) -> Iterator[str]:
    rows = trained.examples.rows
    systems = {each.system for each in rows}
    labels = Counter(str(each.label) for each in rows)
    counts = ", ".join(f"{label} {labels[str(label)]}" for label in trained.judge.labels)
    questions = _questions(rows)
    yield f"{counted(len(rows), 'label')} ({counts}) of {questions}, {counted(len(systems), 'system')}"


def _questions(rows: Sequence[Example]) -> str:
    counts = Counter(each.unit for each in rows).values()
    low, high = min(counts), max(counts)
    return f"{counted(len(counts), 'question')} with {low if low == high else f'{low} to {high}'} each"


def _how(trained: TrainingResult) -> str:
    training = trained.judge.training
    if training.split:
        trains = f"{training.labels} labels trained the judge, {trained.tested} tested it"
        return f"split {training.split} by question: {trains}"
    return "all labels trained the judge; the figures are of 5-fold cross-validation over questions"


def _weights(trained: TrainingResult) -> Iterator[str]:
    """Yield the largest weights in words."""
    words = {name: feature.words for name, feature in RULES.items()} | {
        name: says for name, (_, _, says) in COSINES.items()
    }
    weights = weights_of(trained.judge.head, trained.judge.features)
    highest = trained.judge.labels[-1]
    for name in sorted(weights, key=lambda name: (-abs(weights[name]), name))[:LARGEST]:
        side = "for" if weights[name] > 0 else "against"
        yield f"- {abs(weights[name]):.2f} {side} {highest!r}: {words[name]} (`{name}`)"


def _system_row(each: SystemFigures) -> tuple[object, ...]:
    bias = _signed(each.bias, each.ci95) + _warning(each)
    return (
        each.system or "no system",
        each.agreement.n,
        _estimate(each.agreement.kappa),
        f"{each.judged:.2f}",
        f"{each.people:.2f}",
        bias,
    )


def _warning(each: SystemFigures) -> str:
    """Return " biased" if the interval of the bias excludes 0, else ""."""
    return "" if each.ci95 is None or each.ci95[0] <= 0 <= each.ci95[1] else " biased"


def _estimate(estimate: Estimate) -> str:
    return _share(estimate.value, estimate.ci95)


def _share(value: float | None, ci95: Interval | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" + ("" if ci95 is None else f" [{ci95[0]:.2f}, {ci95[1]:.2f}]")


def _signed(value: float, ci95: Interval | None) -> str:
    return f"{value:+.2f}" + ("" if ci95 is None else f" [{ci95[0]:+.2f}, {ci95[1]:+.2f}]")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _step(seconds: float) -> int:
    """Return the next round number above the seconds, so that the machine's load does not change the card."""
    return next((step for step in _STEPS if seconds < step), _STEPS[-1])


def _listed(lines: Iterator[str]) -> Iterator[str]:
    yield from (f"- {line}" for line in lines)


def _table(head: Sequence[str], rows: object) -> Iterator[str]:
    cells = [[str(cell) for cell in row] for row in rows]  # type: ignore[attr-defined]
    yield from tabulate(cells, head, tablefmt="github", disable_numparse=True).splitlines()
    yield ""
