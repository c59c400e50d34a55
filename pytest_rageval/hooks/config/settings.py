"""Read the options of the command line and the ini, and check their form."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.decisions.partial import PartPolicy, part_policy
from pytest_rageval.errors import SettingError, ascii_safe, short_repr
from pytest_rageval.hooks.config.baseline import BASELINE, BaselineSetting, parse_baseline
from pytest_rageval.hooks.config.judge_labels import KAPPA, LABELS, TrustSetting, parse_trust
from pytest_rageval.hooks.config.judge_panels import JUDGES, panels
from pytest_rageval.hooks.config.models import (
    ModelSetting,
    by_language,
    model_setting,
    parameters,
    record_mode,
    stale_policy,
)
from pytest_rageval.hooks.config.reports import ReportTargets, parse_reports
from pytest_rageval.judges.panel import Panel
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers
from pytest_rageval.report.files.pruning import Keep, keep_of

__all__ = ["Options", "ini_folder", "ini_value", "is_narrowed", "read_options"]


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of the command line and the ini, checked for form.

    Attributes:
        systems: names from ``--rag-system``.
        ini_systems: names from the ini; an overridden fixture has priority.
        answers: file of recorded answers, or None.
        limit, sample: number of cases per testbed, or None.
        shard: number of this shard and of all shards, or None for all cases.
        seed: for assemblies and samples; None means the marker's, else 0.
        cli_gates, ini_gates: gates over the session.
        matrix, rows, cols: metric and facets of the printed matrix; None means the default.
        reports: the reports to write, and their paths.
        retriever: the name of the retriever over ``rag_corpus``.
        retriever_params: its parameters.
        beside: the folder that paths of the ini are relative to.
        top_k: number of passages to retrieve.
        folders: folders with modules of systems, searched after ``sys.path``.
        narrowed: whether the run is a part of the project: with paths, or with ``--lf``.
        keep_runs: number of runs to keep, and their maximum total size.
        apart: whether cases of one testbed may run on machines that share nothing.
        texts: whether reports contain texts of data and answers.
        markers: texts that mark a rejection or a detected error.
        model, judge, embedder: the models, by their litellm names.
        panels: metric -> the panel that replaces its judge.
        concurrency: concurrent answers in a process; None means the default for the kind of system.
        looks_ahead: whether systems answer cases ahead of their tests; False with a debugger or concurrency 1.
        record_mode: VCR's record mode; None for no recordings.
        cassettes: the folder of the recordings.
        stale_recordings: policy for recordings of changed code.
        budget_usd: maximum cost of a session, or None.
        dry_run: whether to count cases and calls only, and run nothing.
        repeat: number of runs of each case.
        prompts: language -> file that replaces the built-in systems' prompts.
        rejection, error: language -> the sentence that replaces RGB's.
        trust: the agreement with people that judges need.
        baseline: the baseline settings.
        partial_gates: policy for a gate with a fixed bound over a part of its cases.
        cluster: the facet whose value dependent cases share, for testbeds without ``cluster``.
        cluster_origin: its place in the ini, such as ``pytest.ini:3``.
    """

    systems: tuple[str, ...]
    ini_systems: tuple[str, ...]
    answers: Path | None
    limit: int | None
    sample: int | None
    shard: tuple[int, int] | None
    seed: int | None
    cli_gates: tuple[str, ...]
    ini_gates: tuple[str, ...]
    matrix: str | None
    rows: str | None
    cols: str | None
    reports: ReportTargets
    retriever: str
    retriever_params: Mapping[str, Any]
    beside: Path
    top_k: int
    folders: tuple[Path, ...]
    narrowed: bool
    keep_runs: Keep
    apart: bool
    texts: bool
    markers: Markers
    model: ModelSetting
    judge: ModelSetting
    embedder: ModelSetting
    panels: Mapping[str, Panel]
    concurrency: int | None
    looks_ahead: bool
    record_mode: str | None
    cassettes: Path
    stale_recordings: str
    budget_usd: float | None
    dry_run: bool
    repeat: int
    prompts: Mapping[str, Path]
    rejection: Mapping[str, str]
    error: Mapping[str, str]
    trust: TrustSetting
    baseline: BaselineSetting
    partial_gates: PartPolicy
    cluster: str
    cluster_origin: str

    @property
    def panelists(self) -> list[str]:
        """The distinct litellm names of the models in panels, without the fixture ``rag_judge``."""
        names = dict.fromkeys(model for panel in self.panels.values() for model in panel.models)
        return [model for model in names if model != "rag_judge"]


def read_options(config: pytest.Config) -> Options:
    """Read and check the options; raise `SettingError` with the name of an invalid option."""
    option = config.option
    if option.rag_limit and option.rag_sample:
        raise SettingError("--rag-limit and --rag-sample exclude each other; give one of them")
    if option.rag_answers and option.rag_system:
        raise SettingError("--rag-answers and --rag-system exclude each other; give one of them")
    here = _invoked_from(config)
    beside = ini_folder(config)
    rejection, error = (_sentences(config, name) for name in ("rag_rejection_sentence", "rag_error_sentence"))
    concurrency = option.rag_concurrency or _count(config, "rag_concurrency")
    return Options(
        systems=_distinct("--rag-system", option.rag_system),
        ini_systems=_distinct("rag_system", ini_value(config, "rag_system")),
        answers=here / option.rag_answers if option.rag_answers else None,
        limit=option.rag_limit,
        sample=option.rag_sample,
        shard=option.rag_shard,
        seed=option.rag_seed,
        cli_gates=tuple(option.rag_gate),
        ini_gates=tuple(ini_value(config, "rag_gates")),
        matrix=option.rag_matrix,
        rows=option.rag_rows,
        cols=option.rag_cols,
        reports=parse_reports(option, here),
        narrowed=is_narrowed(config),
        keep_runs=_keep_runs(config),
        apart=getattr(config, "workerinput", {}).get("rag_apart", False),
        retriever=str(ini_value(config, "rag_retriever")).strip(),
        retriever_params=parameters(ini_value(config, "rag_retriever_params"), "rag_retriever_params", "k1 = 1.2"),
        beside=beside,
        top_k=_count(config, "rag_top_k") or 5,
        folders=(config.rootpath, here),
        texts=ini_value(config, "rag_report_texts"),
        markers=_markers(config, rejection, error),
        model=_model(config, "rag_model", "rag_model_params"),
        judge=_model(config, "rag_judge_model", "rag_judge_params"),
        embedder=_embedder(config),
        panels=panels(ini_value(config, JUDGES)),
        concurrency=concurrency,
        looks_ahead=concurrency != 1 and not (option.usepdb or option.trace),
        record_mode=record_mode(option.rag_record_mode or str(ini_value(config, "rag_record_mode")), "rag_record_mode"),
        cassettes=_cassettes(config, beside),
        stale_recordings=stale_policy(str(ini_value(config, "rag_stale_recordings")), "rag_stale_recordings"),
        budget_usd=option.rag_budget_usd,
        dry_run=option.rag_dry_run,
        repeat=option.rag_repeat,
        prompts={language: beside / path for language, path in _sentences(config, "rag_prompts").items()},
        rejection=rejection,
        error=error,
        trust=parse_trust(str(ini_value(config, LABELS)), ini_value(config, KAPPA), beside),
        baseline=parse_baseline(option, {name: ini_value(config, name) for name in BASELINE}, here, beside),
        partial_gates=part_policy(str(ini_value(config, "rag_partial_gates")), "rag_partial_gates"),
        cluster=str(ini_value(config, "rag_cluster")).strip() or DIALOGUE,
        cluster_origin=_ini_origin(config, "rag_cluster"),
    )


def ini_folder(config: pytest.Config) -> Path:
    """Return the folder that paths of the ini are relative to."""
    return config.inipath.parent if config.inipath else config.rootpath


def _ini_origin(config: pytest.Config, name: str) -> str:
    """Return a setting's place, such as ``pytest.ini:3: rag_cluster``; only its name if ``-o`` sets it."""
    path = config.inipath
    if path is None or any(str(line).startswith(f"{name}=") for line in config.option.override_ini or ()):
        return name
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    at = next((at for at, line in enumerate(lines, 1) if line.partition("=")[0].strip() == name), None)
    return name if at is None else f"{path.name}:{at}: {name}"


def ini_value(config: pytest.Config, name: str) -> Any:
    """Return a setting of the ini; raise `SettingError` if pytest cannot read it."""
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise SettingError(f"{name} in the ini cannot be used: {ascii_safe(str(error))}") from None


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether the run is a part of the project; a worker has the value from the controller."""
    from_controller: bool | None = getattr(config, "workerinput", {}).get("rag_narrowed")
    if from_controller is not None:
        return from_controller
    if getattr(config.option, "lf", False):
        return True
    here = config.invocation_params.dir
    return config.args_source is pytest.Config.ArgsSource.ARGS and config.rootpath not in (
        Path(os.path.abspath(here / argument)) for argument in config.args
    )


def _invoked_from(config: pytest.Config) -> Path:
    """Return the folder that paths of the command line are relative to; a worker may run in a copy of the project."""
    path: str | None = getattr(config, "workerinput", {}).get("rag_from")
    return config.invocation_params.dir if path is None else Path(os.path.normpath(config.rootpath / path))


def _distinct(where: str, names: list[str]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{where} names {short_repr(name)} twice; name each system once")
    return tuple(names)


def _count(config: pytest.Config, name: str) -> int | None:
    """Return a whole number of the ini; None if not set."""
    text = str(ini_value(config, name)).strip()
    if not text:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise SettingError(f"{name} is {short_repr(text)}; write a whole number of 1 or more")


def _keep_runs(config: pytest.Config) -> Keep:
    text = str(ini_value(config, "rag_keep_runs"))
    keep = keep_of(text)
    if keep is None:
        hint = "write how many runs are kept, 1 or more, or all, and perhaps their size, as in 50, 2 GB"
        raise SettingError(f"rag_keep_runs is {short_repr(text.strip())}; {hint}")
    return keep


def _cassettes(config: pytest.Config, beside: Path) -> Path:
    """Return the folder of the recordings, which may not exist yet."""
    folder = beside / str(ini_value(config, "rag_cassettes"))
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"rag_cassettes names the file {short_repr(str(folder))}; name a folder")
    return folder


def _model(config: pytest.Config, name: str, params: str) -> ModelSetting:
    model = getattr(config.option, name) or str(ini_value(config, name)).strip()
    return model_setting(model, ini_value(config, params), params)


def _embedder(config: pytest.Config) -> ModelSetting:
    params = ini_value(config, "rag_embedder_params")
    return model_setting(str(ini_value(config, "rag_embedder_model")).strip(), params, "rag_embedder_params", {})


def _markers(config: pytest.Config, rejection: Mapping[str, str], error: Mapping[str, str]) -> Markers:
    """Return the markers of the ini.

    A language's markers replace its rule for plain refusals. A sentence that replaces RGB's is also a marker, in
    addition to the rule.
    """
    own = by_language(ini_value(config, "rag_rejection_markers"), "rag_rejection_markers", "en: no answer")
    return Markers(
        rejection={**{language: (sentence,) for language, sentence in rejection.items()}, **own},
        error={
            **DEFAULT_MARKERS.error,
            **{language: (sentence,) for language, sentence in error.items()},
            **by_language(ini_value(config, "rag_error_markers"), "rag_error_markers", "en: is wrong"),
        },
        rules=tuple(language for language in DEFAULT_MARKERS.rules if language not in own),
    )


def _sentences(config: pytest.Config, name: str) -> dict[str, str]:
    """Return language -> text; raise `SettingError` for several texts of a language."""
    example = "en: prompts/en.toml" if name == "rag_prompts" else "en: I do not know."
    by_code = by_language(ini_value(config, name), name, example)
    for language, texts in by_code.items():
        if len(texts) > 1:
            raise SettingError(f"{name} gives two texts for {short_repr(language)}; give one")
    return {language: texts[0] for language, texts in by_code.items()}
