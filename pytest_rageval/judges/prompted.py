"""Judges by declaration: criteria, labels or scale, and the parts that they see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judges.material import PARTS, material, pair_material
from pytest_rageval.judges.replies import UnreadableReplyError, fold_label, read_reply
from pytest_rageval.judges.values import is_share
from pytest_rageval.judges.wording import LANGUAGES, Wording, in_language, prompt_texts
from pytest_rageval.model.chat import ChatModel, Message
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.text.placeholders import fill
from pytest_rageval.text.quoting import quote_lines

__all__ = ["PAIR_LABELS", "PromptedJudge", "always"]

PAIR_LABELS = ("A", "B", "tie")
"""The labels of a judge that compares two answers."""


def always(sample: Sample) -> str | None:
    """Return no reason to skip: the judge applies to every sample."""
    return None


@dataclass(frozen=True, slots=True)
class PromptedJudge:
    """A judge that asks a model.

        PromptedJudge(
            "politeness",
            "Is the answer polite?",
            labels={"polite": "a guest would not mind", "rude": "a guest would mind"},
            values={"polite": 1, "rude": 0},
        )
        PromptedJudge("politer", "Which answer is more polite?", pair=True)

    Attributes:
        name: its unique name, also the name of its metric.
        criteria: the question to the judge: one text, or language -> text.
        labels: label -> meaning (one text, or language -> text); the judge chooses one label. None if it has a scale.
        scale: the lowest and the highest integer that the judge may choose; the choice is scaled to 0..1.
        values: every label -> value in 0..1; an answer with the value None is unscored.
        shows: the parts that the judge sees, in order: "question", "answer", "gold", "passages", "history".
        applies: returns the reason to skip a sample, such as "no_gold"; None if the judge applies.
        higher_is_better: the direction in which values improve.
        pair: whether the judge compares the answers of two systems; then its labels are `PAIR_LABELS`. Such a judge is
            not a metric; `rageval analyze preferences` uses it.

    Raises:
        SettingError: the declaration contradicts itself.
    """

    name: str
    criteria: Wording
    labels: Mapping[str, Wording] | None = None
    scale: tuple[int, int] | None = None
    values: Mapping[str, float | None] | None = None
    shows: tuple[str, ...] = ("question", "answer")
    applies: Callable[[Sample], str | None] = always
    higher_is_better: bool = True
    pair: bool = False

    def __post_init__(self) -> None:
        for check in (_type_problem, _criteria_problem, _shows_problem):
            problem = check(self)
            if problem is not None:
                raise SettingError(f"judge {short_repr(self.name)}: {problem}")

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        """Return the model's verdict; after an unreadable reply, ask once more and include the problem.

        In the schema, the reason comes before the label, so the label follows from the reason. In the other order, the
        reason would only justify the label.
        """
        if self.pair:
            raise SettingError(f"judge {short_repr(self.name)} compares two answers; it cannot judge one")
        why = self.applies(sample)
        if why is not None:
            return Verdict(problem=f"not_applicable: {why}")
        return await self._ask(self.messages(sample), self._language(sample), model)

    async def compare(self, one: Sample, other: Sample, model: ChatModel) -> Verdict:
        """Return the model's verdict on two answers to one case; ``one`` is answer A. See `ask`."""
        why = self.applies(one) or self.applies(other)
        if why is not None:
            return Verdict(problem=f"not_applicable: {why}")
        return await self._ask(self.pair_messages(one, other), self._language(one), model)

    async def _ask(self, messages: tuple[Message, ...], language: str, model: ChatModel) -> Verdict:
        first = await self._reply(messages, model)
        verdict = self._verdict(first)
        if verdict.problem is None:
            return verdict
        again = fill(
            prompt_texts(language)["again"], {"problem": quote_lines(verdict.problem.partition(": ")[2])}
        ).strip()
        reply: tuple[Message, ...] = ({"role": "assistant", "content": first},) if first.strip() else ()
        second = await self._reply((*messages, *reply, {"role": "user", "content": again}), model)
        return self._verdict(first, second)

    def messages(self, sample: Sample) -> tuple[Message, ...]:
        """Return the messages of the first request to the model."""
        language = self._language(sample)
        return self._request("task", language, material(sample, self.shows, prompt_texts(language)["parts"]))

    def pair_messages(self, one: Sample, other: Sample) -> tuple[Message, ...]:
        """Return the messages of the first request about two answers to one case."""
        language = self._language(one)
        return self._request(
            "pair_task", language, pair_material(one, other, self.shows, prompt_texts(language)["parts"])
        )

    def _request(self, task: str, language: str, shown: str) -> tuple[Message, ...]:
        texts = prompt_texts(language)
        kind = texts["label_kind" if self.scale is None else "scale_kind"]
        values = {"criteria": in_language(self.criteria, language), "choice": self._choice(language), "kind": kind}
        return ({"role": "system", "content": fill(texts[task], values).strip()}, {"role": "user", "content": shown})

    @property
    def swapped(self) -> PromptedJudge | None:
        """The same judge with labels and parts in reverse order; None if there is no order to reverse."""
        if self.pair or (self.labels is None and len(self.shows) == 1):
            return None
        labels = None if self.labels is None else dict([*self.labels.items()][::-1])
        return replace(self, labels=labels, shows=self.shows[::-1])

    def _language(self, sample: Sample) -> str:
        """Return the language of the prompt: the case's language if the judge has texts in it, else English."""
        language = sample.case.instance.language
        has_text = isinstance(self.criteria, str) or language in self.criteria
        return language if has_text and language in LANGUAGES else LANGUAGES[0]

    def _choice(self, language: str) -> str:
        texts = prompt_texts(language)
        if self.scale is not None:
            low, high = self.scale
            return fill(texts["scale"], {"low": str(low), "high": str(high)})
        labels: Mapping[str, Wording] = texts["pair"] if self.pair else self.labels or {}
        meanings = ((label, in_language(meaning, language)) for label, meaning in labels.items())
        lines = (fill(texts["label"], {"label": label, "meaning": meaning}) for label, meaning in meanings)
        return "\n".join((texts["labels"], *lines))

    async def _reply(self, messages: tuple[Message, ...], model: ChatModel) -> str:
        return (await model.complete(messages, response_format=self._response_format)).text

    def _verdict(self, *replies: str) -> Verdict:
        choice = self._label_names if self.scale is None else range(self.scale[0], self.scale[1] + 1)
        try:
            label, reason = read_reply(replies[-1], choice)
        except UnreadableReplyError as fault:
            return Verdict(replies=replies, problem=f"parse_error: {fault}")
        return Verdict(label, reason, replies)

    @property
    def _label_names(self) -> tuple[str, ...]:
        return PAIR_LABELS if self.pair else tuple(self.labels or ())

    @property
    def _response_format(self) -> dict[str, object]:
        if self.scale is None:
            label: dict[str, object] = {"type": "string", "enum": list(self._label_names)}
        else:
            label = {"type": "integer", "minimum": self.scale[0], "maximum": self.scale[1]}
        schema = {
            "type": "object",
            "properties": {"reason": {"type": "string"}, "label": label},
            "required": ["reason", "label"],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def _type_problem(judge: PromptedJudge) -> str | None:
    """Return the problem with ``labels`` or ``scale``, or None."""
    if judge.pair:
        declared = next((name for name in ("labels", "scale", "values") if getattr(judge, name) is not None), None)
        return None if declared is None else f"a judge of pairs says A, B or tie; leave out {declared}="
    if (judge.labels is None) == (judge.scale is None):
        return "wanted either labels= or scale=; give one of them"
    return _scale_problem(judge) if judge.labels is None else _labels_problem(judge.labels, judge.values or {})


def _scale_problem(judge: PromptedJudge) -> str | None:
    ends: object = judge.scale
    if not isinstance(ends, tuple) or [type(end) for end in ends] != [int, int] or not ends[0] < ends[1]:
        return f"scale: found {short_repr(ends)}, wanted two whole numbers, the lower first, such as (1, 5)"
    return "values: a scale has values of its own; leave it out" if judge.values is not None else None


def _labels_problem(labels: object, values: object) -> str | None:
    if not isinstance(labels, Mapping) or not all(isinstance(label, str) for label in labels):
        return f"labels: found {short_repr(labels)}, wanted a mapping of each label to what it means"
    folded = {fold_label(label) for label in labels}
    if len(labels) < 2 or len(folded) < len(labels) or "" in folded:
        return f"labels: found {short_repr(list(labels))}, wanted two or more that differ by more than case"
    shares = values.values() if isinstance(values, Mapping) and set(values) == set(labels) else ["no share"]
    if not all(value is None or is_share(value) for value in shares):
        return f"values: found {short_repr(values)}, wanted a number in 0..1, or None, for each of {', '.join(labels)}"
    return None


def _criteria_problem(judge: PromptedJudge) -> str | None:
    texts = (judge.criteria, *(judge.labels or {}).values())
    return None if all(texts) else "the criteria or a label's meaning is empty; say what the judge shall look at"


def _shows_problem(judge: PromptedJudge) -> str | None:
    shows: object = judge.shows
    if isinstance(shows, tuple) and shows and all(part in PARTS for part in shows):
        return (
            'shows: a judge of pairs compares answers; add "answer"' if judge.pair and "answer" not in shows else None
        )
    return f"shows: found {short_repr(shows)}, wanted a tuple of some of {', '.join(PARTS)}"
