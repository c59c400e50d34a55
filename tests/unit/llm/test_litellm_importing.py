"""litellm is imported without side effects; each test uses a new process, because an import happens once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]

WATCH_IMPORT = """
import gc, os, sys, threading, warnings
warnings.filterwarnings = lambda *args, **more: None  # as if the filters of a test were active
connected, written, before, real = [], [], dict(os.environ), warnings.warn

def watch(event, args):
    if event == "socket.connect":
        connected.append(args[1])
    elif event in ("os.putenv", "os.unsetenv"):
        written.append(args[0])

sys.addaudithook(lambda event, args: watch(event, args))
thresholds = gc.get_threshold()
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.named_model import preload
lazy = "litellm" not in sys.modules
preload([("hosted_vllm/some-model", {})])
found = []
threads = [threading.Thread(target=lambda: found.append(litellm())) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
during = len(connected)

import asyncio
from support.servers.openai_server import OpenAIServer
from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.prices import count_tokens

async def ask(base_url):
    model = LiteLLM("hosted_vllm/some-model")  # litellm's own way to a server loads its tokenizer
    reply = await model.complete([{"role": "user", "content": "ping"}], api_base=base_url)
    await model.aclose()
    return reply.text

with OpenAIServer() as server:
    text = asyncio.run(ask(server.base_url))
    port = int(server.base_url.split(":")[2].split("/")[0])

import json
print(json.dumps({
    "lazy": lazy,
    "same": all(module is sys.modules["litellm"] for module in found) and len(found) == 4,
    "warns": warnings.warn is real,
    "collects": gc.isenabled() and gc.get_threshold() == thresholds and not gc.get_freeze_count(),
    "connected": during,
    "elsewhere": [address for address in connected if address[1] != port],
    "written": sorted({os.fsdecode(name) for name in written}),
    "unchanged": dict(os.environ) == before,
    "text": text,
    "tokens": count_tokens("openai/gpt-4o-mini", [{"role": "user", "content": "Hello there"}]),
    "encoding": found[0].encoding.name,
}))
"""

FAILING_IMPORT = """
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.named_model import preload
preload([("hosted_vllm/some-model", {})])
try:
    litellm()
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def run(code: str, folder: Path, *paths: Path) -> str:
    """Run ``code`` with warnings as errors, check that stderr is empty, and return stdout."""
    search_path = os.pathsep.join(map(str, (*paths, ROOT, ROOT / "tests")))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LITELLM", "COV"))}
    command = [sys.executable, "-W", "error", "-c", code]
    process = subprocess.run(
        command, cwd=folder, env={**environment, "PYTHONPATH": search_path}, capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_the_import_reads_no_env_file_opens_no_connection_and_restores_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=1\nOPENAI_API_KEY=sk-from-dotenv\n")

    report: dict[str, Any] = json.loads(run(WATCH_IMPORT, tmp_path))

    assert report == {
        "lazy": True,
        "same": True,
        "warns": True,
        "collects": True,
        "connected": 0,
        "elsewhere": [],
        "written": ["LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_MODE", "TIKTOKEN_CACHE_DIR"],
        "unchanged": True,
        "text": "ping",
        "tokens": [9, True],
        "encoding": "cl100k_base",
    }


def test_an_import_error_is_raised_when_litellm_is_used(tmp_path: Path) -> None:
    (tmp_path / "litellm.py").write_text("raise ImportError('broken wheel')\n")

    assert run(FAILING_IMPORT, tmp_path, tmp_path) == "ImportError: broken wheel\n"


def test_without_litellm_the_error_names_the_extra(tmp_path: Path) -> None:
    without_litellm = "import sys\nsys.modules['litellm'] = None\n"

    assert "pip install 'pytest-rageval[llm]'" in run(without_litellm + FAILING_IMPORT, tmp_path)
