"""The card of a judge of kind ``llm``, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.errors import ascii_safe
from pytest_rageval.judge_training.card import figure_lines
from pytest_rageval.judge_training.figures import Figures
from pytest_rageval.judge_training.kind_comparison import KindComparison
from pytest_rageval.local_judges.lora_judge import LoraTraining

__all__ = ["advice", "llm_card"]


def llm_card(name: str, training: LoraTraining, figures: Figures, compared: KindComparison, digest: str) -> str:
    """Return the card.

    Args:
        name: the name of the metric's judge.
        training: the settings and data of the training.
        figures: the figures on the questions of the test part.
        compared: the comparison of the model with the head on the same answers.
        digest: the checksum of judge.json.
    """
    return "\n".join(_card(name, training, figures, compared, digest)) + "\n"


def advice(compared: KindComparison) -> str:
    """Return which kind of judge to use, and how much better it is."""
    interval = "" if compared.ci95 is None else f" [{compared.ci95[0]:+.2f}, {compared.ci95[1]:+.2f}]"
    difference = f"accuracy {compared.llm:.2f} against {compared.head:.2f} of the head on {compared.n} answers"
    difference += f", {compared.llm - compared.head:+.2f}{interval}"
    if not compared.better:
        return f"not separable: {difference}; use the head, which is cheaper"
    return f"use the {'model' if compared.better == 'llm' else 'head'}: {difference}"


def _card(name: str, training: LoraTraining, figures: Figures, compared: KindComparison, digest: str) -> Iterator[str]:
    yield from (f"# A language model as a judge of {name}", "")
    yield f"- {advice(compared)}"
    yield f"- base: {ascii_safe(training.base)}"
    yield f"- LoRA: rank {training.rank}, alpha {training.alpha}, on {' and '.join(training.targets)}"
    yield f"- {training.labels} labels trained it, {training.epochs} epochs; split {training.split} by question"
    losses = ", ".join(f"{loss:.3f}" for loss in training.losses)
    yield f"- loss by epoch: {losses}" + ("" if training.dev_loss is None else f"; dev {training.dev_loss:.3f}")
    yield "- figures: on the test part, which trained nothing; the head in `head/` has a card of its own"
    yield from figure_lines(figures)
    yield from ("## Digests", "")
    yield f"- training data {training.digest}"
    yield f"- judge {digest}"
    versions = ", ".join(f"{library} {version}" for library, version in training.versions.items())
    yield f"- {versions}; seed {training.seed}"
