"""Train a judge of kind ``head`` for ``rageval judge train``, and write its folder."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.commands.agreement import parse_worth
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.hooks.judge_command import judged_metric
from pytest_rageval.judge_training.card import CARD, card, headline
from pytest_rageval.judge_training.examples import read_examples, refuse_other_parts
from pytest_rageval.judge_training.training import check_examples, train
from pytest_rageval.local_judges.judge_file import ANSWERS, FILE, content_of, digest_of, judge_text
from pytest_rageval.local_judges.lora_judge import ADAPTER

__all__ = ["HEAD", "parse_split", "refuse_existing", "train_head", "write_folder"]

HEAD = "head"
"""The subfolder of the head in the folder of a judge of kind ``llm``."""


def train_head(arguments: argparse.Namespace) -> Iterator[str]:
    """Train a judge, write its folder, and yield the lines of the report.

    Raises:
        RagEvalError: the labels or settings do not allow the training; no file is written.
    """
    out: Path = arguments.out
    refuse_existing(out, force=arguments.force)
    values, shares = parse_worth(arguments.value, None), parse_split(arguments.split)
    metric = judged_metric(arguments.metric)
    refuse_other_parts(metric.judge)
    with doing("reading the labels"):
        examples = read_examples(arguments.sheets, metric.judge, values, lambda: stored_run(rootdir(Path.cwd()), None))
    check_examples(examples, metric.judge.name, force=arguments.force)
    with doing("training the judge"):
        trained = train(examples, metric.judge, metric.embedder, seed=arguments.seed, shares=shares)
    content = content_of(trained.judge, trained.vectors)
    files = {FILE: judge_text(content).encode(), CARD: card(trained, digest_of(content)).encode()}
    if trained.vectors is not None:
        files[ANSWERS] = trained.vectors
    write_folder(out, files)
    yield from headline(trained)
    if metric.provider:
        yield f"without cosines: {metric.provider} does not run on this machine, and a judge asks no provider"
    yield ""
    yield f"{shown_path(out)}: {', '.join(files)}"
    yield f"Use it in the ini: rag_judges = {arguments.metric}: local:{shown_path(out)}"


def parse_split(text: str | None) -> tuple[int, int, int] | None:
    """Parse ``--split A:B:C``; return None without the option: then all labels train the judge."""
    if text is None:
        return None
    parts = [int(part) if part.isdecimal() else -1 for part in text.split(":")]
    if len(parts) != 3 or min(parts) < 0 or not parts[0] or not parts[2]:
        raise SettingError(
            f"--split {short_repr(text)}: wanted three whole numbers, the shares of train, dev and test, such as 5:1:4"
        )
    return (parts[0], parts[1], parts[2])


def refuse_existing(out: Path, *, force: bool) -> None:
    """Raise `SettingError` if the folder is not empty, unless it has a judge and ``force`` is true."""
    if out.is_dir() and not any(out.iterdir()):
        return
    if out.exists() and not (force and (out / FILE).is_file()):
        advice = "give --force to replace the judge" if (out / FILE).is_file() else "name another folder"
        raise SettingError(f"--out {shown_path(out)} already exists; {advice}")


def write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """Write all files of a judge or none; remove other files of an earlier judge, of either kind.

    Raises:
        SettingError: the folder cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        with atomic_files(*(out / name for name in files)) as parts:
            for part, content in zip(parts, files.values(), strict=True):
                part.write_bytes(content)
        _remove_others(out, files)
    except OSError as error:
        raise SettingError(
            f"--out {shown_path(out)} cannot be written: {error.strerror or error}", code="RAG212"
        ) from None


def _remove_others(out: Path, files: Collection[str]) -> None:
    """Remove the other files of an earlier judge: its vectors, its adapter, and the head of the adapter."""
    had_adapter = any((out / name).exists() for name in ADAPTER)
    for name in {ANSWERS, *ADAPTER}.difference(files):
        (out / name).unlink(missing_ok=True)
    if had_adapter and not set(ADAPTER) & set(files) and (out / HEAD).is_dir():
        for name in (FILE, CARD, ANSWERS):
            (out / HEAD / name).unlink(missing_ok=True)
        if not any((out / HEAD).iterdir()):
            (out / HEAD).rmdir()
