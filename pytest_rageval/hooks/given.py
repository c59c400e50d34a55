"""What the command line and the ini say, checked for form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import SettingError, ascii_safe, found
from pytest_rageval.model.phrases import RGB_MARKERS, Markers

__all__ = ["Options", "is_narrowed", "read_options"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line and the ini say, checked for form.

    Attributes:
        systems: names given with ``--rag-system``; () when none.
        ini_systems: names given in the ini; they yield to an overridden fixture.
        answers: file of recorded answers, or None.
        limit, sample: cases a testbed, or None.
        seed: for assemblies and samples; None leaves it to the marker, then to 0.
        cli_gates, ini_gates: gates over the session.
        matrix, rows, cols: which matrix is printed; None leaves it open.
        json: where results.json is written too, or None.
        retriever: the name of the retriever over ``rag_corpus``.
        top_k: passages a retriever is asked for.
        folders: where the modules of systems are looked for behind Python's own path.
        narrowed: whether the run is but a part of the project: paths are given, or ``--lf``.
        texts: whether reports hold the texts of the data and the answers.
        markers: what marks a rejection or a detected error.
    """

    systems: tuple[str, ...]
    ini_systems: tuple[str, ...]
    answers: Path | None
    limit: int | None
    sample: int | None
    seed: int | None
    cli_gates: tuple[str, ...]
    ini_gates: tuple[str, ...]
    matrix: str | None
    rows: str | None
    cols: str | None
    json: Path | None
    retriever: str
    top_k: int
    folders: tuple[Path, ...]
    narrowed: bool
    texts: bool
    markers: Markers


def read_options(config: pytest.Config) -> Options:
    """Return the options, checked; a `SettingError` names the option that cannot be used."""
    option = config.option
    if option.rag_limit and option.rag_sample:
        raise SettingError("--rag-limit and --rag-sample exclude each other; give one of them")
    if option.rag_answers and option.rag_system:
        raise SettingError("--rag-answers and --rag-system exclude each other; give one of them")
    here = config.invocation_params.dir
    if option.rag_json and (here / option.rag_json).is_dir():
        raise SettingError(f"--rag-json names the directory {found(option.rag_json)}; name a file")
    return Options(
        systems=_distinct("--rag-system", option.rag_system),
        ini_systems=_distinct("rag_system", _ini(config, "rag_system")),
        answers=here / option.rag_answers if option.rag_answers else None,
        limit=option.rag_limit,
        sample=option.rag_sample,
        seed=option.rag_seed,
        cli_gates=tuple(option.rag_gate),
        ini_gates=tuple(_ini(config, "rag_gates")),
        matrix=option.rag_matrix,
        rows=option.rag_rows,
        cols=option.rag_cols,
        json=here / option.rag_json if option.rag_json else None,
        narrowed=is_narrowed(config),
        retriever=str(_ini(config, "rag_retriever")),
        top_k=_top_k(_ini(config, "rag_top_k")),
        folders=(config.rootpath, here),
        texts=_ini(config, "rag_report_texts"),
        markers=_markers(config),
    )


def _ini(config: pytest.Config, name: str) -> Any:
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise SettingError(f"{name} in the ini cannot be used: {ascii_safe(str(error))}") from None


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether the run is but a part of the project; a worker is told by the controller."""
    told: bool | None = getattr(config, "workerinput", {}).get("rag_narrowed")
    if told is not None:
        return told
    return config.args_source is pytest.Config.ArgsSource.ARGS or bool(getattr(config.option, "lf", False))


def _distinct(where: str, names: list[str]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{where} names {found(name)} twice; name each system once")
    return tuple(names)


def _top_k(text: object) -> int:
    if str(text).isdecimal() and int(str(text)) > 0:
        return int(str(text))
    raise SettingError(f"rag_top_k is {found(text)}; write a whole number of 1 or more")


def _markers(config: pytest.Config) -> Markers:
    return Markers(
        rejection={**RGB_MARKERS.rejection, **_by_language(config, "rag_rejection_markers")},
        error={**RGB_MARKERS.error, **_by_language(config, "rag_error_markers")},
    )


def _by_language(config: pytest.Config, name: str) -> dict[str, tuple[str, ...]]:
    by_language: dict[str, tuple[str, ...]] = {}
    for line in _ini(config, name):
        language, _, text = (part.strip() for part in line.partition(":"))
        if not language or not text:
            raise SettingError(
                f"{name} has the line {found(line)}; write 'language: text', for instance 'en: no answer'"
            )
        by_language[language] = (*by_language.get(language, ()), text)
    return by_language
