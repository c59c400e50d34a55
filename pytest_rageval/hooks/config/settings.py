"""What the command line and the ini say, checked for form."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.decisions.partial import PartPolicy, part_policy
from pytest_rageval.errors import SettingError, ascii_safe, found
from pytest_rageval.hooks.config.baseline import BASELINE, BaselineAsked, baseline_asked
from pytest_rageval.hooks.config.judge_labels import KAPPA, LABELS, TrustAsked, trust_asked
from pytest_rageval.hooks.config.judge_panels import JUDGES, panels
from pytest_rageval.hooks.config.models import (
    ModelSetting,
    by_language,
    model_setting,
    parameters,
    record_mode,
    stale_policy,
)
from pytest_rageval.hooks.config.reports import ReportsAsked, reports_asked
from pytest_rageval.judges.panel import Panel
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers
from pytest_rageval.report.files.pruning import Keep, keep_of

__all__ = ["Options", "ini_folder", "ini_value", "is_narrowed", "read_options"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line and the ini say, checked for form.

    Attributes:
        systems: names given with ``--rag-system``; () when none.
        ini_systems: names given in the ini; they yield to an overridden fixture.
        answers: file of recorded answers, or None.
        limit, sample: cases a testbed, or None.
        shard: which of how many shares of the cases is run, or None for all.
        seed: for assemblies and samples; None leaves it to the marker, then to 0.
        cli_gates, ini_gates: gates over the session.
        matrix, rows, cols: which matrix is printed; None leaves it open.
        reports: which reports are wanted, and where.
        retriever: the name of the retriever over ``rag_corpus``.
        retriever_params: its settings.
        beside: the folder that paths of the ini are relative to.
        top_k: passages a retriever is asked for.
        folders: where the modules of systems are looked for behind Python's own path.
        narrowed: whether the run is but a part of the project: paths are given, or ``--lf``.
        keep_runs: how many runs are kept, and how large they may be together.
        apart: whether cases of one testbed may run on machines that share nothing.
        texts: whether reports hold the texts of the data and the answers.
        markers: what marks a rejection or a detected error.
        model, judge, embedder: the models, as litellm names them.
        panels: metric -> who judges it instead, and how often.
        concurrency: answers in flight in a process; None leaves it to the kind of system.
        looks_ahead: False where a debugger is wanted, or one answer at a time.
        record_mode: in VCR's words; None when nothing is recorded or replayed.
        cassettes: the folder of the recordings.
        stale_recordings: what happens to recordings of changed code.
        budget_usd: what a session may cost, or None.
        dry_run: whether cases and calls are counted, and nothing is run.
        repeat: how many times each case is run.
        prompts: language -> file that replaces the built-in systems' prompts.
        rejection, error: language -> the sentence that replaces RGB's.
        trust: how well judges have to agree with people.
        baseline: what the run is compared with.
        partial_gates: what becomes of a gate with a fixed bound over a part of its cases.
        cluster: the facet whose value dependent cases share, for testbeds that name none.
        cluster_origin: where the ini names it, as ``pytest.ini:3``.
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
    reports: ReportsAsked
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
    trust: TrustAsked
    baseline: BaselineAsked
    partial_gates: PartPolicy
    cluster: str
    cluster_origin: str

    @property
    def panelists(self) -> list[str]:
        """The models that panels name, as litellm names them, each once; the fixture ``rag_judge`` is none of them."""
        named = dict.fromkeys(model for panel in self.panels.values() for model in panel.models)
        return [model for model in named if model != "rag_judge"]


def read_options(config: pytest.Config) -> Options:
    """Return the options, checked; a `SettingError` names the option that cannot be used."""
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
        reports=reports_asked(option, here),
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
        trust=trust_asked(str(ini_value(config, LABELS)), ini_value(config, KAPPA), beside),
        baseline=baseline_asked(option, {name: ini_value(config, name) for name in BASELINE}, here, beside),
        partial_gates=part_policy(str(ini_value(config, "rag_partial_gates")), "rag_partial_gates"),
        cluster=str(ini_value(config, "rag_cluster")).strip() or DIALOGUE,
        cluster_origin=_ini_origin(config, "rag_cluster"),
    )


def ini_folder(config: pytest.Config) -> Path:
    """Return the folder that paths of the ini are relative to."""
    return config.inipath.parent if config.inipath else config.rootpath


def _ini_origin(config: pytest.Config, name: str) -> str:
    """Return where the ini sets a name, as ``pytest.ini:3: rag_cluster``; the name alone if the command line does."""
    path = config.inipath
    if path is None or any(str(given).startswith(f"{name}=") for given in config.option.override_ini or ()):
        return name
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    at = next((at for at, line in enumerate(lines, 1) if line.partition("=")[0].strip() == name), None)
    return name if at is None else f"{path.name}:{at}: {name}"


def ini_value(config: pytest.Config, name: str) -> Any:
    """Return a setting of the ini; one that pytest cannot read is a `SettingError`."""
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise SettingError(f"{name} in the ini cannot be used: {ascii_safe(str(error))}") from None


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether the run is but a part of the project; a worker is told by the controller."""
    told: bool | None = getattr(config, "workerinput", {}).get("rag_narrowed")
    if told is not None:
        return told
    if getattr(config.option, "lf", False):
        return True
    here = config.invocation_params.dir
    return config.args_source is pytest.Config.ArgsSource.ARGS and config.rootpath not in (
        Path(os.path.abspath(here / argument)) for argument in config.args
    )


def _invoked_from(config: pytest.Config) -> Path:
    """Return the folder that paths of the command line are relative to; a worker's may be in a copy of the project."""
    told: str | None = getattr(config, "workerinput", {}).get("rag_from")
    return config.invocation_params.dir if told is None else Path(os.path.normpath(config.rootpath / told))


def _distinct(where: str, names: list[str]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{where} names {found(name)} twice; name each system once")
    return tuple(names)


def _count(config: pytest.Config, name: str) -> int | None:
    """Return a whole number of the ini; None where it is not set."""
    text = str(ini_value(config, name)).strip()
    if not text:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise SettingError(f"{name} is {found(text)}; write a whole number of 1 or more")


def _keep_runs(config: pytest.Config) -> Keep:
    text = str(ini_value(config, "rag_keep_runs"))
    keep = keep_of(text)
    if keep is None:
        wanted = "write how many runs are kept, 1 or more, or all, and perhaps their size, as in 50, 2 GB"
        raise SettingError(f"rag_keep_runs is {found(text.strip())}; {wanted}")
    return keep


def _cassettes(config: pytest.Config, beside: Path) -> Path:
    """Return the folder of the recordings, which need not be there yet."""
    folder = beside / str(ini_value(config, "rag_cassettes"))
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"rag_cassettes names the file {found(str(folder))}; name a folder")
    return folder


def _model(config: pytest.Config, name: str, params: str) -> ModelSetting:
    given = getattr(config.option, name) or str(ini_value(config, name)).strip()
    return model_setting(given, ini_value(config, params), params)


def _embedder(config: pytest.Config) -> ModelSetting:
    params = ini_value(config, "rag_embedder_params")
    return model_setting(str(ini_value(config, "rag_embedder_model")).strip(), params, "rag_embedder_params", {})


def _markers(config: pytest.Config, rejection: Mapping[str, str], error: Mapping[str, str]) -> Markers:
    """Return the markers of the ini.

    Markers of a language replace the rule for plain refusals in that language. A sentence that replaces RGB's is a
    marker of its own, beside the rule.
    """
    marked = by_language(ini_value(config, "rag_rejection_markers"), "rag_rejection_markers", "en: no answer")
    return Markers(
        rejection={**{language: (sentence,) for language, sentence in rejection.items()}, **marked},
        error={
            **DEFAULT_MARKERS.error,
            **{language: (sentence,) for language, sentence in error.items()},
            **by_language(ini_value(config, "rag_error_markers"), "rag_error_markers", "en: is wrong"),
        },
        rules=tuple(language for language in DEFAULT_MARKERS.rules if language not in marked),
    )


def _sentences(config: pytest.Config, name: str) -> dict[str, str]:
    """Return one text a language."""
    example = "en: prompts/en.toml" if name == "rag_prompts" else "en: I do not know."
    texts = by_language(ini_value(config, name), name, example)
    for language, given in texts.items():
        if len(given) > 1:
            raise SettingError(f"{name} gives two texts for {found(language)}; give one")
    return {language: given[0] for language, given in texts.items()}
