"""``rageval generate topics PLAN.toml --out topics.toml``: make topics, to edit by hand."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to", "write_topics"]

DESCRIPTION = """\
Make topics of the documents of a plan, without a model: from metadata, folders, first headings, else keyphrases. Edit
the file, then name it in the plan: [topics] file = "topics.toml". Exit status: 0, or 2 if the plan or its documents
cannot be used.
"""


def add_to(subcommands: Commands) -> None:
    """Add the parser of ``rageval generate topics``."""
    parser = subcommands.add_parser(
        "topics", help="make the topics of the documents of a plan", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("plan", type=Path, metavar="PLAN.toml", help="the plan, with a [[corpus]]")
    parser.add_argument("--out", type=Path, required=True, metavar="topics.toml", help="the file to write")
    parser.add_argument("--depth", type=int, default=2, metavar="N", help="number of levels of topics (default 2)")
    parser.add_argument("--force", action="store_true", help="replace the file")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    return write_topics(arguments.plan, arguments.out, depth=arguments.depth, force=arguments.force)


def write_topics(plan_path: Path, out: Path, *, depth: int = 2, force: bool = False) -> Generator[str, None, int]:
    """Write the topics of a plan's documents; yield lines for the terminal; return 0.

    Args:
        plan_path: the plan.
        out: the file to write.
        depth: number of levels, 1 or more.
        force: whether to replace an existing file.

    Raises:
        RagEvalError: the plan or its documents are invalid, or the file exists.
    """
    from pytest_rageval.errors import SettingError
    from pytest_rageval.folders import atomic_files
    from pytest_rageval.generation.corpus import corpus_passages
    from pytest_rageval.generation.plan import read_plan
    from pytest_rageval.generation.topics.building import build_topics
    from pytest_rageval.generation.topics.topic_settings import topic_settings
    from pytest_rageval.generation.topics.topics_file import topics_text

    if depth < 1:
        raise SettingError(f"--depth is {depth}; it must be 1 or more")
    if out.exists() and not force:
        raise SettingError(f"--out {out} exists, and may hold edits; name another file, or write --force")
    plan = read_plan(plan_path)
    chunks = tuple(corpus_passages(plan))
    if not chunks:
        raise SettingError(f"{plan.file_name} has no [[corpus]]; topics are made of its documents")
    result = build_topics(chunks, depth, topic_settings(plan).min_documents)
    comments = ["Topics of rageval generate topics. Edit names, keywords and documents."]
    comments += [f"no topic: {document}" for document in result.without_topic]
    text = topics_text(result.tree, comments)
    try:
        with atomic_files(out) as (part,):
            part.write_bytes(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise SettingError(f"--out {out}: cannot be written ({error.strerror}); name another file") from None
    sources = ", ".join(f"{count:,} by {source}" for source, count in sorted(result.ways.items()))
    total = sum(result.ways.values()) + len(result.without_topic)
    topics = f"{len(result.tree):,} topic{'s' if len(result.tree) != 1 else ''}"
    yield f"{out}: {topics} of {total:,} document{'s' if total != 1 else ''} ({sources})"
    if result.merged:
        yield f"{result.merged:,} topics with too few documents merged into their parents"
    if result.without_topic:
        yield f"{len(result.without_topic):,} documents have no topic; the first lines of {out} list them"
    return 0
