"""Write docs/reference/*.md, docs/llms.txt and results.schema.json from the code.

``python docs/generate.py`` writes; with ``--check`` it only compares.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from generator.declared import commands, fixtures, markers, options, python
from generator.markdown import page
from generator.measured import gates, metrics
from generator.schema import results_schema
from generator.stored import PACKAGE, formats, results

DOCS = Path(__file__).resolve().parent

PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "options": options, "markers": markers, "fixtures": fixtures, "metrics": metrics, "gates": gates,
    "formats": formats, "results": results, "commands": commands, "python": python,
}  # fmt: skip


def main() -> int:
    """Write the files, or with ``--check`` list those that differ and return 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args().check
    stale = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        sys.stdout.write(f"{'differs' if check else 'written'}: {path.relative_to(DOCS.parent)}\n")
        if not check:
            path.write_text(files()[path], encoding="utf-8")
    return int(check and bool(stale))


def files() -> dict[Path, str]:
    """Return each generated file and its text."""
    made = {DOCS / "reference" / f"{name}.md": page(make()) for name, make in PAGES.items()}
    schema = PACKAGE / "report" / "results.schema.json"
    return {**made, DOCS / "llms.txt": "\n".join(llms(made)) + "\n", schema: results_schema()}


def llms(made: Mapping[Path, str]) -> Iterator[str]:
    """Yield llms.txt: what the project is, then each page of index.md with its title and first sentence."""
    top, *sections = re.split(r"^## ", (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield from ("# pytest-rageval", "", "> " + " ".join(top.split("\n\n")[1].split()))
    for section in sections:
        yield from ("", f"## {section.splitlines()[0]}", "")
        for link in re.findall(r"\]\(([\w/-]+\.md)\)", section):
            title, about = opening(made.get(DOCS / link) or (DOCS / link).read_text(encoding="utf-8"))
            yield f"- [{title}]({link}): {about}"


def opening(text: str) -> tuple[str, str]:
    """Return the title and the first sentence of a page."""
    title, *blocks = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).strip().split("\n\n")
    prose = next(block for block in blocks if block[0] not in "<#|-")
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(prose.split()))
    return title.removeprefix("# "), re.split(r"(?<=\.) ", plain.partition("```")[0].strip())[0]


if __name__ == "__main__":
    raise SystemExit(main())
