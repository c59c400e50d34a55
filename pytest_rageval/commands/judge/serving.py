"""Serve a trained judge until a signal ends it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

import pytest_rageval.web  # noqa: F401 - first, because it names the extra that is missing
from pytest_rageval.datasets.labelled import slots_of
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.judge_command import judged_metric, loaded_judge
from pytest_rageval.judges.prompt_reading import PromptReader
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.local_judges.judge_file import metric_digest
from pytest_rageval.local_judges.local_judge import LocalJudge
from pytest_rageval.model.chat import Message
from pytest_rageval.web.judge_api import ServedJudge, judge_api
from pytest_rageval.web.serving import listening, run_until_signal

__all__ = ["head_reply", "serve_judge"]

HOST = "127.0.0.1"
PRINT = partial(print, flush=True)


def serve_judge(folder: Path, port: int, token_env: str | None, out: Callable[[str], object] = PRINT) -> Iterator[str]:
    """Serve the judge of a folder until Ctrl-C or SIGTERM; yield nothing, as the address is printed at once.

    Raises:
        RagEvalError: the judge cannot be loaded, the port is taken, or the token is missing.
    """
    token = _token(token_env)
    judge = loaded_judge(folder)
    served = ServedJudge(judge.name, judge.digest, head_reply(judge, prompted(judge)), token)
    with listening(HOST, port) as listener:
        number = listener.getsockname()[1]
        out(f"{judge.name} ({judge.digest[:8]}): http://{HOST}:{number}/v1 (Ctrl-C ends it)")
        out(f"Ask it: OPENAI_BASE_URL=http://{HOST}:{number}/v1 pytest --rag-judge-model openai/{judge.name}")
        run_until_signal(judge_api(served), listener, None)
    yield from ()


def prompted(judge: LocalJudge) -> PromptedJudge:
    """Return the judge of the metric, whose prompts the server reads.

    Raises:
        SettingError: the metric's judge has no prompt, or its labels changed since the training.
    """
    metric = judged_metric(judge.name).judge
    if not isinstance(metric, PromptedJudge):
        raise SettingError(f"the judge {judge.name} has no prompt, so no program can ask a server for it; use local:")
    if metric_digest(metric) != judge.trained.metric_digest:
        raise SettingError(f"the labels of {judge.name} changed since the judge was trained; train it again")
    return metric


def head_reply(judge: LocalJudge, metric: PromptedJudge) -> Callable[[Sequence[Message]], str]:
    """Return a function from a prompt to the judge's reply: a JSON object with ``reason`` and ``label``."""
    reader, one_at_a_time = PromptReader(metric), Lock()

    def reply(messages: Sequence[Message]) -> str:
        shown = reader.read(messages)
        texts = shown.texts
        gold = slots_of(texts.get("gold", ""))
        with one_at_a_time:
            decision = judge.judge(texts.get("question", ""), gold, texts.get("answer", ""), shown.language)
        reason = f"a trained judge, confidence {decision.confidence:.4f}"
        return json.dumps({"reason": reason, "label": decision.label, "confidence": decision.confidence})

    return reply


def _token(name: str | None) -> str:
    if name is None:
        return ""
    token = os.environ.get(name, "")
    if not token.strip():
        raise SettingError(f"--token-env {short_repr(name)}: the variable is not set, or empty; set it to the token")
    return token
