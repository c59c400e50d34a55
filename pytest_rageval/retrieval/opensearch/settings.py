"""Read the settings of ``opensearch``: index, fields, and credentials from variables."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.llm.backends.openai_protocol import address_problem, fits_a_header
from pytest_rageval.llm.secrets import add_secrets
from pytest_rageval.retrieval.retriever_params import WHERE, Params

__all__ = ["Credentials", "Index", "credentials_of", "index_of"]

ID = "_id"
"""The field with the id that the server gives every document."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S.*")
"""A complete value of the header Authorization, such as ``ApiKey KEY``."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index to search, and the fields of its documents; a dotted name is a nested field.

    Attributes:
        url: the address of the server, without a final slash.
        name: the name of the index or alias; several names with commas or ``*``.
        text_field: the field of the text.
        id_field: the field of the passage's id; by default the ``_id`` of the document.
        title_field: the field of the title; "" for none.
        page_field: the field of the page's id; "" for none.
    """

    url: str
    name: str
    text_field: str = "text"
    id_field: str = ID
    title_field: str = ""
    page_field: str = ""

    @property
    def address(self) -> str:
        """The address of search requests."""
        return f"{self.url}/{quote(self.name, safe=',*')}/_search"

    @property
    def label(self) -> str:
        """The name of the index in recordings and messages: host, path and index."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path}/{self.name}"

    @property
    def fields(self) -> list[str]:
        """The fields that a search returns."""
        names = (self.text_field, self.title_field, self.page_field, "" if self.id_field == ID else self.id_field)
        return list(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of the user on the server.

    Attributes:
        headers: HTTP headers of each request.
        secrets: texts that no message shows.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


def index_of(params: Params, environment: Mapping[str, str] = os.environ) -> Index:
    """Return the index of the settings; raise `SettingError` if a name is missing or the address is not valid."""
    index = Index(
        _url_of(params, environment),
        params.text("index", ""),
        params.text("text_field", "text"),
        params.text("id_field", ID),
        params.text("title_field", ""),
        params.text("page_field", ""),
    )
    for name in ("index", "text_field", "id_field"):
        if not (index.name if name == "index" else getattr(index, name)):
            raise SettingError(f"{WHERE} names no {name} for opensearch to search; write {name} = NAME")
    return index


def credentials_of(params: Params, *, may_send: bool, environment: Mapping[str, str] = os.environ) -> Credentials:
    """Return the credentials of ``auth_env`` and ``headers_env``; register them as secrets (`add_secrets`).

    Args:
        params: the settings.
        may_send: False if searches are only replayed; then no variable is read.
        environment: the environment variables.

    Raises:
        SettingError: a variable is missing or malformed. The message never shows its value.
    """
    auth, extra = params.text("auth_env", ""), params.text("headers_env", "")
    if not may_send:
        return Credentials()
    headers: dict[str, str] = {}
    secrets: list[str] = []
    if extra:
        headers |= _headers(extra, _value("headers_env", extra, environment))
        secrets += headers.values()
        add_secrets(extra, secrets)
    if auth:
        value = _value("auth_env", auth, environment)
        headers["Authorization"], auth_secrets = _authorization(auth, value)
        secrets += auth_secrets
        add_secrets(auth, auth_secrets)
    for name, value in headers.items():
        if not name or not fits_a_header(name + value):
            raise SettingError(f"the header {name!a} of opensearch has characters that HTTP does not allow")
    return Credentials(headers, tuple(filter(None, secrets)))


def _url_of(params: Params, environment: Mapping[str, str]) -> str:
    url, variable = params.text("url", ""), params.text("url_env", "")
    if url and variable:
        raise SettingError(f"{WHERE} gives both url and url_env; give one of them")
    if not url and not variable:
        raise SettingError(
            f"{WHERE} names no search server; write url_env = VARIABLE, or url = https://HOST:9200", code="RAG409"
        )
    url = (url or _value("url_env", variable, environment)).strip().rstrip("/")
    problem = address_problem(url)
    if not problem and (urlsplit(url).query or urlsplit(url).fragment):
        problem = "it has a query"
    if problem:
        where = f"the variable {variable}" if variable else "url"
        advice = "write https://HOST:9200, and put credentials into the variable that auth_env names"
        raise SettingError(f"{where} is not the address of a search server: {problem}; {advice}", code="RAG409")
    return url


def _value(setting: str, variable: str, environment: Mapping[str, str]) -> str:
    """Return the value of the variable that a setting names; raise `SettingError` if it is missing."""
    value = environment.get(variable, "").strip()
    if not value:
        problem = f"has {setting} = {short_repr(variable)}, but the environment has no such variable"
        examples = {
            "url_env": "https://HOST:9200",
            "auth_env": "user:password, or 'ApiKey KEY'",
            "headers_env": 'a JSON object like {"X-Tenant": "docs"}',
        }
        raise SettingError(f"{WHERE} {problem}; set it to {examples[setting]}")
    return value


def _authorization(variable: str, value: str) -> tuple[str, list[str]]:
    """Return the value of the header Authorization and the secrets in it."""
    if _SCHEME.fullmatch(value):
        return value, [value, value.partition(" ")[2].strip()]
    if ":" not in value:
        raise SettingError(f"the variable {variable} of auth_env is neither user:password nor 'ApiKey KEY'; correct it")
    encoded = base64.b64encode(value.encode()).decode("ascii")
    return f"Basic {encoded}", [value, encoded, value.partition(":")[2]]


def _headers(variable: str, value: str) -> dict[str, str]:
    try:
        headers = json.loads(value)
    except ValueError:
        headers = None
    if not isinstance(headers, dict) or not all(isinstance(each, str) for each in headers.values()):
        raise SettingError(f'the variable {variable} of headers_env is not a JSON object like {{"X-Tenant": "docs"}}')
    return headers
