"""Parse the reply of a search; raise an error for an invalid or incomplete reply."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.adapt_results import ranking_of
from pytest_rageval.retrieval.opensearch.faults import search_fault
from pytest_rageval.retrieval.opensearch.settings import ID, Index

__all__ = ["Hit", "has_text", "hits_of", "ranking_of_hits"]

Hit = Mapping[str, Any]
"""A hit with its ``_id``, ``_score`` and ``_source``."""

_MISSING = object()


def hits_of(content: bytes, label: str) -> list[Hit]:
    """Return the hits of a reply, in the server's order.

    Raises:
        ModelError: the reply is not a search result ("malformed_response"), no index has the name ("not_found"), or
            the reply is incomplete: the server ran out of time ("timeout"), or shards or clusters failed
            ("server_error").
    """
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise search_fault("malformed_response", label, f"{type(error).__name__}: {error}") from None
    if not isinstance(reply, dict):
        raise search_fault("malformed_response", label, f"a JSON {type(reply).__name__} instead of an object")
    if reply.get("timed_out"):
        raise search_fault("timeout", label, "timed_out: it returned a part of the hits")
    _check_parts(reply, label)
    outer = reply.get("hits")
    hits = outer.get("hits") if isinstance(outer, dict) else None
    if not isinstance(hits, list) or not all(isinstance(hit, dict) and isinstance(hit.get(ID), str) for hit in hits):
        raise search_fault("malformed_response", label, "no list of hits with ids")
    return [{ID: hit[ID], "_score": hit.get("_score"), "_source": hit.get("_source") or {}} for hit in hits]


def _check_parts(reply: Mapping[str, Any], label: str) -> None:
    """Raise an error if the hits of a shard or cluster are missing."""
    shards, clusters = (part if isinstance(part := reply.get(name), dict) else {} for name in ("_shards", "_clusters"))
    if shards.get("failed"):
        problem = f"{shards['failed']} of {shards.get('total')} shards failed{_why(shards)}"
        raise search_fault("server_error", label, problem)
    missing = [f"{clusters[state]} {state}" for state in ("skipped", "partial", "failed") if clusters.get(state)]
    if missing:
        raise search_fault("server_error", label, f"of {clusters.get('total')} clusters: {', '.join(missing)}")
    if shards.get("total") == 0:
        raise search_fault("not_found", label, "no index matches the name")


def has_text(hit: Hit, index: Index) -> bool:
    """Return whether the text field of a hit has a value."""
    return _field(hit, index.text_field) not in (_MISSING, None, "")


def ranking_of_hits(hits: Sequence[Hit], index: Index, k: int) -> Ranking:
    """Return the first ``k`` hits in the server's order; a hit without a text becomes a passage with only an id.

    Raises:
        CaseError: a hit lacks ``id_field``, or a field or the score has the wrong type ("bad_ranking").
    """
    return ranking_of([_passage(hit, index) for hit in hits], k, "opensearch")


def _passage(hit: Hit, index: Index) -> ScoredPassage:
    name = hit[ID] if index.id_field == ID else _plain_text(hit, index, "id_field")
    if not name:
        raise _bad_hit(hit, index, f"has no {index.id_field}; set id_field to a field of every document")
    text = _field(hit, index.text_field)
    if text is _MISSING or text is None:
        text = ""
    if not isinstance(text, str):
        raise _bad_hit(
            hit, index, f"has a {type(text).__name__} in {index.text_field}; set text_field to a field of texts"
        )
    score = hit.get("_score")
    if score is not None and (
        isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score)
    ):
        raise _bad_hit(hit, index, f"has the score {short_repr(score)}, which is not a number")
    title, page = (_plain_text(hit, index, setting) for setting in ("title_field", "page_field"))
    return ScoredPassage(name, None if score is None else float(score), text, title, page)


def _plain_text(hit: Hit, index: Index, setting: str) -> str:
    """Return the text or number in a field of a hit as text; "" if it is missing."""
    field = getattr(index, setting)
    value = _field(hit, field) if field else None
    if value is _MISSING or value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _bad_hit(hit, index, f"has a {type(value).__name__} in {field}; set {setting} to a field of texts")
    return str(value)


def _field(hit: Hit, name: str) -> Any:
    """Return a field of a document: a field of that name, or else a nested field, with dots between the names."""
    value: Any = hit["_source"]
    if isinstance(value, Mapping) and name in value:
        return value[name]
    for part in name.split("."):
        value = value.get(part, _MISSING) if isinstance(value, Mapping) else _MISSING
    return value


def _why(shards: Mapping[str, Any]) -> str:
    """Return ": " and the reason of the first failed shard; "" if there is none."""
    try:
        return f": {shards['failures'][0]['reason']['reason']}"
    except (KeyError, IndexError, TypeError):
        return ""


def _bad_hit(hit: Hit, index: Index, problem: str) -> CaseError:
    return CaseError("bad_ranking", f"the hit {short_repr(hit[ID])} of {index.label} {problem}")
