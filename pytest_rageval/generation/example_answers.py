"""Right and wrong answers to a record, to test metrics and judges."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.case import Instance
from pytest_rageval.text.sentences import sentences

__all__ = ["right_answers", "wrong_answers"]

_WORDINGS = {
    "en": ("{}", "The answer is {}.", "According to the documents, it is {}."),
    "zh": ("{}", "答案是{}。", "根据文档，是{}。"),
}
_ABSTENTIONS = {"en": ("I do not know.", "The documents do not say."), "zh": ("我不知道。", "文档中没有答案。")}


def right_answers(instance: Instance) -> tuple[str, ...]:
    """Return different answers that are right by the rule of `accuracy`, the shortest wording first.

    They state an alias of each slot, alone or in a sentence, or quote a positive passage. Without a gold answer: ().
    """
    return _verified(instance, _right_candidates(instance), right=True) if instance.gold else ()


def wrong_answers(instance: Instance) -> tuple[str, ...]:
    """Return different answers that are wrong by the rule of `accuracy`, the shortest wording first.

    They abstain, state the fake answer or only some slots, or quote a negative or counterfactual passage. Without a
    gold answer: ().
    """
    return _verified(instance, _wrong_candidates(instance), right=False) if instance.gold else ()


def _verified(instance: Instance, texts: Iterator[str], *, right: bool) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if is_right(instance, text) is right)


def _right_candidates(instance: Instance) -> Iterator[str]:
    """Yield answers that are probably right; the caller verifies them."""
    firsts = [slot[0] for slot in instance.gold]
    for wording in _wordings(instance):
        yield wording.format(_join(instance, firsts))
    for at, slot in enumerate(instance.gold):
        for alias in slot[1:]:
            yield _join(instance, [*firsts[:at], alias, *firsts[at + 1 :]])
    yield from _sentences_of_role(instance, "positive")


def _wrong_candidates(instance: Instance) -> Iterator[str]:
    """Yield answers that are probably wrong; the caller verifies them."""
    yield from _ABSTENTIONS.get(instance.language, _ABSTENTIONS["en"])
    for slot in instance.fake:
        for wording in _wordings(instance):
            yield wording.format(slot[0])
    firsts = [slot[0] for slot in instance.gold]
    for at in range(len(firsts)):
        if len(firsts) > 1:
            yield _join(instance, firsts[:at] + firsts[at + 1 :])
    yield from _sentences_of_role(instance, "negative")
    yield from _sentences_of_role(instance, "counterfactual")


def _sentences_of_role(instance: Instance, role: str) -> Iterator[str]:
    for passage in instance.passages or ():
        if passage.role == role:
            yield from sentences(passage.text)


def _wordings(instance: Instance) -> tuple[str, ...]:
    return _WORDINGS.get(instance.language, _WORDINGS["en"])


def _join(instance: Instance, aliases: list[str]) -> str:
    return ("、" if instance.language == "zh" else " and ").join(aliases)
