"""Serve a trained judge over HTTP until a signal ends the server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

import pytest_rageval.web  # noqa: F401 - first, because its error names a missing extra
from pytest_rageval.datasets.labelled import slots_of
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.judge_command import judged_metric, loaded_judge
from pytest_rageval.judges.prompt_reading import PromptReader
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.local_judges.judge_file import metric_digest
from pytest_rageval.local_judges.local_judge import LocalJudge
from pytest_rageval.local_judges.lora_judge import LoraJudge, is_llm, load_lora_judge
from pytest_rageval.model.chat import Message
from pytest_rageval.retrieval.encoder import model_digest
from pytest_rageval.web.judge_api import ServedJudge, judge_api
from pytest_rageval.web.serving import listening_socket, run_until_signal

__all__ = ["head_reply", "llm_reply", "serve_judge"]

HOST = "127.0.0.1"
PRINT = partial(print, flush=True)


def serve_judge(folder: Path, port: int, token_env: str | None, out: Callable[[str], object] = PRINT) -> Iterator[str]:
    """Serve the judge of a folder until Ctrl-C or SIGTERM; yield no lines, because the address is printed at once.

    Raises:
        RagEvalError: the judge cannot be loaded, the port is taken, or the token is missing.
    """
    token = _token(token_env)
    served_judge = _load_served_judge(folder, token)
    with listening_socket(HOST, port) as listener:
        number = listener.getsockname()[1]
        out(f"{served_judge.name} ({served_judge.digest[:8]}): http://{HOST}:{number}/v1 (Ctrl-C ends it)")
        key = "none" if token_env is None else f"${token_env}"
        variables = f"OPENAI_BASE_URL=http://{HOST}:{number}/v1 OPENAI_API_KEY={key}"
        out(f"Ask it: {variables} pytest --rag-judge-model openai/{served_judge.name}")
        run_until_signal(judge_api(served_judge), listener, None)
    yield from ()


def _load_served_judge(folder: Path, token: str) -> ServedJudge:
    if is_llm(folder):
        model = load_lora_judge(folder, model_digest)
        return ServedJudge(
            model.name, model.digest, llm_reply(model, _prompted_judge(model.name, model.metric_digest)), token
        )
    judge = loaded_judge(folder)
    metric = _prompted_judge(judge.name, judge.trained.metric_digest)
    return ServedJudge(judge.name, judge.digest, head_reply(judge, metric), token)


def _prompted_judge(name: str, digest: str) -> PromptedJudge:
    """Return the judge of a metric; the server reads the prompts of this judge.

    Args:
        name: the name of the metric's judge.
        digest: the digest of the metric's judge when the served judge was trained.

    Raises:
        SettingError: the metric's judge has no prompt, or its labels changed since the training.
    """
    metric = judged_metric(name).judge
    if not isinstance(metric, PromptedJudge):
        raise SettingError(f"the judge {name} has no prompt, so no program can ask a server for it; use local:")
    if metric_digest(metric) != digest:
        raise SettingError(f"the labels of {name} changed since the judge was trained; train it again")
    return metric


def head_reply(judge: LocalJudge, metric: PromptedJudge) -> Callable[[Sequence[Message]], str]:
    """Return a function from a prompt to the judge's reply: a JSON object with ``reason`` and ``label``."""
    reader, lock = PromptReader(metric), Lock()

    def reply(messages: Sequence[Message]) -> str:
        prompt = reader.read(messages)
        texts = prompt.texts
        gold = slots_of(texts.get("gold", ""))
        with lock:
            decision = judge.judge(texts.get("question", ""), gold, texts.get("answer", ""), prompt.language)
        reason = f"a trained judge, confidence {decision.confidence:.4f}"
        return json.dumps({"reason": reason, "label": decision.label, "confidence": decision.confidence})

    return reply


def llm_reply(judge: LoraJudge, metric: PromptedJudge) -> Callable[[Sequence[Message]], str]:
    """Return a function from a prompt to the reply of a language model, with its most probable label."""
    reader, lock = PromptReader(metric), Lock()

    def reply(messages: Sequence[Message]) -> str:
        reader.read(messages)
        with lock:
            shares = judge.shares(messages)
        share = max(shares)
        reason = f"a trained model, confidence {share:.4f}"
        return json.dumps({"reason": reason, "label": judge.labels[shares.index(share)], "confidence": share})

    return reply


def _token(name: str | None) -> str:
    if name is None:
        return ""
    token = os.environ.get(name, "")
    if not token.strip():
        raise SettingError(f"--token-env {short_repr(name)}: the variable is not set, or empty; set it to the token")
    return token
