"""Turn the failure of a search into a `ModelError` with one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import ModelError, ascii_safe
from pytest_rageval.llm.backends.faults import http_fault
from pytest_rageval.llm.secrets import mask

__all__ = ["search_error", "search_fault"]

MAX_DETAIL = 200
"""Maximum number of characters of a detail."""

_MESSAGES = {
    "rate_limited": ("refused the search: too many requests", "lower rag_concurrency or wait"),
    "timeout": ("did not answer in time", "raise timeout in rag_retriever_params, or lower rag_concurrency"),
    "connection": ("could not be reached, or broke the connection", "check url or url_env, and that it runs"),
    "server_error": ("failed on its own side", "try again later, or look into its log"),
    "bad_address": ("has an invalid address", "correct url or url_env in rag_retriever_params"),
    "bad_protocol": ("did not reply in valid HTTP", "check that url or url_env is its address"),
    "too_large": ("sent a reply that is too large", "leave large fields out of the query's _source, or lower "
                  "rag_top_k"),
    "truncated": ("broke off in the middle of its reply", "try again later"),
    "malformed_response": ("sent an invalid search result", "check that url or url_env is its address"),
    "auth": ("asks for a login, or refused the credentials", "set auth_env in rag_retriever_params to a variable with "
             "user:password or 'ApiKey KEY'"),
    "not_found": ("was not found", "check index and url in rag_retriever_params"),
    "bad_request": ("refused the query", "correct query, filter or text_field in rag_retriever_params"),
}  # fmt: skip
"""Kind of the error -> what the server did, and what the user can do."""


def search_error(error: BaseException, label: str, secrets: Iterable[str] = ()) -> ModelError:
    """Return the `ModelError` for an exception of a search, without any of the secrets.

    Args:
        error: the exception.
        label: the name of the index in messages.
        secrets: texts that the message must not show.
    """
    fault = http_fault(error, secrets)
    kind = fault.kind if fault.kind in _MESSAGES else "bad_request"
    return _error(kind, label, fault.detail, fault.retry_after)


def search_fault(kind: str, label: str, detail: str) -> ModelError:
    """Return the `ModelError` for a reply that cannot be used."""
    text = ascii_safe(" ".join(mask(detail).split()))
    return _error(kind, label, f" ({text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 3] + '...'})", None)


def _error(kind: str, label: str, detail: str, retry_after: float | None) -> ModelError:
    cause, advice = _MESSAGES[kind]
    return ModelError(kind, f"the search server {label} {cause}{detail}; {advice}", retry_after=retry_after)
