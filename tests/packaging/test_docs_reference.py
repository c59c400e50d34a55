"""docs/reference/ and docs/llms.txt match what docs/generate.py writes from the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from support.projects.readme_blocks import ROOT

from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.setting import declared

GENERATE = ROOT / "docs" / "generate.py"


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(GENERATE), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_generated_reference_is_up_to_date() -> None:
    run = generate("--check")
    assert run.returncode == 0, f"{run.stdout}{run.stderr}run: python docs/generate.py"


def test_every_page_is_linked_from_the_index() -> None:
    docs = ROOT / "docs"
    text = (docs / "index.md").read_text(encoding="utf-8")
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} - {"index.md"}
    assert set(re.findall(r"\]\(([\w/-]+\.md)\)", text)) == pages
    links = re.findall(r"^- \[.*\]\(([\w/-]+\.md)\)", text, re.MULTILINE)
    assert [page for page in links if links.count(page) > 1] == []


def test_every_option_and_setting_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/options.md").read_text(encoding="utf-8")
    names = [name for row in declared(Options) for name in (row.option, row.ini) if name]
    assert len(names) > 50
    assert [name for name in names if not re.search(rf"^\| `{re.escape(name)}[ `]", page, re.MULTILINE)] == []


def test_every_docs_page_begins_with_its_title() -> None:
    for path in Path(ROOT / "docs").rglob("*.md"):
        text = re.sub(r"\A---\n.*?\n---\n\n?", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.match(r"# \S", text), path


def test_every_message_in_troubleshooting_occurs_in_the_code() -> None:
    literals = "\n".join(
        node.value
        for path in (ROOT / "pytest_rageval").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    titles = re.findall(
        r"^### (?:RAG\d+: )?(.+)$", (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(titles) >= 30
    parts = [(title, part.strip()) for title in titles for part in title.split("…")]
    assert [(title, part) for title, part in parts if len(part) > 2 and part not in literals] == []
