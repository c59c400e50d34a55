"""Read the ``[[template]]`` of a plan: a question about the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.generation.plan import INTEGRATION, TASK_NAMES, Plan, SectionReader
from pytest_rageval.generation.section import Section
from pytest_rageval.model.facets import LEVELS, TASKS

__all__ = ["OTHERS", "READER", "Balance", "Pick", "Template", "check_columns", "templates_of"]

OTHERS = "Other"
"""The key of a balance for the value Other and for all values that it does not list."""

KEYS = (
    "all", "answer", "ask", "balance", "follow_up", "level", "n", "paraphrase", "pick", "route", "table", "task",
    "unique", "via", "where",
)  # fmt: skip

_PICK = re.compile(r"(min|max)\(\s*([^()]+?)\s*\)")

Slots = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """The row that answers a contrast: the row with the smallest or the largest value of a column."""

    order: Literal["min", "max"]
    column: str


@dataclass(frozen=True, slots=True)
class Balance:
    """The wanted number of cases for each value of a column."""

    column: str
    counts: Mapping[str, int]

    def label(self, value: str) -> str:
        """Return the key that counts a value; "" if there is none."""
        return value if value in self.counts else OTHERS if OTHERS in self.counts else ""


@dataclass(frozen=True, slots=True)
class Template:
    """One ``[[template]]``.

    Attributes:
        section: the table of the plan, for messages.
        origin: ``PLAN.toml:LINE`` of the header; with #2 and so on if several templates share the line.
        table: the name of the table.
        task: the task of its cases.
        level: the level; "" for none.
        ask: wordings of the question.
        answer: slots of aliases, with placeholders; empty for the columns of the passage that no question names. In
            a conversation, one slot for each turn.
        follow_up: the later questions of a conversation.
        via: joins ``table.column -> table.column``, as texts.
        pick: the row that answers a contrast; None for other tasks.
        collect: whether several answers become slots instead of an ambiguity.
        where: the condition on rows, as text; "" for none.
        unique: columns whose values no other row may share.
        balance: the wanted numbers of cases by the values of a column; None for no balance.
        n: the wanted number of cases; None for all.
        route: the tool calls that the answer needs, such as ``searchPerson > getPersonInterest``; "" for none.
        paraphrase: whether the plan's model rewords each question.
    """

    section: Section
    origin: str
    table: str
    task: str
    level: str
    ask: tuple[str, ...]
    answer: Slots
    follow_up: tuple[str, ...]
    via: tuple[str, ...]
    pick: Pick | None
    collect: bool
    where: str
    unique: tuple[str, ...]
    balance: Balance | None
    n: int | None
    route: str
    paraphrase: bool


def templates_of(plan: Plan) -> tuple[Template, ...]:
    """Return each ``[[template]]`` of a plan."""
    return cast("tuple[Template, ...]", plan.settings["template"])


def _read(sections: tuple[Section, ...], folder: Path) -> tuple[Template, ...]:
    templates: list[Template] = []
    for each in map(_template, sections):
        number = 1 + sum(other.section.start == each.section.start for other in templates)
        templates.append(each if number == 1 else replace(each, origin=f"{each.origin}#{number}"))
    return tuple(templates)


def _template(section: Section) -> Template:
    section.only(KEYS)
    follow_up, via, pick = section.texts("follow_up"), section.texts("via"), _pick(section)
    implied = "conversational_qa" if follow_up else "multi_hop_qa" if via else "contrast_qa" if pick else TASKS[0]
    task = TASK_NAMES[section.choice("task", implied, TASK_NAMES)]
    level = section.choice("level", "", LEVELS) if "level" in section else ""
    ask = section.texts("ask")
    if not ask:
        raise section.wrong("ask", "a question with placeholders such as {name}, or a list of such wordings")
    template = Template(
        section=section,
        origin=f"{Path(section.file_name).name}:{section.start + 1}",
        table=section.text("table"),
        task=task,
        level=level,
        ask=ask,
        answer=_answer(section, task),
        follow_up=follow_up,
        via=via,
        pick=pick,
        collect=section.flag("all"),
        where=section.text("where", ""),
        unique=section.texts("unique"),
        balance=_balance(section),
        n=section.whole("n", None, least=1),
        route=section.text("route", ""),
        paraphrase=section.flag("paraphrase"),
    )
    _check_task(template)
    return template


def _answer(section: Section, task: str) -> Slots:
    """Parse the slots of the answer: a string, or a list of strings and of lists of aliases."""
    if "answer" not in section and task == "long_form_qa":
        return ()
    value: Any = section.values.get("answer")
    slots = [[slot] if isinstance(slot, str) else slot for slot in (value if isinstance(value, list) else [value])]
    if not slots or not all(isinstance(slot, list) and slot and all(map(_is_text, slot)) for slot in slots):
        raise section.wrong("answer", "a text such as {city}, or a list of slots, each a text or a list of texts")
    return tuple(map(tuple, slots))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _pick(section: Section) -> Pick | None:
    if "pick" not in section:
        return None
    match = _PICK.fullmatch(section.text("pick").strip())
    if match is None:
        raise section.wrong("pick", "min(COLUMN) or max(COLUMN): the row that answers the question")
    return Pick("min" if match[1] == "min" else "max", match[2])


def _balance(section: Section) -> Balance | None:
    inner = section.inner("balance")
    if inner is None:
        return None
    counts = {key: value for key, value in inner.values.items() if key != "field"}
    is_count = all(isinstance(count, int) and not isinstance(count, bool) and count > 0 for count in counts.values())
    if not counts or not is_count:
        wanted = 'a table such as { field = "position", Professor = 20, Other = 16 }, with whole numbers from 1 on'
        raise section.wrong("balance", wanted)
    total, n = sum(counts.values()), section.whole("n", None, least=1)
    if n is not None and n != total:
        raise section.error("n", f"n is {n}, but balance wants {total} cases; leave out n, or make them agree")
    return Balance(inner.text("field"), counts)


def _check_task(template: Template) -> None:
    """Raise an error for keys that do not fit the task."""
    section, task = template.section, template.task
    for key, wanted in (("follow_up", "conversational_qa"), ("pick", "contrast_qa")):
        if (key in section) != (task == wanted):
            problem = f"is for the task {wanted}" if key in section else f"is missing; the task {wanted} needs it"
            raise section.error(key if key in section else "task", f"{key} {problem}")
    if template.via and task in ("conversational_qa", "contrast_qa", INTEGRATION):
        raise section.error("via", f"via is for a question about one row; the task {task} takes none")
    if template.paraphrase and template.follow_up:
        raise section.error("paraphrase", "paraphrase is for one question, not for a conversation; leave it out")
    turns = 1 + len(template.follow_up)
    if template.follow_up and len(template.answer) != turns:
        problem = f"answer has {len(template.answer)} texts for {turns} turns; write one for each, in a list"
        raise section.error("answer", problem)


def check_columns(template: Template, key: str, names: tuple[str, ...], columns: tuple[str, ...]) -> None:
    """Raise an error for an unknown column; the message suggests the nearest name."""
    for name in names:
        if name not in columns:
            problem = f"{key}: {short_repr(name)} is not a column of {template.table!r}"
            raise template.section.error(key, f"{problem}; {did_you_mean(name, columns)}")


READER = SectionReader(many=True, read=_read)
