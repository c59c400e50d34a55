"""The retriever ``run:FILE``: rankings from a TREC run or a JSON file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pytest_rageval.datasets.runs import load_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import CaseError, DataError, SettingError, short_repr
from pytest_rageval.metrics.rankings.ranked_passages import by_rank
from pytest_rageval.model.case import Passage
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.checks import check_query
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverFactory, RetrieverParts

__all__ = ["RunFile", "family"]


def family(name: str, head: str, get: Callable[[str], RetrieverFactory]) -> RetrieverFactory:
    """Return the factory of ``run:FILE``; raise `SettingError` if the name lacks the file."""
    file = name.removeprefix(head)[1:].strip()
    if not file:
        raise SettingError(
            f"the retriever {short_repr(name)} names no file; write run:FILE, for example run:runs/bm25.trec"
        )
    return _Factory(file)


@dataclass(frozen=True, slots=True)
class _Factory:
    file: str
    needs_corpus: ClassVar[bool] = False

    def __call__(self, parts: RetrieverParts) -> Retriever:
        Params(parts.params).finish()
        return RunFile(parts.folder / self.file, parts.passages)


class RunFile:
    """A `Retriever` that returns the ranking of each case from a file (see `load_run`).

    It looks up a case by its id, then by its question. Passages are in trec_eval's order: by score, then by id.

    Args:
        path: the file with the rankings.
        passages: passages with the texts and titles that the file lacks; may be empty.

    Raises:
        DataError: the file is not a run, or a passage has no text in the file and is not in ``passages``.
    """

    in_place = True

    def __init__(self, path: Path, passages: Iterable[Passage] = ()) -> None:
        self._name = shown_path(path)
        if not path.exists():
            raise DataError(
                self._name,
                "no such file; the FILE of rag_retriever = run:FILE is relative to the ini file",
                code="RAG105",
            )
        self._run = load_run(path)
        self._corpus = {passage.id: passage for passage in passages}
        if self._corpus:
            self._check()

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages of the current case.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the file has no ranking for the case ("not_in_run"), or the query is blank ("empty_query").
        """
        check_query(query, k)
        ids = CASE_IDS.get()
        keys = [*(("id", name) for name in ids), ("question", query)]
        ranking = next((self._run[key] for key in keys if key in self._run), None)
        if ranking is None:
            kind, name = ("id", ids[-1]) if ids else ("question", query)
            raise CaseError(
                "not_in_run",
                f"{self._name} has no ranking of the {kind} {short_repr(name)}; add one (for a case without results, "
                'the JSON line {"id": ..., "ranking": []}), or deselect the case',
            )
        return Ranking(tuple(self._with_text(item) for item in by_rank(ranking)[:k]))

    def _with_text(self, item: ScoredPassage) -> ScoredPassage:
        """Return a passage with text, title, page and span from the corpus if the file has no text."""
        passage = None if item.text else self._corpus.get(item.doc_id)
        if passage is None:
            return item
        title, page = item.title or passage.title, item.page or passage.page
        return replace(item, text=passage.text, title=title, page=page, span=passage.span)

    def _check(self) -> None:
        """Raise a `DataError` for a passage that has no text in the file and is not in the corpus."""
        for (kind, name), ranking in self._run.items():
            for item in ranking:
                if not item.text and item.doc_id not in self._corpus:
                    problem = (
                        f"the passage {short_repr(item.doc_id)} of the {kind} {short_repr(name)} is not in rag_corpus"
                    )
                    raise DataError(self._name, f"{problem}; set rag_corpus to the corpus of the run, or remove it")
