"""A template with its tables: parsed placeholders, joins, and rows with the same question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.generation.tables.column_placeholders import PLACEHOLDER
from pytest_rageval.generation.tables.table import Row, Table, value_text
from pytest_rageval.generation.templates.condition import Condition, parse_condition
from pytest_rageval.generation.templates.expression import Expression, PlaceholderValue, expressions_in
from pytest_rageval.generation.templates.joins import Join, parse_joins
from pytest_rageval.generation.templates.template import Template, check_columns
from pytest_rageval.metrics.shared.matching import fold

__all__ = ["ParsedTemplate", "Text", "parse_template"]


@dataclass(frozen=True)
class Text:
    """A text with placeholders.

    Attributes:
        pattern: the text.
        expressions: its placeholders, in order.
    """

    pattern: str
    expressions: tuple[Expression, ...]

    def fill(self, row: Row, other: Row | None = None) -> tuple[str, tuple[PlaceholderValue, ...]] | None:
        """Return the text for a row or a pair of rows, and the placeholders' values; None if a value is missing."""
        values = []
        for expression in self.expressions:
            value = expression.find(other if expression.other and other is not None else row)
            if value is None:
                return None
            values.append(value)
        remaining = iter(values)
        return PLACEHOLDER.sub(lambda _: ", ".join(next(remaining).texts), self.pattern), tuple(values)

    def side(self, other: bool) -> tuple[Expression, ...]:
        """Return the placeholders of the row, or of the other row of a pair."""
        return tuple(each for each in self.expressions if each.other is other)


Groups = dict[tuple[str, ...], list[Row]]


@dataclass(frozen=True)
class ParsedTemplate:
    """A parsed template with its tables.

    Attributes:
        template: the template.
        table: its table.
        asks: the wordings.
        slots: the answer, as slots of aliases.
        follow_ups: the later questions of a conversation.
        condition: the condition on rows.
        joins: the joins to the row of the answer.
    """

    template: Template
    table: Table
    asks: tuple[Text, ...]
    slots: tuple[tuple[Text, ...], ...]
    follow_ups: tuple[Text, ...]
    condition: Condition | None
    joins: tuple[Join, ...]
    _groups: dict[tuple[Expression, ...], Groups] = field(default_factory=dict)

    @property
    def is_pair(self) -> bool:
        """Whether a case has two rows."""
        return self.template.pick is not None or self.template.task == INTEGRATION

    def wording(self, row: Row, seed: int) -> Text:
        """Return the wording for a row, by the seed and the row's id."""
        digest = hashlib.sha256(f"{seed}\n{row.id}".encode("utf-8", "surrogatepass")).digest()
        return self.asks[int.from_bytes(digest[:8], "big") % len(self.asks)]

    def balance_label(self, row: Row) -> str:
        """Return the key of the balance that counts a row; "" without a balance or such a key."""
        balance = self.template.balance
        return balance.label(value_text(row.values.get(balance.column))) if balance is not None else ""

    def rows_of_question(self, row: Row, expressions: Sequence[Expression]) -> list[Row]:
        """Return all rows of the table whose values fill a question in the same way."""
        key_expressions = tuple(expressions)
        if key_expressions not in self._groups:
            groups: Groups = {}
            for each in self.table.rows:
                key = _key(each, key_expressions)
                if key is not None:
                    groups.setdefault(key, []).append(each)
            self._groups[key_expressions] = groups
        key = _key(row, key_expressions)
        return self._groups[key_expressions].get(key, []) if key is not None else []


def _key(row: Row, expressions: Sequence[Expression]) -> tuple[str, ...] | None:
    """Return the folded values of placeholders for a row; None if one is missing."""
    values = [expression.find(row) for expression in expressions]
    if any(value is None for value in values):
        return None
    return tuple(fold(", ".join(value.texts)) for value in values if value is not None)


def parse_template(template: Template, tables: Mapping[str, Table]) -> ParsedTemplate:
    """Parse a template and link it to its tables.

    Raises:
        DataError: a table or column is unknown, or a key is invalid; with the line of the plan.
    """
    section = template.section
    if template.table not in tables:
        problem = f"table: no [[table]] is named {short_repr(template.table)}"
        raise section.error("table", f"{problem}; {did_you_mean(template.table, tables)}")
    table = tables[template.table]
    joins = parse_joins(template, table, tables)
    answer_table = joins[-1].table if joins else table
    asks = tuple(_text(wording, template, "ask", table, tables) for wording in template.ask)
    parsed_template = ParsedTemplate(
        template=template,
        table=table,
        asks=asks,
        slots=_slots(template, asks, answer_table, tables),
        follow_ups=tuple(_text(each, template, "follow_up", table, tables) for each in template.follow_up),
        condition=parse_condition(template, table.columns) if template.where else None,
        joins=joins,
    )
    _check(parsed_template)
    return parsed_template


def _text(pattern: str, template: Template, key: str, table: Table, tables: Mapping[str, Table]) -> Text:
    return Text(pattern, expressions_in(pattern, template, key, table, tables))


def _slots(
    template: Template, asks: Sequence[Text], table: Table, tables: Mapping[str, Table]
) -> tuple[tuple[Text, ...], ...]:
    """Return the slots of the answer; without ``answer``, the columns of the passage that no question names."""
    if template.answer:
        unbraced = next((alias for slot in template.answer for alias in slot if alias in table.columns), None)
        if unbraced is not None:
            problem = f"answer: {short_repr(unbraced)} is a column of {table.name!r}; write {{{unbraced}}}"
            raise template.section.error("answer", problem)
        return tuple(
            tuple(_text(alias, template, "answer", table, tables) for alias in slot) for slot in template.answer
        )
    columns_in_question = {each.column for ask in asks for each in ask.expressions}
    answer_columns = [column for column in table.shown if column not in columns_in_question]
    return tuple((Text(f"{{{column}}}", (Expression(column, False, column),)),) for column in answer_columns)


def _check(parsed_template: ParsedTemplate) -> None:
    """Raise an error for a template with contradictory keys."""
    template, section = parsed_template.template, parsed_template.template.section
    expressions = [each for ask in parsed_template.asks for each in ask.expressions]
    for ask in parsed_template.asks:
        if not ask.side(other=False):
            problem = (
                f"ask: {short_repr(ask.pattern)} has no placeholder of its row, as {{{parsed_template.table.key}}}"
            )
            raise section.error("ask", f"{problem}; it would be the same question for every row")
        if bool(ask.side(other=True)) != parsed_template.is_pair:
            wanted = "needs a placeholder such as {other.name} for its second row"
            problem = (
                wanted if parsed_template.is_pair else "has one row; {other. ...} is for contrast_qa and integration"
            )
            raise section.error("ask", f"ask: the task {template.task} {problem}")
    check_columns(template, "unique", template.unique, parsed_template.table.columns)
    for column in template.unique:
        if column not in {each.column for each in expressions}:
            problem = f"unique: no wording of ask has {{{column}}}; remove it from unique, or ask for it"
            raise section.error("unique", problem)
    if template.balance is not None:
        check_columns(template, "balance", (template.balance.column,), parsed_template.table.columns)
    if template.pick is not None:
        check_columns(template, "pick", (template.pick.column,), parsed_template.table.columns)
