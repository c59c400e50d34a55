"""Run real retrievers of LangChain and LlamaIndex, unchanged."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.evidence import EvidenceUnit
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from pytest_rageval.retrieval.adapt_retriever import AsyncCalling, Calling, adapted


@pytest.fixture(scope="module")
def langchain() -> Any:
    from langchain_core import retrievers
    from langchain_core.documents import Document

    def documents(query: str) -> list[Document]:
        return [
            Document(f"about {query}", metadata={"source": "guide.md", "title": "Guide"}),
            Document("names", id="n1", metadata={"source": "guide.md"}),
            Document("own", id="4f6b", metadata={"id": "d7"}),
        ]

    class Sync(retrievers.BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            return documents(query)

    class Async(Sync):
        async def _aget_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            await asyncio.sleep(0)
            return [*documents("awaited")]

    return Sync(), Async()


@pytest.fixture(scope="module")
def llama() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="guide.md")}

    class Sync(BaseRetriever):
        def _retrieve(self, bundle: Any) -> Any:
            node = TextNode(
                id_="n1", text=f"about {bundle.query_str}", metadata={"title": "Guide"}, relationships=source
            )
            return [NodeWithScore(node=node, score=0.75), NodeWithScore(node=TextNode(id_="n2", text="two"), score=0.5)]

    class Async(Sync):
        async def _aretrieve(self, query_bundle: Any) -> Any:
            await asyncio.sleep(0)
            return [NodeWithScore(node=TextNode(id_="n3", text="awaited"))]

    return Sync(), Async()


def test_langchain_documents_become_passages(langchain: Any) -> None:
    sync, _ = langchain
    assert isinstance(adapted(sync), Calling)
    results = adapted(sync).search("kettles", 3)
    assert [(item.text, item.title, item.page, item.score) for item in results] == [
        ("about kettles", "Guide", "guide.md", None),
        ("names", "", "guide.md", None),
        ("own", "", "", None),
    ]
    assert results.doc_ids[0].startswith("text-")
    assert results.doc_ids[1:] == ("n1", "d7")


def test_an_async_langchain_retriever_is_awaited(langchain: Any) -> None:
    _, awaiting = langchain
    retriever: Any = adapted(awaiting)
    assert isinstance(retriever, AsyncCalling)
    assert asyncio.run(retriever.search("kettles", 1))[0].text == "about awaited"


def test_a_langchain_store_gets_k() -> None:
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts(["one", "two", "three"], ids=["a", "b", "c"])
    results = adapted(store).search("two", 2)
    assert results[0] == ScoredPassage("b", None, "two")
    assert len(results) == 2
    retriever: Any = adapted(store.as_retriever())
    assert asyncio.run(retriever.search("two", 1)).doc_ids == ("b",)


def test_llama_index_nodes_become_passages(llama: Any) -> None:
    sync, _ = llama
    assert isinstance(adapted(sync), Calling)
    assert adapted(sync).search("kettles", 5).items == (
        ScoredPassage("n1", 0.75, "about kettles", "Guide", "guide.md"),
        ScoredPassage("n2", 0.5, "two"),
    )


def test_an_async_llama_index_retriever_is_awaited(llama: Any) -> None:
    _, awaiting = llama
    retriever: Any = adapted(awaiting)
    assert asyncio.run(retriever.search("kettles", 5)).items == (ScoredPassage("n3", None, "awaited"),)


def test_evidence_is_found_in_returned_documents(langchain: Any, llama: Any) -> None:
    unit = EvidenceUnit("guide.md", "About the OPENING hours")
    case = Case("q", Instance("q", "?", evidence=((unit,),)), None, {})
    recall = Catalog().metrics.get("R@1")
    for retriever in (langchain[0], llama[0]):
        ranking = adapted(retriever).search("the opening hours", 2)
        assert isinstance(ranking, Ranking)
        assert ranking[0].span is None
        assert recall.compute(Sample(case, Answer("", ranking))).value == 1.0
        assert recall.compute(Sample(case, Answer("", Ranking(ranking.items[1:])))).value == 0.0
