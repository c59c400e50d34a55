"""Record the judge's replies of example_project again, from rules that stand in for a model.

    python tests/support/servers/example_judge.py

Run it after a change of the judges' prompts or of the desk's answers. The rules measure which share of the right answer
an answer contains, so they err if the right number belongs to a wrong fact. In one of nineteen verdicts, drawn from the
request, they are one step too strict, or one too lenient if no stricter label exists.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script

from support.servers.openai_replies import last_user, text_of
from support.servers.openai_server import OpenAIServer

__all__ = ["reply", "verdict"]

EXAMPLE = Path(__file__).parents[3] / "example_project"
ERRS = 19  # one in this many verdicts is wrong on purpose
FEW, MOST = 0.3, 0.7  # below: the worst label; from: the best
LADDERS = (("wrong", "partly_right", "right"), ("none", "some", "all"), ("wrong", "right"))
_LABEL = re.compile(r'^- "(\w+)"', re.MULTILINE)
_POINT = re.compile(r"\d[\d:.]*(?<![.:])|[^\W\d_\u3400-\u9fff]{3,}|(?=([\u3400-\u9fff]{2}))")
REASONS = {
    "en": ("of what is asked for the answer gives {points}", "it does not give {missing}", "it declines to answer"),
    "zh": ("回答给出了{points}", "缺少{missing}", "回答没有作答"),
}
DECLINES = ("insufficient information", "信息不足")


def reply(body: Mapping[str, Any]) -> str:
    """Return the reply of the rules to a request of a judge."""
    labels = _LABEL.findall(text_of(body["messages"][0]))
    ladder = next(each for each in LADDERS if set(each) <= set(labels))
    blocks = re.split(r"^(?!>).*\n", last_user(dict(body)), flags=re.MULTILINE)
    question, gold, answer = (block for block in blocks if block.strip())
    reason, share = verdict(question, gold, answer)
    best = len(ladder) - 1
    step = 0 if share < FEW else best if share >= MOST else best // 2
    if crc32(f"{ladder}{question}{answer}".encode()) % ERRS == 0:
        step = step - 1 if step else 1
    return json.dumps({"reason": reason, "label": ladder[step]}, ensure_ascii=False)


def verdict(question: str, gold: str, answer: str) -> tuple[str, float]:
    """Return a reason, and the share in 0..1 of the right answer's points that the answer contains."""
    complete, incomplete, declines = REASONS["zh" if re.search(r"[\u3400-\u9fff]", gold) else "en"]
    if any(words in answer for words in DECLINES):
        return declines, 0.0
    question_points, answer_points = set(_points(question)), set(_points(answer))
    points = [point for point in _points(gold) if point not in question_points] or _points(gold)
    points = [point for point in points if point[0].isdigit()] or points
    missing = [point for point in points if point not in answer_points]
    share = 1 - len(missing) / len(points)
    if missing:
        return incomplete.format(missing=", ".join(missing)), share
    return complete.format(points=", ".join(points)), share


def _points(text: str) -> list[str]:
    """Return the numbers and words of a text, and of Chinese the pairs of characters, each once."""
    return list(dict.fromkeys((match[0] or match[1]).lower() for match in _POINT.finditer(text)))


def main() -> int:
    shutil.rmtree(EXAMPLE / "cassettes", ignore_errors=True)
    with OpenAIServer(reply) as server:
        free = "input_cost_per_token = 0\noutput_cost_per_token = 0"
        params = f"rag_judge_params=api_base = {server.base_url}\napi_key = none\n{free}"
        command = [sys.executable, "-m", "pytest", str(EXAMPLE), "-q", "--rag-record-mode", "all", "-o", params]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
