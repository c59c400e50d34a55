"""Lint a dataset: load it and run all checks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.activity import doing, progress
from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.datasets.faults import collected_faults
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, RagEvalError, SettingError, ascii_safe, short_repr
from pytest_rageval.linting import BUILTIN
from pytest_rageval.linting.finding import Finding
from pytest_rageval.linting.subject import Leakage, Subject
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.registry import Registry

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.datasets import Loader

__all__ = ["Linter", "lint"]

Check = Callable[[Subject], Iterator[Finding]]

_CHECKS: Registry[Check] = Registry("check", BUILTIN)


def lint(
    dataset: str | Sequence[Instance],
    *,
    ability: str | None = None,
    passages: int | Sequence[int] = 5,
    noise_rate: float | Sequence[float] | None = None,
    correct_rate: float | Sequence[float] | None = None,
    assembly: str = "balanced",
    corpus: str | Sequence[str] = (),
    leakage: Leakage | None = None,
) -> list[Finding]:
    """Return the findings about a dataset, in the order of its records; an empty list if there are none.

    Args:
        dataset: ``format:path``, relative to the current folder, or the instances.
        ability: the ability, as in ``rag_case``; None to infer it from the passages of each record.
        passages: the number of passages that the pools must supply; each of several numbers is checked.
        noise_rate: the share of noise in 0..1 that the pools must supply.
        correct_rate: the share of correct passages in 0..1 among the counterfactual ones.
        assembly: "balanced", or "rgb-compat", which matches gold answers like RGB instead of like ``accuracy``.
        corpus: lines as in ``rag_corpus``, with the documents that may be judged relevant.
        leakage: the files that must not contain a question; None skips the leakage checks.

    An unreadable record is a finding, too; the checks continue with the other records.

    Raises:
        SettingError: the settings contradict each other, the format is unknown, or its loader fails.
        DataError: the file is missing, or the corpus cannot be read.
    """
    from pytest_rageval import corpora, datasets

    formats: Registry[Loader] = Registry("dataset format", datasets.BUILTIN)
    readers: Registry[Reader] = Registry("corpus format", corpora.BUILTIN)
    settings = {
        "ability": ability,
        "passages": passages,
        "noise_rate": noise_rate,
        "correct_rate": correct_rate,
        "assembly": assembly,
    }
    lines = (corpus,) if isinstance(corpus, str) else tuple(corpus)
    return Linter(settings, lines, formats, readers, leakage)(dataset)


class Linter:
    """Checks datasets with one set of settings.

    The corpus is read once, and once more for each dataset with evidence.

    Args:
        settings: the settings, as in `Subject`.
        corpus: lines as in ``rag_corpus``.
        formats: the dataset formats.
        readers: the corpus formats.
        leakage: the files that must not contain a question; None skips the leakage checks.

    Attributes:
        matcher: the metric that matches gold answers.

    Raises:
        SettingError: a setting is invalid.
        DataError: the corpus cannot be read.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        corpus: tuple[str, ...],
        formats: Registry[Loader],
        readers: Registry[Reader],
        leakage: Leakage | None = None,
    ) -> None:
        self._settings = settings
        self._formats = formats
        self.matcher = "rgb_all_rate_compat" if settings.get("assembly") == "rgb-compat" else "accuracy"
        Subject("", (), settings).check()
        self._lines = corpus
        self._readers = readers
        self._leakage = leakage
        self._corpus = frozenset(_ids(self._passages())) if corpus else None

    def __call__(self, dataset: str | Sequence[Instance]) -> list[Finding]:
        """Return the findings about one dataset."""
        if not isinstance(dataset, str):
            return self._findings("instances", tuple(dataset))
        name, colon, text = dataset.partition(":")
        if not name or not colon or not text.strip():
            raise SettingError(
                f"dataset {short_repr(dataset)} is not format:path; write for example jsonl:cases.jsonl", code="RAG104"
            )
        loader, path = self._formats.get(name), _existing_path(text)
        self._check_leakage_files(path)
        instances: tuple[Instance, ...] = ()
        left_out: tuple[tuple[str, str], ...] = ()
        with collected_faults() as faults, doing(f"reading {dataset}"):
            try:
                instances = tuple(loader(path))
                left_out = tuple(loader.left_out(path)) if hasattr(loader, "left_out") else ()
            except DataError as error:
                faults.append(error)
            except RagEvalError:
                raise
            except Exception as error:  # a user's loader may raise anything
                cause = f"{type(error).__name__}: {ascii_safe(str(error))}"
                raise SettingError(f"the loader of {name!r} failed on {shown_path(path)}: {cause}") from error
        unreadable = sorted({(fault.where, fault.problem) for fault in faults}, key=_sort_key)
        findings = [Finding("unreadable", "error", "", *fault) for fault in unreadable]
        findings += self._findings(dataset, instances, left_out)
        if not instances and not unreadable:
            findings.append(Finding("unreadable", "error", "", dataset, "the dataset has no record"))
        return findings

    def _check_leakage_files(self, path: Path) -> None:
        leakage = self._leakage or Leakage()
        if path.resolve() in {each.resolve() for each in (*leakage.prompts, *leakage.against)}:
            problem = f"{shown_path(path)} is the dataset itself; leave it out of --prompts and --against"
            raise SettingError(problem)

    def _findings(
        self, name: str, instances: tuple[Instance, ...], left_out: tuple[tuple[str, str], ...] = ()
    ) -> list[Finding]:
        locator = None
        if self._lines and any(instance.evidence for instance in instances):
            locator = EvidenceLocator(instances)
            deque(self._passages(locator), maxlen=0)
        return _findings(Subject(name, instances, self._settings, self._corpus, left_out, locator, self._leakage))

    def _passages(self, locator: EvidenceLocator | None = None) -> Iterator[Passage]:
        from pytest_rageval.corpora.chunking import parse_chunking
        from pytest_rageval.corpora.places import places
        from pytest_rageval.corpora.reading import passages

        files = places(self._lines, Path.cwd(), self._readers)
        return passages(files, self._readers, parse_chunking("none"), locator)


def _sort_key(fault: tuple[str, str]) -> tuple[str, int, str]:
    """Return the sort key of a fault: file, line, problem."""
    file, _, line = fault[0].rpartition(":")
    return (file, int(line), fault[1]) if line.isdecimal() else (fault[0], 0, fault[1])


def _existing_path(text: str) -> Path:
    try:
        is_present = Path(text).exists()
    except OSError as error:
        raise SettingError(f"the path {short_repr(text)} cannot be used: {error.strerror}") from None
    if not is_present:
        raise DataError(
            ascii_safe(text), "no such file or folder; a path is relative to the current folder", code="RAG105"
        )
    return Path(text)


def _findings(subject: Subject) -> list[Finding]:
    """Return the findings of all checks: about the whole dataset first, then by record."""
    places = {(instance.origin, instance.id): place for place, instance in enumerate(subject.instances)}
    checks = progress(f"{subject.name}: check", BUILTIN)
    findings = [finding for name in checks for finding in _CHECKS.get(name)(subject)]
    return sorted(findings, key=lambda finding: places.get((finding.origin, finding.id), -1))


def _ids(passages: Iterator[Passage]) -> Iterator[str]:
    for passage in passages:
        yield from filter(None, (passage.id, passage.page))
