"""``rageval generate abilities``: passages for RGB's four abilities from a dataset and a corpus."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_rageval.generation.abilities.making import Abilities, AbilityOptions

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to", "generate_abilities"]

DESCRIPTION = """\
Give every case of a dataset the passages that RGB's abilities need. FILE.jsonl gets the cases with positive and
negative passages (noise_robustness, negative_rejection), FILE.counterfactual.jsonl those with a false answer and twins
of the positive passages that state it (counterfactual_robustness), FILE.integration.jsonl pairs of cases as one
question (information_integration). All of it is decided by rule, without a model. What is not made is counted with its
reason.
"""


def add_to(words: Commands) -> None:
    """Add the parser of ``rageval generate abilities``."""
    parser = words.add_parser(
        "abilities", help="add passages for RGB's four abilities to a dataset", description=DESCRIPTION,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("dataset", metavar="DATASET", help="format:path, as in rag_case")
    parser.add_argument("--corpus", action="append", default=[], metavar="LINE", help="a line of rag_corpus")
    parser.add_argument("--chunking", default="none", metavar="CHUNKING", help="as rag_chunking (default none)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="the file to write")
    parser.add_argument("--negatives", type=int, default=8, metavar="N", help="negative passages of a case (default 8)")
    parser.add_argument("--no-counterfactuals", action="store_true", help="make no false passages")
    parser.add_argument("--no-integration", action="store_true", help="join no questions")
    parser.add_argument(
        "--names", action="append", default=[], type=Path, metavar="FILE",
        help="names of one kind, one a line: an answer among them becomes another of them",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="decides false answers and pairs (default 0)")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    from pytest_rageval.generation.abilities.making import AbilityOptions
    from pytest_rageval.generation.abilities.stage import names_in

    options = AbilityOptions(
        arguments.negatives,
        not arguments.no_counterfactuals,
        not arguments.no_integration,
        [names_in(path) for path in arguments.names],
        arguments.seed,
    )
    return generate_abilities(
        arguments.dataset, arguments.corpus, arguments.chunking, arguments.out, options, force=arguments.force
    )


def generate_abilities(
    dataset: str, corpus: Sequence[str], chunking: str, out: Path, options: AbilityOptions, *, force: bool = False
) -> Generator[str, None, int]:
    """Write the records of the abilities and yield lines for the terminal; return 0.

    Args:
        dataset: the dataset, as ``format:path``.
        corpus: lines like those of ``rag_corpus``; empty if the dataset brings its own negative passages.
        chunking: as ``rag_chunking``.
        out: the file of the records with their pools; the others are written beside it.
        options: which abilities to generate.
        force: whether to overwrite existing files.

    Raises:
        RagEvalError: an input is missing or malformed, or a file cannot be written; no file changes.
    """
    from pytest_rageval.commands.generation.formats import formats_of, load_corpus, load_dataset
    from pytest_rageval.errors import SettingError
    from pytest_rageval.generation.abilities.making import make_abilities
    from pytest_rageval.generation.abilities.records import record_of_generated
    from pytest_rageval.generation.abilities.search import search_over

    if options.negatives < 0:
        raise SettingError(f"--negatives is {options.negatives}; it must be 0 or more")
    if options.negatives and not corpus:
        raise SettingError("--corpus is missing: negative passages come from it; name one, or write --negatives 0")
    files = _files(out)
    _check_free(files.values(), dataset, force=force)
    formats, readers = formats_of([dataset], corpus)
    instances = load_dataset(dataset, formats)
    passages = load_corpus(corpus, chunking, readers) if corpus else ()
    made = make_abilities(instances, passages, search_over(passages), options)
    earlier = _earlier(dataset)
    records = {
        files["pools"]: made.pools,
        files["counterfactual"]: made.counterfactual,
        files["integration"]: made.integration,
    }
    _write({path: [record_of_generated(each, made, earlier) for each in cases] for path, cases in records.items()})
    yield from _summary(made, options)
    for path, cases in records.items():
        yield f"{path}: {len(cases):,} cases" + ("" if cases else ", not written")
    return 0


def _files(out: Path) -> dict[str, Path]:
    from pytest_rageval.errors import SettingError

    if out.suffix != ".jsonl":
        raise SettingError(f"--out {out} does not end in .jsonl; write for example --out new.jsonl")
    return {"pools": out} | {name: out.with_suffix(f".{name}.jsonl") for name in ("counterfactual", "integration")}


def _check_free(paths: Any, dataset: str, *, force: bool) -> None:
    from pytest_rageval.commands.generation.formats import dataset_path
    from pytest_rageval.datasets.source import shown_path
    from pytest_rageval.errors import SettingError

    source = dataset_path(dataset).resolve()
    for path in paths:
        if path.resolve() == source:
            raise SettingError(f"--out {shown_path(path)} is the dataset itself; name another file")
        if path.exists() and not force:
            raise SettingError(f"{shown_path(path)} already exists; name another file with --out, or add --force")


def _earlier(dataset: str) -> Mapping[str, Any]:
    """Return what an earlier `rageval generate` wrote about each record: id -> its key ``generated``."""
    from pytest_rageval.commands.generation.formats import dataset_path
    from pytest_rageval.datasets.source import read_records

    if not dataset.startswith("jsonl:"):
        return {}
    records = (values for _, values in read_records(dataset_path(dataset)))
    return {str(each["id"]): each["generated"] for each in records if isinstance(each.get("generated"), dict)}


def _write(files: Mapping[Path, Sequence[Mapping[str, Any]]]) -> None:
    """Write all files or none; a file without a record is not written, because no reader takes an empty one."""
    from pytest_rageval.datasets import jsonl
    from pytest_rageval.datasets.source import shown_path
    from pytest_rageval.errors import SettingError
    from pytest_rageval.folders import whole_files

    filled = {path: records for path, records in files.items() if records}
    try:
        with whole_files(*filled) as parts:
            for part, records in zip(parts, filled.values(), strict=True):
                with part.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
                jsonl.load(part)
        for path in files:
            if path not in filled:
                path.unlink(missing_ok=True)
    except OSError as error:
        problem = f"{shown_path(next(iter(files)))} cannot be written: {error.strerror or error}"
        raise SettingError(problem, code="RAG212") from None


def _summary(made: Abilities, options: AbilityOptions) -> Iterator[str]:
    if options.negatives:
        full = len(made.pools) - made.short.total()
        line = f"negatives: {options.negatives} for each of {full:,} cases"
        line += f"; fewer for {made.short.total():,} ({_listed(made.short)})" if made.short else ""
        yield line + (f"; passages left out: {_listed(made.excluded)}" if made.excluded else "")
    if options.counterfactuals:
        twins = sum(each.role == "counterfactual" for case in made.counterfactual for each in case.passages or ())
        line = f"counterfactuals: {len(made.counterfactual):,} cases with {twins:,} false passages"
        line += f" ({_listed(made.kinds)})" if made.kinds else ""
        line += f"; cases without one: {_listed(made.without_twin)}" if made.without_twin else ""
        yield line + (f"; passages left out: {_listed(made.lost_twins)}" if made.lost_twins else "")
    if options.integration:
        line = f"integration: {len(made.integration):,} cases of two questions"
        yield line + (f"; cases left out: {_listed(made.without_partner)}" if made.without_partner else "")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(
        f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )
