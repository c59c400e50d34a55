"""Train a judge of kind ``llm``, and a head on the same labels, for ``rageval judge train``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.agreement import parse_worth
from pytest_rageval.commands.judge.head_training import HEAD, parse_split, refuse_existing, write_folder
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.judge_command import judged_metric
from pytest_rageval.judge_training.card import CARD, card
from pytest_rageval.judge_training.examples import Example, read_examples, refuse_other_parts
from pytest_rageval.judge_training.figures import Prediction, figures_of
from pytest_rageval.judge_training.kind_comparison import compare_kinds
from pytest_rageval.judge_training.llm_card import advice, llm_card
from pytest_rageval.judge_training.lora import ALPHA, EPOCHS, RANK, TARGETS, Conversation, Lora, train_lora
from pytest_rageval.judge_training.training import TrainingResult, check_examples, train
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.local_judges.judge_file import ANSWERS, FILE, content_of, digest_of, judge_text, metric_digest
from pytest_rageval.local_judges.local_judge import Embedder, LocalJudge
from pytest_rageval.local_judges.lora_judge import LoraJudge, LoraTraining, content_of_llm, reply_of
from pytest_rageval.local_judges.lora_model import require_libraries
from pytest_rageval.report.export.judge_training_data import split
from pytest_rageval.retrieval.encoder import model_digest

__all__ = ["train_llm"]

SHARES = (5, 1, 4)
"""Default of ``--split``: cross-validation would train the model five times, which is too expensive."""


def train_llm(arguments: argparse.Namespace) -> Iterator[str]:
    """Train an adapter and a head, write their folders, and yield the lines of the report.

    Raises:
        RagEvalError: the labels, model or settings do not allow the training; no file is written.
    """
    out: Path = arguments.out
    refuse_existing(out, force=arguments.force)
    if arguments.base is None:
        raise SettingError("--kind llm needs a model; name its folder, or its name on the hub, with --base")
    require_libraries("--kind llm")
    label_values, shares = parse_worth(arguments.value, None), parse_split(arguments.split) or SHARES
    metric = judged_metric(arguments.metric)
    judge = metric.judge
    refuse_other_parts(judge)
    if not isinstance(judge, PromptedJudge):
        raise SettingError(f"--metric {judge.name}: its judge has no prompt to train a model on; leave out --kind llm")
    with doing("reading the labels"):
        examples = read_examples(arguments.sheets, judge, label_values, lambda: stored_run(rootdir(Path.cwd()), None))
    check_examples(examples, judge.name, force=arguments.force)
    with doing("training the head"):
        trained = train(examples, judge, metric.embedder, seed=arguments.seed, shares=shares)
    training_part, dev, test = _parts(examples.rows, shares, arguments.seed, trained.judge.values)
    conversations = ([_conversation(each, judge) for each in part] for part in (training_part, dev))
    lora = train_lora(arguments.base, *conversations, seed=arguments.seed)
    yield from _write_report(out, arguments, trained, lora, judge, test, metric.embedder, shares)


def _write_report(
    out: Path,
    arguments: argparse.Namespace,
    trained: TrainingResult,
    lora: Lora,
    judge: PromptedJudge,
    test: Sequence[Example],
    embedder: Embedder | None,
    shares: tuple[int, int, int],
) -> Iterator[str]:
    """Judge the test part with model and head, write their folders, and yield the lines of the report."""
    head, base = trained.judge, Path(arguments.base)
    training = LoraTraining(
        arguments.base, model_digest(base) if base.is_dir() else "", head.training.digest, head.training.labels,
        arguments.seed, ":".join(map(str, shares)), EPOCHS, lora.losses, lora.dev_loss, RANK, ALPHA, TARGETS,
        lora.versions, head.training.examples,
    )  # fmt: skip
    content = content_of_llm(judge.name, metric_digest(judge), head.labels, head.values, lora.files, training)
    with doing("judging the test part"):
        model = LoraJudge(judge.name, digest_of(content), metric_digest(judge), head.labels, head.values, lora.model)
        by_model = [Prediction(each, model.above(judge.messages(each.judged.sample))) for each in test]
        head_results = LocalJudge(head, "", embedder, None).judge_batch([each.judged for each in test])
    pairs = [(each, result) for each, result in zip(by_model, head_results, strict=True) if result.decision is not None]
    by_head = [Prediction(each.example, result.decision.above) for each, result in pairs if result.decision is not None]
    comparison = compare_kinds(by_head, [each for each, _ in pairs], head.values)
    figures = figures_of(by_model, head.labels, head.values)
    head_content = content_of(head, trained.vectors)
    head_files = {FILE: judge_text(head_content).encode(), CARD: card(trained, digest_of(head_content)).encode()}
    if trained.vectors is not None:
        head_files[ANSWERS] = trained.vectors
    write_folder(out / HEAD, head_files)
    text = llm_card(judge.name, training, figures, comparison, digest_of(content))
    write_folder(out, {**lora.files, FILE: judge_text(content).encode(), CARD: text.encode()})
    yield f"{head.training.labels} labels trained the model, {len(test)} tested it"
    yield f"loss by epoch: {', '.join(f'{loss:.3f}' for loss in lora.losses)}"
    yield advice(comparison)
    yield ""
    yield f"{shown_path(out)}: {', '.join((*lora.files, FILE, CARD, f'{HEAD}/'))}"
    yield f"Serve the model: rageval judge serve {shown_path(out)}"
    yield f"Use the head in the ini: rag_judges = {arguments.metric}: local:{shown_path(out / HEAD)}"


def _parts(
    rows: Sequence[Example], shares: tuple[int, int, int], seed: int, values: Sequence[float]
) -> list[list[Example]]:
    """Return the examples of train, dev and test, in the same split as for the head; leave out unused labels."""
    units = split(sorted({each.unit for each in rows}), shares, seed)
    return [[each for each in rows if each.unit in set(part) and each.value in values] for part in units.values()]


def _conversation(example: Example, judge: PromptedJudge) -> Conversation:
    return judge.messages(example.judged.sample), reply_of(example.label)
