"""Check that a served judge gives the in-process judge's verdicts, through both backends.

    python tests/benchmarks/served_judge.py [--answers N]

The script starts `rageval judge serve`, sends it each answer through the plain backend and through litellm, and prints
the number of equal verdicts and the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import table

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.projects.judge_folders import answers, trained_folder

from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.local_judges.local_judge import load_judge
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE

SERVE = "from pytest_rageval.cli import main; raise SystemExit(main())"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=1_000)
    batch = answers(parser.parse_args().answers)
    with tempfile.TemporaryDirectory() as folder:
        judge = load_judge(trained_folder(Path(folder)), "here", lambda: None)
        expected = [each.decision.label for each in judge.judge_batch(batch) if each.decision is not None]
        command = [sys.executable, "-c", SERVE, "judge", "serve", folder, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url_match = re.search(r"http://\S+/v1", server.stdout.readline())
            assert url_match is not None
            rows = [["backend", "equal", "seconds"]]
            for name, backend in (("plain", OpenAIHTTP), ("litellm", LiteLLM)):
                start = time.perf_counter()
                labels = asyncio.run(labels_of(backend("openai/accuracy_judged"), batch, url_match[0]))
                equal = sum(one == other for one, other in zip(labels, expected, strict=True))
                rows.append([name, f"{equal} of {len(expected)}", f"{time.perf_counter() - start:.1f}"])
            server.terminate()
    print(table(rows))


async def labels_of(model: Any, batch: list[Any], base: str) -> list[Any]:
    class Served:
        async def complete(self, messages: Any, **params: Any) -> Any:
            return await model.complete(messages, api_base=base, api_key="none", **params)

    labels = [(await ACCURACY_JUDGE.ask(each.sample, Served())).label for each in batch]
    await model.aclose()
    return labels


if __name__ == "__main__":
    main()
