"""Unsaved edits of a chain: new values, outputs, and the outputs that are stale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.answer import Step
from pytest_rageval.systems.chains.chain import Chain
from pytest_rageval.systems.chains.chain_edits import ChainEdit
from pytest_rageval.trace.passages import passages_of
from pytest_rageval.trace.steps import END

__all__ = ["ChainDraft", "action_values", "change_chain_draft", "edits_of", "output_of"]

WHERE = "the request"
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ChainDraft:
    """The draft of one chain.

    Attributes:
        question: the question to the chain; "" for that of the case.
        case: the node id of a case; "" for none.
        edits: new values, in the format that `edits_of` reads.
        outputs: action -> its output, in the format that ``rageval chain run --with`` reads.
        stale: actions with an output that predates an edit of the action or of an earlier one.
    """

    question: str = ""
    case: str = ""
    edits: tuple[Mapping[str, Any], ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    stale: tuple[str, ...] = ()

    def after(self, name: str, output: Mapping[str, Any], names: Iterable[str]) -> ChainDraft:
        """Return the draft with the new output of an action; outputs of later actions become stale."""
        order = list(names)
        later = order[order.index(name) + 1 :]
        stale = [each for each in order if each != name and (each in self.stale or each in later)]
        return replace(self, outputs={**self.outputs, name: output}, stale=tuple(s for s in stale if s in self.outputs))


def edits_of(fields: Fields, name: str) -> tuple[ChainEdit, ...]:
    """Return the edits of a field: a list of ``{action, key, value, message?}``."""
    if name not in fields:
        return ()
    edits = []
    for each in fields.objects(name, "a list of edits, each an object with action, key and value"):
        each.only(("action", "key", "value", "message"))
        value = each.values.get("value")
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise each.error("value", "a text or a whole number")
        edits.append(ChainEdit(each.text("action"), each.text("key"), value, each.count("message")))
    return tuple(edits)


def change_chain_draft(draft: ChainDraft, body: Mapping[str, Any], names: Iterable[str]) -> ChainDraft:
    """Apply a change of the page to a draft: ``question``, ``case``, ``edits``.

    The outputs of the first changed action and of all later ones become stale. Another question or case discards all
    outputs.

    Raises:
        DataError: a value has the wrong type.
    """
    fields = Fields(WHERE, dict(body))
    fields.only(("chain", "question", "case", "edits"))
    question, case = fields.string("question", draft.question), fields.string("case", draft.case)
    if (question, case) != (draft.question, draft.case):
        draft = replace(draft, question=question, case=case, outputs=_NONE, stale=())
    if "edits" not in body:
        return draft
    edits_of(fields, "edits")
    edits: tuple[Mapping[str, Any], ...] = tuple(body["edits"])
    order = list(names)
    stored = [each for each in draft.edits if each["action"] in order]  # the file may no longer have an action
    changed = {each["action"] for each in (*edits, *stored) if each not in edits or each not in stored}
    if unknown := changed - {*order}:
        raise DataError(WHERE, f"edits: the chain has no action {short_repr(min(unknown))}")
    first = min((order.index(name) for name in changed), default=len(order))
    stale = tuple(
        name for at, name in enumerate(order) if name in draft.outputs and (name in draft.stale or at >= first)
    )
    return replace(draft, edits=edits, stale=stale)


def output_of(steps: Iterable[Step], name: str) -> dict[str, Any]:
    """Return the output of an action from its steps, in the format that later actions read."""
    for step in reversed(tuple(steps)):
        if step.kind == END or step.detail.get("action") != name:
            continue
        prompt = step.detail.get("prompt", "")
        text = "\n\n".join(str(each.get("content", "")) for each in prompt) if isinstance(prompt, list) else str(prompt)
        output: dict[str, Any] = {"prompt": text, "text": str(step.detail.get("text") or "")}
        passages = passages_of(step)
        if passages:
            output["passages"] = [
                {"id": each.doc_id, "title": each.title, "text": each.text, "page": each.page} for each in passages
            ]
        return output
    return {}


def action_values(chain: Chain, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the editable fields of each action of a chain file: key, value and index of the message."""
    rows = []
    for action, table in zip(chain.actions, values["action"], strict=True):
        fields = [
            {"key": key, "value": table[key], "message": None}
            for key in ("query", "query_python", "prompt", "prompt_python", "text", "expression")
            if key in table
        ]
        messages = table.get("message", [])
        fields += [
            {"key": "content", "value": each.get("content", ""), "message": at, "role": each.get("role", "")}
            for at, each in enumerate(messages)
        ]
        if action.do == "retrieve":
            fields.append({"key": "k", "value": table.get("k", ""), "message": None})
        if action.do == "generate":
            fields.append({"key": "model", "value": table.get("model", ""), "message": None})
        rows.append({"name": action.name, "do": action.do, "fields": fields})
    return rows
