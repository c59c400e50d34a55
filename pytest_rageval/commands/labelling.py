"""``rageval agreement --sample`` and ``--training``: answers for people to label, labels for a judge to learn from."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rageval.commands.agreement import labels_of
from pytest_rageval.commands.judges import own_judges
from pytest_rageval.commands.runs import rootdir, stored_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import SettingError, UnknownNameError, found
from pytest_rageval.folders import whole_files
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.values import Worth, worth_of
from pytest_rageval.judges.wording import in_language
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.sample import Sample
from pytest_rageval.report.export.judge_training_data import PARTS, conversations, split
from pytest_rageval.report.export.label_sheet import FORMATS, answers_to_label, rows_of
from pytest_rageval.report.terminal.agreement_tables import count_lines
from pytest_rageval.report.text.lines import counted

__all__ = ["sheet", "training"]


def sheet(run: str | None, out: Path | None, n: int, seed: int, metric: str, worth: Worth) -> Iterator[str]:
    """Write a labelling sheet of ``n`` answers and yield the lines that tell of it.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        out: the file to write, by its suffix CSV or JSON Lines; one that is there is left alone.
        n: how many answers.
        seed: decides which.
        metric: what is labelled, or "".
        worth: what labels people shall give; where nothing is declared the judge's own, else 0 and 1.

    Raises:
        RagEvalError: the run cannot be read or has nothing to label, or the file cannot be written.
    """
    if n < 1:
        raise SettingError(f"--sample {n}: wanted at least 1")
    if out is None or out.suffix.lower() not in FORMATS:
        raise SettingError(f"--sample needs --out FILE, whose name ends in {' or '.join(FORMATS)}")
    stored = stored_run(rootdir(Path.cwd()), run)
    outcomes = stored.run.ordered()
    computed = {name for outcome in outcomes for name in outcome.scores}
    if metric and metric not in computed:
        raise UnknownNameError("metric", metric, computed)
    answers = answers_to_label(outcomes, metric)
    if not answers:
        raise SettingError(f"the run has no answer to label{f' for {metric}' if metric else ''}; name another run")
    judge = own_judges(stored, [metric]).get(metric) if metric else None
    wanted = worth if judge is None or worth.levels else worth_of(judge)
    rows = rows_of(answers, stored.results["instances"], n, seed, metric, _instructions(judge, wanted))
    _write({out: FORMATS[out.suffix.lower()](rows)})
    cases = len({row["id"] for row in rows})
    yield f"{shown_path(out)}: {len(rows)} of {counted(len(answers), 'answer')}, of {counted(cases, 'case')}"
    yield f"Fill in the column label, then: {_read_back(out, run, metric, worth)}"


def training(
    labels: Path, run: str | None, folder: Path, shares: str, seed: int, metrics: Sequence[str], worth: Worth
) -> Iterator[str]:
    """Write conversations to train a judge with, and yield the lines that tell of them.

    Args:
        labels: the file of people's labels.
        run: the run's name, or the path of its results.json; None is the newest.
        folder: where train.jsonl, dev.jsonl and test.jsonl are written.
        shares: how many parts of the cases go into each, as "5:1:4".
        seed: decides which.
        metrics: the judged metric, as a list of one.
        worth: what labels are worth, where that was declared; else they are the judge's own.

    Raises:
        RagEvalError: something cannot be read or written, or a label is none of the judge's.
    """
    parts = [int(part) if part.isdecimal() else -1 for part in shares.split(":")]
    if len(parts) != len(PARTS) or min(parts) < 0 or not sum(parts):
        raise SettingError(f"--split {found(shares)}: wanted three whole numbers, of {', '.join(PARTS)}, such as 5:1:4")
    if len(metrics) != 1:
        raise SettingError("--training needs one --metric, whose judge's prompt is written")
    stored = stored_run(rootdir(Path.cwd()), run)
    judges = own_judges(stored, metrics)
    judge = judges.get(metrics[0])
    if not isinstance(judge, PromptedJudge):
        raise SettingError(f"--metric {found(metrics[0])} is not the name of a prompted judge of the run; name one")
    answered = labels_of(labels, stored, worth, {} if worth.levels else judges)
    made = conversations(answered.answers, stored.results["instances"], judge)
    if not made:
        raise SettingError(f"no label is of an answer that {judge.name} applies to; name another metric")
    told = list(count_lines(answered))
    left = sum(len(answer.labels) for answer in answered.answers) - sum(map(len, made.values()))
    if left:
        why = f"of another metric, or of an answer that {judge.name} does not apply to"
        told.append(f"{counted(left, 'label')} not used, {why}")
    texts = {}
    for name, cases in split(list(made), parts, seed).items():
        lines = [line for case in cases for line in made[case]]
        path = folder / f"{name}.jsonl"
        texts[path] = "".join(f"{line}\n" for line in lines)
        told.append(f"{shown_path(path)}: {counted(len(lines), 'label')} of {counted(len(cases), 'case')}")
    _write(texts)
    yield from told


def _instructions(judge: Judge | None, worth: Worth) -> Callable[[Sample], str]:
    """Return what tells people what to do with a sample."""

    def told(sample: Sample) -> str:
        language = sample.case.instance.language
        lines = [in_language(judge.criteria, language).strip()] if isinstance(judge, PromptedJudge) else []
        meanings = judge.labels or {} if isinstance(judge, PromptedJudge) else {}
        for label in worth.values:
            meaning = in_language(meanings[label], language) if label in meanings else ""
            lines.append(f"label: {label}{f' - {meaning}' if meaning else ''}")
        if worth.scale is not None:
            lines.append(f"label: a whole number in {worth.scale[0]}..{worth.scale[1]}")
        elif not worth.values:
            lines.append("label: 1 = right, 0 = wrong, or a number in between")
        return "\n".join(lines)

    return told


def _read_back(out: Path, run: str | None, metric: str, worth: Worth) -> str:
    """Return the command that reads a filled sheet."""
    words = [
        "rageval",
        "agreement",
        shown_path(out),
        *([run] if run else []),
        *(["--metric", metric] if metric else []),
    ]
    words += [word for label, value in worth.values.items() for word in ("--value", f"{label}={value:g}")]
    return shlex.join(words + (["--scale", f"{worth.scale[0]}-{worth.scale[1]}"] if worth.scale else []))


def _write(texts: Mapping[Path, str]) -> None:
    """Write files none of which is there yet, all or none."""
    try:
        for path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
        with whole_files(*texts, overwrite=False) as parts:
            for part, text in zip(parts, texts.values(), strict=True):
                part.write_text(text, encoding="utf-8", newline="")
    except FileExistsError as error:
        there = shown_path(Path(error.filename))
        raise SettingError(f"{there} is there already and may hold people's work; name another") from None
    except OSError as error:
        raise SettingError(f"{shown_path(next(iter(texts)))} cannot be written: {error.strerror or error}") from None
