"""Train a LoRA adapter on the conversations of a judge."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from pytest_rageval.activity import progress
from pytest_rageval.local_judges.lora_judge import ADAPTER, CONFIG
from pytest_rageval.local_judges.lora_model import LoraModel, load_base, quiet
from pytest_rageval.model.chat import Message
from pytest_rageval.testbeds.ids import digest
from pytest_rageval.versions import installed_version

__all__ = ["ALPHA", "BATCH", "EPOCHS", "RANK", "TARGETS", "Conversation", "Lora", "stable_config", "train_lora"]

RANK, ALPHA = 8, 16
TARGETS = ("q_proj", "v_proj")
"""The query and value projections of attention, as Llama, Mistral and Qwen name them."""

BATCH, EPOCHS, RATE = 8, 3, 5e-4

Tokens = tuple[list[int], list[int]]

Conversation = tuple[Sequence[Message], str]
"""The judge's prompt about an answer, and the reply with people's label."""


@dataclass(frozen=True, slots=True)
class Lora:
    """A trained adapter.

    Attributes:
        model: the model with the adapter, ready to judge.
        files: the files of the adapter: name -> content.
        losses: the mean loss of each epoch, on the replies only.
        dev_loss: the mean loss on the dev part after the last epoch; None without a dev part.
        versions: library -> version.
    """

    model: LoraModel
    files: Mapping[str, bytes]
    losses: tuple[float, ...]
    dev_loss: float | None
    versions: Mapping[str, str]


def train_lora(base: str, conversations: Sequence[Conversation], dev: Sequence[Conversation], *, seed: int) -> Lora:
    """Train an adapter: AdamW, in batches of 8, for 3 epochs, with the loss on the replies only.

    Args:
        base: the folder or name of the model.
        conversations: the conversations to train on.
        dev: conversations to measure the loss on at the end.
        seed: decides the initial weights of the adapter and the order of the conversations.

    Raises:
        SettingError: the model cannot be loaded or adapted, or a conversation is too long for it.
    """
    torch, peft = import_module("torch"), import_module("peft")
    model, tokenizer = load_base(base, "--base", downloads=True)
    torch.manual_seed(seed)
    config = peft.LoraConfig(
        r=RANK, lora_alpha=ALPHA, lora_dropout=0.0, target_modules=list(TARGETS), task_type="CAUSAL_LM"
    )
    with quiet():
        lora = LoraModel(peft.get_peft_model(model, config), tokenizer)
    rows = [lora.tokens_of(*each) for each in conversations]
    weights = [each for each in lora.model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=RATE)
    losses: list[float] = []
    for epoch in progress("training epoch", range(EPOCHS)):
        order = sorted(range(len(rows)), key=lambda at: digest(seed, epoch, at))
        lora.model.train()
        each_batch = []
        for start in range(0, len(order), BATCH):
            loss = lora.model(**lora.batch_of([rows[at] for at in order[start : start + BATCH]])).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            each_batch.append(float(loss.detach()))
        losses.append(round(fmean(each_batch), 4))
    dev_loss = _loss(lora, [lora.tokens_of(*each) for each in dev])
    versions = {name: installed_version(name) for name in ("pytest-rageval", "peft", "transformers", "torch")}
    return Lora(lora, _files_of(lora.model), tuple(losses), dev_loss, versions)


def _loss(lora: LoraModel, rows: Sequence[Tokens]) -> float | None:
    torch = import_module("torch")
    lora.model.eval()
    with torch.inference_mode():
        losses = [
            float(lora.model(**lora.batch_of(rows[start : start + BATCH])).loss) for start in range(0, len(rows), BATCH)
        ]
    return round(fmean(losses), 4) if losses else None


def _files_of(model: Any) -> dict[str, bytes]:
    """Return the files of an adapter, without the model card that peft writes."""
    with tempfile.TemporaryDirectory() as folder:
        with quiet():
            model.save_pretrained(folder)
        files = {name: (Path(folder) / name).read_bytes() for name in ADAPTER}
    return {**files, CONFIG: stable_config(files[CONFIG])}


def stable_config(raw: bytes) -> bytes:
    """Return an adapter's configuration with sorted keys and projections, because peft writes sets in any order."""
    plain = json.loads(raw)
    plain["target_modules"] = sorted(plain["target_modules"])
    return (json.dumps(plain, indent=2, sort_keys=True) + "\n").encode()
