"""The environment ``mcp`` imports and starts nothing before its first use."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from pathlib import Path
from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments import EnvironmentParts
from pytest_rageval.environments.mcp import kind

kind.version = lambda name: "2.3.0"
for options in ({"url": "http://127.0.0.1:1/mcp"}, {"command": sys.executable}):
    where = "rag_environments: crm"
    parts = EnvironmentParts("crm", "mcp", where, ComponentOptions({**options, "allow": "*"}, where), None)
    environment = kind.build(parts)
    environment.load()
    environment.close()
print(sorted(sys.modules.keys() & {"mcp", "mcp_types", "httpx2", "anyio", "pydantic"}))
"""


def test_the_package_is_imported_only_at_the_first_use() -> None:
    process = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=60)
    assert (process.stdout, process.stderr) == ("[]\n", "")
