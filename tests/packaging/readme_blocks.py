"""The fenced blocks of README.md, and those among them that are run as tests (see CONTRIBUTING.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["ROOT", "Block", "blocks_of", "examples_of", "lay_out", "printed_of", "section_commands"]

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w.+-]*)\s*$")
_MARK = re.compile(r"^<!-- test: (?P<names>[\w-]+(?:, [\w-]+)*)(?: as (?P<file>[\w./-]+))? -->$")
_PRINTS = re.compile(r"^<!-- prints: (?P<command>[\w-]+(?: \S+)*) -->$")
_DATASET = re.compile(r"""["'](?:jsonl|rgb):(?P<path>[^"']+)["']""")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        line: the line of its opening fence.
        section: the last ``## `` heading above it.
        language: what stands behind the fence.
        text: what is between the fences.
        examples: each NAME of the ``<!-- test: NAME, NAME -->`` just above it.
        file: FILE of ``<!-- test: NAME as FILE -->``, or "".
        prints: NAME and ARGUMENTS of the ``<!-- prints: NAME ARGUMENTS -->`` just above it, or "".
    """

    line: int
    section: str
    language: str
    text: str
    examples: tuple[str, ...] = ()
    file: str = ""
    prints: str = ""

    @property
    def commands(self) -> list[str]:
        """What is typed in a console block: the lines behind ``$``."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def blocks_of(text: str) -> list[Block]:
    """Return every fenced block of a Markdown text."""
    return list(_blocks(text.splitlines()))


def section_commands(blocks: list[Block], section: str) -> list[str]:
    """Return what ``.ci/run`` types for a section: the commands of its first console block."""
    consoles = [block for block in blocks if block.section == section and block.language == "console"]
    return consoles[0].commands if consoles else []


def examples_of(blocks: list[Block]) -> dict[str, list[Block]]:
    """Return the marked blocks by name; blocks of one name are files of one project."""
    examples: dict[str, list[Block]] = {}
    for block in blocks:
        for name in block.examples:
            examples.setdefault(name, []).append(block)
    return examples


def printed_of(blocks: list[Block]) -> dict[str, Block]:
    """Return the blocks that show what an example prints, by the example's name and the arguments of pytest.

    Where the first of these is "rageval", it is what that command prints.
    """
    return {block.prints: block for block in blocks if block.prints}


def lay_out(name: str, blocks: list[Block], folder: Path) -> None:
    """Write an example's files, and below the names it gives them the fixtures that stand in for its data."""
    for block in blocks:
        default = {"python": f"test_{name}.py", "toml": f"{name}.rag.toml"}.get(block.language)
        file = block.file or default
        assert file, f"README.md:{block.line - 1}: say <!-- test: {name} as FILE --> above a {block.language} block"
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    for block in blocks:
        for match in _DATASET.finditer(block.text):
            _stand_in(folder / match["path"], block)


def _stand_in(path: Path, block: Block) -> None:
    if path.exists():
        return
    fixtures = ROOT / "fixtures" / "datasets"
    source = next(iter(sorted(fixtures.rglob(path.name))), fixtures / "cases.jsonl")
    same = path.suffix == source.suffix
    assert same, f"README.md:{block.line}: fixtures/datasets has no {path.name}; name another file or give it a block"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())


def _blocks(lines: list[str]) -> Iterator[Block]:
    section, at = "", 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if lines[at].startswith("## "):
            section = lines[at][3:].strip()
        if fence is None:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == fence["fence"]), None)
        assert end is not None, f"README.md:{at + 1}: this fence is not closed"
        above = next((line for line in reversed(lines[:at]) if line.strip()), "")
        mark, prints = _MARK.match(above.strip()), _PRINTS.match(above.strip())
        block = Block(at + 1, section, fence["language"], "\n".join(lines[at + 1 : end]) + "\n")
        if mark:
            block = replace(block, examples=tuple(mark["names"].split(", ")), file=mark["file"] or "")
        yield replace(block, prints=prints["command"]) if prints else block
        at = end + 1
