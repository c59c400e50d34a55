"""Search servers on the loopback: osmem, which acts as OpenSearch, and one that forwards searches or fails on plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

from osmem_server import OsmemServer

from support.servers.openai_server import Body, OpenAIServer

__all__ = ["SearchServer", "ask", "osmem", "reply"]


@contextmanager
def osmem(**indexes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Serve documents by the name of their index; yield the address. ``_id`` of a document is its id."""
    with OsmemServer.start(japanese=False) as server:  # the Japanese dictionary takes 2 s to read
        for name, documents in indexes.items():
            lines: list[Mapping[str, Any]] = []
            for document in documents:
                source = {key: value for key, value in document.items() if key != "_id"}
                lines += [{"index": {"_index": name, "_id": document["_id"]}}, source]
            report = ask(f"{server.url}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
            assert report["errors"] is False
        yield server.url
    if server.process.stdout is not None:  # the launcher leaves it open
        server.process.stdout.close()


def ask(url: str, body: str) -> Any:
    """Send a request to a server, and return the JSON of its answer."""
    request = Request(url, body.encode(), {"Content-Type": "application/x-ndjson"})  # noqa: S310 - on the loopback
    with urlopen(request, timeout=10) as answer:  # noqa: S310
        return json.load(answer)


def reply(*hits: tuple[str, float, str], **more: Any) -> dict[str, Any]:
    """Return the reply to a search, in the form of the published API; a hit is id, score and text."""
    hit_bodies = [
        {"_index": "passages", "_id": name, "_score": score, "_source": {"text": text}} for name, score, text in hits
    ]
    return {
        "took": 1,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": None, "hits": hit_bodies},
        **more,
    }


@dataclass
class SearchServer(OpenAIServer):
    """``POST /INDEX/_search``: forwards searches, or answers them itself.

    Attributes:
        upstream: the address of the server that answers; "" answers here.
        answers: the reply to a body, if it answers here; by default the documents whose vectors are nearest to the
            vector of a ``knn`` query.
        documents: id -> vector and text.
    """

    upstream: str = ""
    answers: Callable[[Body], Mapping[str, Any]] | None = None
    documents: Mapping[str, tuple[Sequence[float], str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Body]:
        """The bodies of the searches, in the order of their arrival."""
        return [request.body for request in self.requests]

    def accepts(self, path: str) -> bool:
        return path.endswith("/_search")

    def answer(self, path: str, body: Body) -> Mapping[str, Any]:
        if self.upstream:
            result: Mapping[str, Any] = ask(self.upstream + path, json.dumps(body))
            return result
        if self.answers is not None:
            return self.answers(body)
        (near,) = body["query"]["knn"].values()
        scores = {
            name: sum(one * other for one, other in zip(near["vector"], vector, strict=True))
            for name, (vector, _) in self.documents.items()
        }
        nearest = sorted(scores, key=lambda name: -scores[name])[: min(near["k"], body["size"])]
        return reply(*((name, scores[name], self.documents[name][1]) for name in nearest))
