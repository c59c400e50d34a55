"""Rankings that were made elsewhere: a run of TREC's or recorded JSON stands for a retriever."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pytest_rageval.datasets.runs import load_run
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import CaseError, DataError, SettingError, found
from pytest_rageval.metrics.rankings.retrieved import by_rank
from pytest_rageval.model.case import Passage
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.build_context import RetrieverFactory, RetrieverParts
from pytest_rageval.retrieval.checks import checked
from pytest_rageval.retrieval.retriever_params import Params

__all__ = ["RunFile", "family"]


def family(name: str, head: str, get: Callable[[str], RetrieverFactory]) -> RetrieverFactory:
    """Return the factory of ``run:FILE``; a name without a file is a `SettingError`."""
    file = name.removeprefix(head)[1:].strip()
    if not file:
        raise SettingError(f"the retriever {found(name)} names no file; write run:FILE, as run:runs/bm25.trec")
    return _Factory(file)


@dataclass(frozen=True, slots=True)
class _Factory:
    file: str
    needs_corpus: ClassVar[bool] = False

    def __call__(self, parts: RetrieverParts) -> Retriever:
        Params(parts.params).finish()
        return RunFile(parts.folder / self.file, parts.passages)


class RunFile:
    """A `Retriever` that finds for each case what a file says was found for it (see `load_run`).

    A case is known by its id, else by its question. Passages are ordered as trec_eval orders them, by score and, where
    scores are equal, by id.

    Args:
        path: the file.
        passages: where texts and titles come from that the file does not have; empty leaves them out.

    Raises:
        DataError: the file cannot be read as a run, or has a passage without a text that is not among ``passages``.
    """

    in_place = True

    def __init__(self, path: Path, passages: Iterable[Passage] = ()) -> None:
        self._name = shown_path(path)
        if not path.exists():
            raise DataError(self._name, "no such file; the FILE of rag_retriever = run:FILE is beside the ini")
        self._run = load_run(path)
        self._corpus = {passage.id: passage for passage in passages}
        if self._corpus:
            self._check()

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages of the case that is being answered.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the file has no ranking of the case ("not_in_run"), or the query is blank ("empty_query").
        """
        checked(query, k)
        ids = CASE_IDS.get()
        keys = [*(("id", name) for name in ids), ("question", query)]
        ranking = next((self._run[key] for key in keys if key in self._run), None)
        if ranking is None:
            kind, name = ("id", ids[-1]) if ids else ("question", query)
            raise CaseError(
                "not_in_run",
                f"{self._name} has no ranking of the {kind} {found(name)}; add one (of a case for which nothing is "
                'found, the JSON line {"id": ..., "ranking": []}), or deselect the case',
            )
        return Ranking(tuple(self._told(item) for item in by_rank(ranking)[:k]))

    def _told(self, item: ScoredPassage) -> ScoredPassage:
        passage = None if item.text else self._corpus.get(item.doc_id)
        if passage is None:
            return item
        title, page = item.title or passage.title, item.page or passage.page
        return replace(item, text=passage.text, title=title, page=page, span=passage.span)

    def _check(self) -> None:
        """Refuse a passage of which neither the file nor the corpus has the text."""
        for (kind, name), ranking in self._run.items():
            for item in ranking:
                if not item.text and item.doc_id not in self._corpus:
                    problem = f"the passage {found(item.doc_id)} of the {kind} {found(name)} is not in rag_corpus"
                    raise DataError(self._name, f"{problem}; name the corpus that the run was made over, or none")
