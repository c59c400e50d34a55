"""Parse the [[action]] tables of a chain's file into actions."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.systems.chains.chain import (
    Action,
    CallTool,
    Compute,
    Expression,
    Fill,
    Generate,
    PromptMessage,
    Retrieve,
    Source,
)
from pytest_rageval.systems.chains.expressions import syntax_problem
from pytest_rageval.systems.chains.references import Place
from pytest_rageval.systems.chains.template import Template, TemplateError, parse_template
from pytest_rageval.toml_files import line_of

__all__ = ["KINDS", "TableReader"]

KINDS: Mapping[str, tuple[str, ...]] = {
    "retrieve": ("query", "query_python", "k", "retriever", "join", "passage"),
    "generate": ("prompt", "prompt_python", "message", "model", "max_tokens", "temperature", "stop"),
    "template": ("text",),
    "tool": ("tool", "arguments"),
    "python": ("expression",),
}
"""Value of ``do`` -> the keys of such an action, in addition to ``name`` and ``do``."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ROLES = ("system", "user", "assistant")
_REQUIRED = {"template": "text", "tool": "tool", "python": "expression"}


class TableReader:
    """Parses one table of a chain's file.

    Args:
        file_name: the name of the file in messages.
        lines: the lines of the file.
        start: index of the table's first line.
        end: index of the line after its last one.
    """

    def __init__(self, file_name: str, lines: list[str], start: int, end: int) -> None:
        self._file_name = file_name
        self._lines = lines
        self._start = start
        self.place = Place(file_name, lines, start, end)

    def where(self, key: str, table: str = "action") -> str:
        """Return ``file:line`` of a key."""
        return f"{self._file_name}:{line_of(self._lines, key, self._start, table)}"

    def action(self, table: Mapping[str, Any]) -> Action:
        """Return the action of a table; its references to other actions are not checked yet."""
        where = f"{self._file_name}:{self._start + 1}"
        for key in ("name", "do"):
            if key not in table:
                raise DataError(where, f"the action has no {key}; add it")
        name, do = self.text(table, "name"), self.text(table, "do")
        if not _NAME.fullmatch(name):
            expected = "a lower-case letter, then lower-case letters, digits and _"
            raise DataError(self.where("name"), f"name: found {short_repr(name)}, wanted {expected}")
        if do not in KINDS:
            raise UnknownNameError("kind of action", do, KINDS, self.where("do"))
        self.check_keys(table, ("name", "do", *KINDS[do]))
        required = _REQUIRED.get(do)
        if required is not None and required not in table:
            raise DataError(where, f"the action {name} has no {required}; add it")
        if do == "retrieve":
            return self._retrieve(where, name, table)
        if do == "generate":
            return self._generate(where, name, table)
        if do == "template":
            return Fill(where, name, self.template(self.text(table, "text"), "text"))
        if do == "tool":
            return CallTool(
                where, name, self.text_not_blank(table, "tool"), self._arguments(table.get("arguments", {}))
            )
        return Compute(where, name, self._expression(table, "expression"))

    def _retrieve(self, where: str, name: str, table: Mapping[str, Any]) -> Retrieve:
        query = self._source(table, "query", where) or parse_template("{question}")
        passage = self.text(table, "passage") if "passage" in table else "{text}"
        return Retrieve(
            where,
            name,
            query,
            k=self._whole(table, "k") if "k" in table else None,
            retriever=self.text_not_blank(table, "retriever") if "retriever" in table else "",
            join=self.text(table, "join") if "join" in table else "\n\n",
            passage=self.template(passage, "passage"),
        )

    def _generate(self, where: str, name: str, table: Mapping[str, Any]) -> Generate:
        prompt = self._source(table, "prompt", where)
        if prompt is not None and "message" in table:
            raise DataError(where, f"the action {name} has a prompt and messages; remove one of them")
        if prompt is None and "message" not in table:
            raise DataError(where, f"the action {name} has no prompt; add prompt, or [[action.message]] tables")
        messages = self._messages(table["message"]) if prompt is None else (PromptMessage("user", prompt),)
        params: dict[str, Any] = {}
        if "max_tokens" in table:
            params["max_tokens"] = self._whole(table, "max_tokens")
        if "temperature" in table:
            params["temperature"] = self._temperature(table["temperature"])
        if "stop" in table:
            params["stop"] = self._stop(table["stop"])
        model = self.text_not_blank(table, "model") if "model" in table else ""
        return Generate(where, name, messages, model, params)

    def _messages(self, tables: object) -> tuple[PromptMessage, ...]:
        if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
            raise DataError(self.where("message"), "message: wanted [[action.message]] tables with role and content")
        messages = []
        for table in tables:
            self.check_keys(table, ("role", "content"), "action.message")
            for key in ("role", "content"):
                if key not in table:
                    raise DataError(self.where("message"), f"a message has no {key}; add it")
            role = self.text(table, "role")
            if role not in _ROLES:
                raise UnknownNameError("role", role, _ROLES, self.place.of(role))
            messages.append(PromptMessage(role, self.template(self.text(table, "content"), "content")))
        return tuple(messages)

    def _source(self, table: Mapping[str, Any], key: str, where: str) -> Source | None:
        """Return the template of a key, or the expression of ``KEY_python``; None if the table has neither."""
        python_key = f"{key}_python"
        if key in table and python_key in table:
            raise DataError(where, f"the action has {key} and {python_key}; remove one of them")
        if python_key in table:
            return self._expression(table, python_key)
        return self.template(self.text(table, key), key) if key in table else None

    def _expression(self, table: Mapping[str, Any], key: str) -> Expression:
        code = self.text_not_blank(table, key)
        problem = syntax_problem(code)
        if problem:
            raise DataError(self.where(key), f"{key}: {problem}")
        return Expression(code)

    def template(self, text: str, key: str) -> Template:
        """Parse a template; raise `DataError` if it is invalid."""
        try:
            return parse_template(text)
        except TemplateError as error:
            raise DataError(self.place.of(error.fragment), f"{key}: {error.problem}") from None

    def _arguments(self, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong("arguments", value, "a table of JSON values")
        return {key: self._argument(each) for key, each in value.items()}

    def _argument(self, value: object) -> Any:
        """Return a JSON value with its texts as templates."""
        if isinstance(value, str):
            return self.template(value, "arguments")
        if isinstance(value, dict):
            return {key: self._argument(each) for key, each in value.items()}
        if isinstance(value, list):
            return tuple(self._argument(each) for each in value)
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return value
        raise self.wrong("arguments", value, "JSON values: texts, numbers, booleans, lists and tables")

    def _temperature(self, value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= float(str(value)) < math.inf:
            raise self.wrong("temperature", value, "a number of 0 or more")
        return float(str(value))

    def _stop(self, value: object) -> list[str]:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(each, str) and each for each in texts):
            raise self.wrong("stop", value, "a text, or a list of texts")
        return texts

    def _whole(self, table: Mapping[str, Any], key: str) -> int:
        value = table[key]
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(key, value, "a whole number of 1 or more")
        return value

    def text(self, table: Mapping[str, Any], key: str) -> str:
        """Return the string of a key; raise `DataError` for another type."""
        value = table[key]
        if not isinstance(value, str):
            raise self.wrong(key, value, "a string")
        return value

    def text_not_blank(self, table: Mapping[str, Any], key: str) -> str:
        """Return the string of a key; raise `DataError` if it is blank."""
        value = self.text(table, key)
        if not value.strip():
            raise self.wrong(key, value, "a text that is not empty")
        return value

    def check_keys(self, table: Mapping[str, Any], valid_keys: Collection[str], name: str = "action") -> None:
        """Raise `UnknownNameError` for an unknown key of the table ``name``."""
        for key in table:
            if key not in valid_keys:
                raise UnknownNameError("key", key, valid_keys, self.where(key, name))

    def wrong(self, key: str, value: object, expected: str) -> DataError:
        """Return the error for a value of the wrong type or form."""
        return DataError(self.where(key), f"{key}: found {short_repr(value)}, wanted {expected}")
