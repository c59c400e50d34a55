"""Choose among replies with a LoRA-adapted language model (extra ``judge-llm``)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe, short_repr
from pytest_rageval.importing import cause_text
from pytest_rageval.model.chat import Message

__all__ = ["LoraModel", "load_base", "quiet", "require_libraries"]

LIBRARIES = ("torch", "transformers", "peft")


class LoraModel:
    """A language model that computes how likely each of several replies to a chat is.

    Args:
        model: the model of transformers or peft.
        tokenizer: its tokenizer, with a chat template.

    Attributes:
        model: the model.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self._tokenizer = tokenizer
        self._limit = int(getattr(model.config, "max_position_embeddings", 0) or 0)

    def tokens_of(self, messages: Sequence[Message], reply: str) -> tuple[list[int], list[int]]:
        """Return the tokens of a chat, and those of a reply with its end token.

        Raises:
            SettingError: chat and reply together are longer than the model reads.
        """
        prompt = self._tokenizer.apply_chat_template(
            [dict(each) for each in messages], add_generation_prompt=True, tokenize=False
        )
        before = list(self._tokenizer(prompt, add_special_tokens=False)["input_ids"])
        after = [*self._tokenizer(reply, add_special_tokens=False)["input_ids"], self._tokenizer.eos_token_id]
        if self._limit and len(before) + len(after) > self._limit:
            n = len(before) + len(after)
            raise SettingError(f"an answer with its prompt has {n:,} tokens, and the model reads {self._limit:,}")
        return before, after

    def batch_of(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> dict[str, Any]:
        """Return chats with their replies as padded tensors; only the tokens of replies have labels."""
        torch = import_module("torch")
        longest = max(len(before) + len(after) for before, after in pairs)
        pad = self._tokenizer.pad_token_id
        pad = self._tokenizer.eos_token_id if pad is None else pad
        gaps = [longest - len(before) - len(after) for before, after in pairs]
        ids = [[*before, *after, *[pad] * gap] for (before, after), gap in zip(pairs, gaps, strict=True)]
        labels = [
            [*[-100] * len(before), *after, *[-100] * gap] for (before, after), gap in zip(pairs, gaps, strict=True)
        ]
        mask = [[*[1] * (longest - gap), *[0] * gap] for gap in gaps]
        tensors = {"input_ids": ids, "attention_mask": mask, "labels": labels}
        return {name: torch.tensor(rows, device=self.model.device) for name, rows in tensors.items()}

    def shares(self, messages: Sequence[Message], replies: Sequence[str]) -> list[float]:
        """Return the probability of each reply to a chat, given that it is one of them."""
        torch = import_module("torch")
        batch = self.batch_of([self.tokens_of(messages, reply) for reply in replies])
        labels = batch.pop("labels")
        self.model.eval()
        with torch.inference_mode():
            logits = self.model(**batch).logits[:, :-1].float().log_softmax(-1)
        targets, is_reply = labels[:, 1:].clamp(min=0), labels[:, 1:] != -100
        each = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        scores = [float(score) for score in (each * is_reply).sum(-1)]
        highest = max(scores)
        weights = [math.exp(score - highest) for score in scores]
        return [weight / math.fsum(weights) for weight in weights]


def require_libraries(what: str) -> None:
    """Raise `MissingDependencyError` if peft, transformers or torch is not installed."""
    if any(find_spec(name) is None for name in LIBRARIES):
        raise MissingDependencyError(what, "judge-llm")


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the progress bars of the libraries and their deprecation warnings."""
    logging = import_module("transformers.utils.logging")
    has_progress_bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        if has_progress_bar:
            logging.enable_progress_bar()


def load_base(base: str, where: str, *, downloads: bool = False) -> tuple[Any, Any]:
    """Return a model of transformers and its tokenizer.

    Args:
        base: a folder, or a name on the hub such as ``Qwen/Qwen2.5-7B-Instruct``.
        where: the argument or file that names it, for messages.
        downloads: whether a model of the hub may be downloaded; if not, it must be in the cache of the hub.

    Raises:
        SettingError: it cannot be loaded, or its tokenizer has no chat template.
    """
    transformers, torch = import_module("transformers"), import_module("torch")
    is_local = not downloads or Path(base).is_dir()
    has_gpu = torch.cuda.is_available()
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(base, local_files_only=is_local)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                base, local_files_only=is_local, dtype=torch.bfloat16 if has_gpu else torch.float32
            )
    except (OSError, ValueError, ImportError, KeyError) as error:
        problem = f"{where} {short_repr(base)} cannot be loaded: {ascii_safe(cause_text(error))[:200]}"
        advice = "name a folder with a model and its tokenizer, or a name of the hub"
        raise SettingError(f"{problem}; {advice if downloads else 'only files of this machine are read'}") from None
    if not getattr(tokenizer, "chat_template", None) or tokenizer.eos_token_id is None:
        raise SettingError(f"{where} {short_repr(base)} has no chat template or no end token; name an instruct model")
    return (model.to("cuda") if has_gpu else model), tokenizer
