"""Fenced blocks of README.md and docs/, some of which run as tests (see CONTRIBUTING.md).

Blocks of one ``test: NAME`` may stand on several pages. A ``story: NAME`` is on one page and runs from top to bottom: a
block with ``as FILE`` writes the file, a console block runs its commands, and each must print the lines below it in
that order. With RAGEVAL_RENEW=1 the tests write the current output into the pages; read the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

__all__ = [
    "PAGES", "ROOT", "Block", "all_blocks", "blocks_of", "examples_of", "lay_out", "page_name", "printed_of", "renew",
    "repeatable", "section_commands", "steps_of", "stories_of",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[3]

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
"""The pages whose blocks are read."""

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w.+-]*)\s*$")
_MARK = re.compile(r"^<!-- test: (?P<names>[\w-]+(?:, [\w-]+)*)(?: as (?P<file>[\w./-]+))? -->$")
_PRINTS = re.compile(r"^<!-- prints: (?P<command>[\w-]+(?: \S+)*) -->$")
_STORY = re.compile(r"^<!-- story: (?P<name>[\w-]+)(?: as (?P<file>[\w./-]+))? -->$")
_DATASET = re.compile(r"""["'](?:jsonl|labelled|rgb):(?P<path>[^"']+)["']""")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        page: its file, as a path from the root.
        line: the line of its opening fence.
        section: the last ``## `` heading above it.
        language: the word after the fence.
        text: the lines between the fences.
        examples: each NAME of the ``<!-- test: NAME, NAME -->`` just above it.
        file: FILE of ``<!-- test: NAME as FILE -->`` or ``<!-- story: NAME as FILE -->``, or "".
        prints: NAME and ARGUMENTS of the ``<!-- prints: NAME ARGUMENTS -->`` just above it, or "".
        story: NAME of the ``<!-- story: NAME -->`` just above it, or "".
    """

    page: str
    line: int
    section: str
    language: str
    text: str
    examples: tuple[str, ...] = ()
    file: str = ""
    prints: str = ""
    story: str = ""

    @property
    def where(self) -> str:
        """``page:line`` of the block."""
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The commands of a console block: the lines after ``$``."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def page_name(path: Path) -> str:
    """Return a page's path from the root."""
    return path.relative_to(ROOT).as_posix()


def all_blocks() -> list[Block]:
    """Return every fenced block of all pages."""
    return [block for path in PAGES for block in blocks_of(path.read_text(encoding="utf-8"), page_name(path))]


def blocks_of(text: str, page: str = "README.md") -> list[Block]:
    """Return every fenced block of a Markdown text."""
    return list(_blocks(text.splitlines(), page))


def section_commands(blocks: list[Block], section: str) -> list[str]:
    """Return the commands that ``.ci/run`` runs for a section: those of its first console block."""
    consoles = [block for block in blocks if block.section == section and block.language == "console"]
    return consoles[0].commands if consoles else []


def examples_of(blocks: list[Block]) -> dict[str, list[Block]]:
    """Return the marked blocks by name; blocks of one name are files of one project, whatever their page."""
    examples: dict[str, list[Block]] = {}
    for block in blocks:
        for name in block.examples:
            examples.setdefault(name, []).append(block)
    return examples


def stories_of(blocks: list[Block]) -> dict[str, list[Block]]:
    """Return the blocks of each story, in their order: files to write and commands to run, one after the other."""
    stories: dict[str, list[Block]] = {}
    for block in blocks:
        if block.story:
            stories.setdefault(block.story, []).append(block)
    return stories


def steps_of(text: str) -> list[tuple[str, list[str]]]:
    """Return each command of a console block with the lines that are shown below it."""
    steps: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line.strip() != "...":
            steps[-1][1].append(line)
    return steps


def repeatable(line: str) -> str:
    """Return a line without the values that differ from run to run: seconds, with the spaces before them, and the
    variant that breaks a law (Hypothesis also draws constants of the modules that the process has loaded)."""
    if re.search(r" cases?, .* s, ", line):
        return re.sub(r" +", " ", re.sub(r"[\d.]+ s\b", "S s", line))
    return re.sub(r"Variant\('[^']*', (\w+) \d+: '.*'\)", r"Variant(\1)", line)


def printed_of(blocks: list[Block]) -> dict[str, Block]:
    """Return the blocks that show what an example prints, by the example's name and the arguments of pytest.

    If the first of these is "rageval", the block shows what that command prints.
    """
    return {block.prints: block for block in blocks if block.prints}


def lay_out(name: str, blocks: list[Block], folder: Path) -> None:
    """Write an example's files, and a fixture file for each dataset that it names."""
    for block in blocks:
        default = {"python": f"test_{name}.py", "toml": f"{name}.rag.toml"}.get(block.language)
        file = block.file or default
        assert file, f"{block.where}: write <!-- test: {name} as FILE --> above a {block.language} block"
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    for block in blocks:
        for match in _DATASET.finditer(block.text):
            _stand_in(folder / match["path"], block)


def renew(block: Block, output: str) -> None:
    """With RAGEVAL_RENEW set, replace each line of the block that is not printed with the nearest printed one."""
    if not os.environ.get("RAGEVAL_RENEW"):
        return
    page, printed = ROOT / block.page, [line.rstrip() for line in output.splitlines()]
    lines = page.read_text(encoding="utf-8").splitlines()
    for at in range(block.line, block.line + len(block.text.splitlines())):
        if lines[at].strip() not in ("", "...") and not lines[at].startswith("$ ") and lines[at] not in printed:
            lines[at] = next(iter(get_close_matches(lines[at], printed, n=1)), lines[at])
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _stand_in(path: Path, block: Block) -> None:
    if path.exists():
        return
    fixtures = ROOT / "fixtures" / "datasets"
    source = next(iter(sorted(fixtures.rglob(path.name))), fixtures / "cases.jsonl")
    same = path.suffix == source.suffix
    assert same, f"{block.where}: fixtures/datasets has no {path.name}; name another file or give it a block"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())


def _blocks(lines: list[str], page: str) -> Iterator[Block]:
    section, at = "", 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if lines[at].startswith("## "):
            section = lines[at][3:].strip()
        if fence is None:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == fence["fence"]), None)
        assert end is not None, f"{page}:{at + 1}: this fence is not closed"
        above = next((line for line in reversed(lines[:at]) if line.strip()), "").strip()
        yield _marked(Block(page, at + 1, section, fence["language"], "\n".join(lines[at + 1 : end]) + "\n"), above)
        at = end + 1


def _marked(block: Block, above: str) -> Block:
    """Return a block with the mark in the line above it."""
    if mark := _MARK.match(above):
        return replace(block, examples=tuple(mark["names"].split(", ")), file=mark["file"] or "")
    if story := _STORY.match(above):
        return replace(block, story=story["name"], file=story["file"] or "")
    prints = _PRINTS.match(above)
    return replace(block, prints=prints["command"]) if prints else block
