"""Load a judge of kind ``llm``: judge.json, a LoRA adapter and its base model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError, ascii_safe, short_repr
from pytest_rageval.folders import regular_path
from pytest_rageval.local_judges.judge_file import FILE, FORMAT, read_content
from pytest_rageval.local_judges.lora_model import LoraModel, load_base, quiet, require_libraries
from pytest_rageval.model.chat import Message

__all__ = [
    "ADAPTER",
    "CONFIG",
    "LLM",
    "LoraJudge",
    "LoraTraining",
    "content_of_llm",
    "is_llm",
    "load_lora_judge",
    "reply_of",
]

LLM = "llm"
"""The kind of judges that are a language model with an adapter."""

CONFIG = "adapter_config.json"
ADAPTER = ("adapter_model.safetensors", CONFIG)
"""The files of the adapter that peft reads."""


@dataclass(frozen=True, slots=True)
class LoraTraining:
    """The data and settings of the training of an adapter.

    Attributes:
        base: the folder or name of the model.
        base_digest: digest of the files of its folder; "" for a model of the hub.
        digest: sha256 of the labels with their texts.
        labels: number of labelled answers that trained it.
        seed: decides the split, the order and the initial weights.
        split: the shares of questions in train, dev and test, such as "5:1:4".
        epochs: number of passes over the labels.
        losses: the mean loss of each epoch, on the replies only.
        dev_loss: the mean loss on the dev part after the last epoch; None without a dev part.
        rank, alpha: rank and alpha of the adapter.
        targets: the projections that the adapter changes.
        versions: library -> version, of the training.
        examples: sorted short digests of the labelled answers; () if an earlier version of this package trained it.
    """

    base: str
    base_digest: str
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
    examples: tuple[str, ...] = ()


class LoraJudge:
    """A judge that chooses the label whose reply is the likeliest.

    Args:
        name: the name of the metric's judge.
        digest: the checksum of its judge.json.
        metric_digest: see `judge_file.metric_digest`.
        labels: its labels, from the lowest value.
        values: the value of each label, 0..1.
        model: the model.
        examples: see `LoraTraining`.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        metric_digest: str,
        labels: Sequence[str | float],
        values: Sequence[float],
        model: LoraModel,
        examples: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.digest = digest
        self.metric_digest = metric_digest
        self.labels = tuple(labels)
        self.values = tuple(values)
        self.examples = tuple(examples)
        self._model = model

    def shares(self, messages: Sequence[Message]) -> list[float]:
        """Return the probability of each label, given the first prompt of the metric's judge."""
        return self._model.shares(messages, [reply_of(label) for label in self.labels])

    def above(self, messages: Sequence[Message]) -> tuple[float, ...]:
        """Return, for each label except the highest, the probability of a higher label, like `Decision.above`."""
        return tuple(max(0.0, 1 - below) for below in list(accumulate(self.shares(messages)))[:-1])


def reply_of(label: str | float) -> str:
    """Return the reply that gives a label, in the format of the exported conversations."""
    return json.dumps({"reason": "", "label": label}, ensure_ascii=False)


def content_of_llm(
    name: str, metric_digest: str, labels: Sequence[str | float], values: Sequence[float],
    adapter: Mapping[str, bytes], training: LoraTraining,
) -> dict[str, Any]:  # fmt: skip
    """Return the content of judge.json, without its checksum; ``adapter`` maps its files to bytes."""
    digests = {file: hashlib.sha256(raw).hexdigest() for file, raw in sorted(adapter.items())}
    return {
        "format": FORMAT, "kind": LLM, "metric": name, "metric_digest": metric_digest, "labels": list(labels),
        "values": list(values), "adapter": digests, "training": asdict(training),
    }  # fmt: skip


def is_llm(folder: Path) -> bool:
    """Return whether a folder holds a judge of kind ``llm``.

    Raises:
        SettingError: it holds no valid judge.json.
    """
    return read_content(folder, str(folder)).get("kind") == LLM


def load_lora_judge(folder: Path, digest_of_model: Callable[[Path], str]) -> LoraJudge:
    """Load the judge of a folder with its model; nothing is downloaded.

    Args:
        folder: the folder that ``rageval judge train`` wrote.
        digest_of_model: returns the digest of the files of a model's folder, as the training computed it.

    Raises:
        SettingError: the folder holds no valid judge of kind ``llm``, or its model cannot be loaded.
        MissingDependencyError: peft, transformers or torch is not installed.
    """
    content = read_content(folder, str(folder))
    require_libraries(f"{folder.name}, a judge of kind {LLM}")
    for name in ADAPTER:
        _check_file(folder / name, content["adapter"].get(name))
    where, base = f"{folder.name}/{FILE}: the base", str(content["training"]["base"])
    _check_base(base, str(content["training"]["base_digest"]), where, digest_of_model)
    model, tokenizer = load_base(base, where)
    with quiet():
        adapted = import_module("peft").PeftModel.from_pretrained(model, str(folder), local_files_only=True)
    lora = LoraModel(adapted, tokenizer)
    return LoraJudge(
        content["metric"], content["checksum"], content["metric_digest"], content["labels"], content["values"], lora,
        content["training"].get("examples", ()),
    )  # fmt: skip


def _check_file(path: Path, digest: str | None) -> None:
    """Raise `SettingError` if a file of the adapter is missing or was changed."""
    try:
        raw = regular_path(path).read_bytes()
    except OSError as error:
        raise SettingError(ascii_safe(f"{path} cannot be read: {error.strerror or error}"), code="RAG212") from None
    if hashlib.sha256(raw).hexdigest() != digest:
        raise SettingError(ascii_safe(f"{path} was changed after the training; train the judge again"))


def _check_base(base: str, digest: str, where: str, digest_of_model: Callable[[Path], str]) -> None:
    """Raise `SettingError` if the model is a folder that is missing or whose files differ from the training."""
    if not digest:
        return
    if not Path(base).is_dir():
        advice = "start in the folder where it was trained, or train it with an absolute path"
        raise SettingError(f"{where} {short_repr(base)} was a folder, which is missing here; {advice}")
    if digest_of_model(Path(base)) != digest:
        raise SettingError(f"{where} {short_repr(base)} was changed after the training; train the judge again")
