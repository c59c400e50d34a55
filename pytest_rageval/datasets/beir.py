"""Load a BEIR folder: ``queries.jsonl`` and a split, by default ``qrels/test.tsv``."""

from __future__ import annotations

from pathlib import Path

from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.qrels import read_qrels
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import detect_language

__all__ = ["Beir", "load"]

KEYS = ("_id", "language", "metadata", "text")


class Beir:
    """Loads the queries that a split judges; the path is the folder (split test) or the file of a split."""

    def files(self, path: Path) -> tuple[Path, Path]:
        """Return the query file and the split file; raise `DataError` if one is missing."""
        folder, split = (path, path / "qrels" / "test.tsv") if path.is_dir() else (path.absolute().parent.parent, path)
        queries = folder / "queries.jsonl"
        if not queries.exists():
            raise DataError(
                shown_path(queries), "no such file; a BEIR folder needs this file with its queries", code="RAG105"
            )
        if not split.exists():
            others = sorted(other.name for other in split.parent.glob("*.tsv"))
            hint = (
                f"name a split of the folder, for example qrels/{others[0]}"
                if others
                else "add the file with the judgements"
            )
            raise DataError(shown_path(split), f"no such file; {hint}", code="RAG105")
        return queries, split

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        """Return an instance without gold answer for each judged query, in the order of ``queries.jsonl``.

        The id of an instance is the query's id; its facet ``dataset`` is the folder's name. ``metadata`` is ignored.

        Raises:
            DataError: a record is invalid, or a judged query is missing.
        """
        queries, split = self.files(path)
        qrels = read_qrels(split)
        name = shown_path(queries)
        dataset = queries.absolute().parent.name
        seen: dict[object, int] = {}
        instances = []
        for line, values in read_records(queries):
            with one_record:
                record = Fields(f"{name}:{line}", values)
                query = record.identifier("_id")
                claim(seen, query, f"the _id {short_repr(query)}", name, line)
                if query in qrels:
                    instances.append(_instance(record, query, qrels[query], dataset))
        for missing in (query for query in qrels if query not in seen):
            with one_record:
                raise DataError(
                    shown_path(split),
                    f"judges the query {short_repr(missing)}, which {name} does not have",
                    code="RAG205",
                )
        return tuple(instances)


def _instance(record: Fields, query: str, grades: dict[str, int], dataset: str) -> Instance:
    question = record.text("text")
    language = record.language("language", detect_language(question))
    return Instance(
        id=query,
        question=question,
        qrels=grades,
        language=language,
        facets={"dataset": dataset, "language": language, **record.facets(KEYS)},
        origin=record.where,
    )


load = Beir()
