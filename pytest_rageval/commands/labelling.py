"""``rageval agreement --sample`` and ``--training``: write sheets and training data."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rageval.commands.agreement import match_label_file
from pytest_rageval.commands.judges import judges_of_run
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, UnknownNameError, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.values import Worth, worth_of
from pytest_rageval.judges.wording import in_language
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.sample import Sample
from pytest_rageval.report.export.judge_training_data import PARTS, conversations, split
from pytest_rageval.report.export.label_sheet import FORMATS, answers_to_label, rows_of
from pytest_rageval.report.terminal.agreement_tables import count_lines
from pytest_rageval.report.text.lines import counted

__all__ = ["write_sheet", "write_training"]


def write_sheet(run: str | None, out: Path | None, n: int, seed: int, metric: str, worth: Worth) -> Iterator[str]:
    """Write a labelling sheet of ``n`` answers and yield the lines of the report.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        out: the file to write, CSV or JSON Lines by its suffix; an existing file is never overwritten.
        n: the number of answers.
        seed: the seed of the selection.
        metric: the metric to label, or "".
        worth: the labels that people may use; if empty, the labels of the metric's judge, else numbers in 0..1.

    Raises:
        RagEvalError: the run cannot be read or has nothing to label, or the file cannot be written.
    """
    if n < 1:
        raise SettingError(f"--sample {n}: wanted at least 1")
    if out is None or out.suffix.lower() not in FORMATS:
        raise SettingError(f"--sample needs --out FILE, whose name ends in {' or '.join(FORMATS)}")
    stored = stored_run(rootdir(Path.cwd()), run)
    outcomes = stored.run.originals()
    computed = {name for outcome in outcomes for name in outcome.scores}
    if metric and metric not in computed:
        raise UnknownNameError("metric", metric, computed)
    answers = answers_to_label(outcomes, metric)
    if not answers:
        raise SettingError(f"the run has no answer to label{f' for {metric}' if metric else ''}; name another run")
    judge = judges_of_run(stored, [metric]).get(metric) if metric else None
    label_values = worth if judge is None or worth.declared else worth_of(judge)
    rows = rows_of(answers, stored.results["instances"], n, seed, metric, _instructions(judge, label_values))
    _write({out: FORMATS[out.suffix.lower()](rows)})
    cases = len({row["id"] for row in rows})
    yield f"{shown_path(out)}: {len(rows)} of {counted(len(answers), 'answer')}, of {counted(cases, 'case')}"
    yield f"Fill in the column label, then: {_agreement_command(out, run, metric, worth)}"


def write_training(
    labels: Path, run: str | None, folder: Path, shares: str, seed: int, metrics: Sequence[str], worth: Worth
) -> Iterator[str]:
    """Write conversations to train a judge with, and yield the lines of the report.

    Args:
        labels: the file of people's labels.
        run: the run's name, or the path of its results.json; None is the newest.
        folder: the folder for train.jsonl, dev.jsonl and test.jsonl.
        shares: the share of the cases in each file, such as "5:1:4".
        seed: the seed of the selection.
        metrics: a list with one judged metric; its judge is trained.
        worth: the value of each label; if empty, the judge's values.

    Raises:
        RagEvalError: something cannot be read or written, or a label is unknown to the judge.
    """
    parts = [int(part) if part.isdecimal() else -1 for part in shares.split(":")]
    if len(parts) != len(PARTS) or min(parts) < 0 or not sum(parts):
        raise SettingError(
            f"--split {short_repr(shares)}: wanted three whole numbers, for {', '.join(PARTS)}, such as 5:1:4"
        )
    if len(metrics) != 1:
        raise SettingError("--training needs exactly one --metric, whose judge is trained")
    stored = stored_run(rootdir(Path.cwd()), run)
    judges = judges_of_run(stored, metrics)
    judge = judges.get(metrics[0])
    if not isinstance(judge, PromptedJudge):
        raise SettingError(
            f"--metric {short_repr(metrics[0])} is not the name of a prompted judge of the run; name one"
        )
    matches = match_label_file(labels, stored, worth, {} if worth.declared else judges)
    conversations_by_case = conversations(matches.answers, stored.results["instances"], judge)
    if not conversations_by_case:
        raise SettingError(f"no label belongs to an answer that {judge.name} applies to; name another metric")
    report = list(count_lines(matches))
    unused = sum(len(answer.labels) for answer in matches.answers) - sum(map(len, conversations_by_case.values()))
    if unused:
        why = f"for another metric, or for an answer that {judge.name} does not apply to"
        report.append(f"{counted(unused, 'label')} not used: {why}")
    texts = {}
    for name, cases in split(list(conversations_by_case), parts, seed).items():
        lines = [line for case in cases for line in conversations_by_case[case]]
        path = folder / f"{name}.jsonl"
        texts[path] = "".join(f"{line}\n" for line in lines)
        report.append(f"{shown_path(path)}: {counted(len(lines), 'label')} of {counted(len(cases), 'case')}")
    _write(texts)
    yield from report


def _instructions(judge: Judge | None, worth: Worth) -> Callable[[Sample], str]:
    """Return the function that writes the instructions for labelling a sample."""

    def instructions(sample: Sample) -> str:
        language = sample.case.instance.language
        lines = [in_language(judge.criteria, language).strip()] if isinstance(judge, PromptedJudge) else []
        meanings = judge.labels or {} if isinstance(judge, PromptedJudge) else {}
        for label in worth.values:
            meaning = in_language(meanings[label], language) if label in meanings else ""
            lines.append(f"label: {label}{f' - {meaning}' if meaning else ''}")
        if worth.scale is not None:
            kind = "whole number" if worth.whole else "number"
            lines.append(f"label: a {kind} in {worth.scale[0]}..{worth.scale[1]}")
        elif not worth.values:
            lines.append("label: 1 = right, 0 = wrong, or a number in between")
        return "\n".join(lines)

    return instructions


def _agreement_command(out: Path, run: str | None, metric: str, worth: Worth) -> str:
    """Return the command that reads the sheet after people have filled it in."""
    words = [
        "rageval",
        "agreement",
        shown_path(out),
        *([run] if run else []),
        *(["--metric", metric] if metric else []),
    ]
    words += [word for label, value in worth.values.items() for word in ("--value", f"{label}={value:g}")]
    return shlex.join(words + ([f"--scale={worth.scale[0]}..{worth.scale[1]}"] if worth.scale else []))


def _write(texts: Mapping[Path, str]) -> None:
    """Write all files or none; raise `SettingError` if one exists."""
    try:
        for path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files(*texts, overwrite=False) as parts:
            for part, text in zip(parts, texts.values(), strict=True):
                part.write_text(text, encoding="utf-8", newline="")
    except FileExistsError as error:
        existing = shown_path(Path(error.filename))
        raise SettingError(f"{existing} already exists and may contain people's work; name another file") from None
    except OSError as error:
        raise SettingError(
            f"{shown_path(next(iter(texts)))} cannot be written: {error.strerror or error}", code="RAG212"
        ) from None
