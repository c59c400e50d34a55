"""A judge of kind ``llm``: judge.json, an adapter beside it, and the model that it adapts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import regular
from pytest_rageval.local_judges.judge_file import FORMAT, read_content
from pytest_rageval.local_judges.lora_model import LoraModel, load_base, quiet, require_libraries
from pytest_rageval.model.chat import Message

__all__ = ["ADAPTER", "LLM", "LoraJudge", "LoraTraining", "content_of_llm", "is_llm", "load_lora_judge", "reply_of"]

LLM = "llm"
"""The kind of a judge that is a language model with an adapter."""

ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


@dataclass(frozen=True, slots=True)
class LoraTraining:
    """What an adapter was trained with.

    Attributes:
        base: the folder or name of the model.
        digest: sha256 of the labels with their texts.
        labels: number of labelled answers that trained it.
        seed: decides the split, the order and the first weights.
        split: the shares of questions in train, dev and test, such as "5:1:4".
        epochs: how often each label was seen.
        losses: the mean loss of each epoch, on the replies only.
        dev_loss: the mean loss on the dev part after the last epoch; None without one.
        rank, alpha: of the adapter.
        targets: the projections that it adapts.
    """

    base: str
    digest: str
    labels: int
    seed: int
    split: str
    epochs: int
    losses: tuple[float, ...]
    dev_loss: float | None
    rank: int
    alpha: int
    targets: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)


class LoraJudge:
    """A judge that chooses the likeliest of its labels' replies.

    Args:
        name: the name of the metric's judge.
        digest: the checksum of its judge.json.
        metric_digest: see `judge_file.metric_digest`.
        labels: its labels, from the lowest value.
        model: the model.
    """

    def __init__(
        self, name: str, digest: str, metric_digest: str, labels: Sequence[str | float], model: LoraModel
    ) -> None:
        self.name = name
        self.digest = digest
        self.metric_digest = metric_digest
        self.labels = tuple(labels)
        self._model = model

    def shares(self, messages: Sequence[Message]) -> list[float]:
        """Return the probability of each label, given the first prompt of the metric's judge."""
        return self._model.shares(messages, [reply_of(label) for label in self.labels])


def reply_of(label: str | float) -> str:
    """Return the reply with a label: that of the exported conversations."""
    return json.dumps({"reason": "", "label": label}, ensure_ascii=False)


def content_of_llm(
    name: str, metric_digest: str, labels: Sequence[str | float], values: Sequence[float], adapter: bytes,
    training: LoraTraining,
) -> dict[str, Any]:  # fmt: skip
    """Return the content of judge.json, without its checksum."""
    return {
        "format": FORMAT, "kind": LLM, "metric": name, "metric_digest": metric_digest, "labels": list(labels),
        "values": list(values), "adapter": hashlib.sha256(adapter).hexdigest(), "training": asdict(training),
    }  # fmt: skip


def is_llm(folder: Path) -> bool:
    """Return whether a folder holds a judge of kind ``llm``.

    Raises:
        SettingError: it holds no valid judge.json.
    """
    return read_content(folder, str(folder)).get("kind") == LLM


def load_lora_judge(folder: Path) -> LoraJudge:
    """Load the judge of a folder with its model.

    Raises:
        SettingError: the folder holds no valid judge of kind ``llm``, or its model cannot be loaded.
        MissingDependencyError: peft, transformers or torch is not installed.
    """
    content = read_content(folder, str(folder))
    require_libraries(f"{folder.name}, a judge of kind {LLM}")
    try:
        adapter = regular(folder / ADAPTER[0]).read_bytes()
    except OSError as error:
        raise SettingError(f"{folder}/{ADAPTER[0]} cannot be read: {error.strerror or error}", code="RAG212") from None
    if hashlib.sha256(adapter).hexdigest() != content["adapter"]:
        raise SettingError(ascii_safe(f"{folder}/{ADAPTER[0]} was changed after the training; train the judge again"))
    model, tokenizer = load_base(content["training"]["base"], f"{folder.name}/judge.json: the base")
    with quiet():
        adapted = import_module("peft").PeftModel.from_pretrained(model, str(folder), local_files_only=True)
    lora = LoraModel(adapted, tokenizer)
    return LoraJudge(content["metric"], content["checksum"], content["metric_digest"], content["labels"], lora)
