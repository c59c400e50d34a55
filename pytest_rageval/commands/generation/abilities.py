"""``rageval generate abilities``: add passages for RGB's four abilities to a dataset."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_rageval.generation.abilities.ability_records import Abilities, AbilityOptions

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to", "generate_abilities"]

DESCRIPTION = """\
Add to each case of a dataset the passages that RGB's abilities need. FILE.jsonl gets the cases with positive and
negative passages (noise_robustness, negative_rejection). FILE.counterfactual.jsonl gets the cases with a false answer,
and with copies of the positive passages that state it (counterfactual_robustness). FILE.integration.jsonl gets pairs of
cases as one question (information_integration). Rules decide everything, without a model. The summary counts what could
not be made, by reason.
"""


def add_to(subcommands: Commands) -> None:
    """Add the parser of ``rageval generate abilities``."""
    parser = subcommands.add_parser(
        "abilities", help="add passages for RGB's four abilities to a dataset", description=DESCRIPTION,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("dataset", metavar="DATASET", help="format:path, as in rag_case")
    parser.add_argument("--corpus", action="append", default=[], metavar="LINE", help="a line of rag_corpus")
    parser.add_argument("--chunking", default="none", metavar="CHUNKING", help="as in rag_chunking (default none)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="the file to write")
    parser.add_argument("--negatives", type=int, default=8, metavar="N", help="negative passages per case (default 8)")
    parser.add_argument("--no-counterfactuals", action="store_true", help="do not make false passages")
    parser.add_argument("--no-integration", action="store_true", help="do not join questions")
    parser.add_argument(
        "--names", action="append", default=[], type=Path, metavar="FILE",
        help="names of one kind, one per line; the false answer for one of them is another one",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of false answers and pairs (default 0)")
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    from pytest_rageval.generation.abilities.ability_records import AbilityOptions
    from pytest_rageval.generation.abilities.stage import names_in

    settings = AbilityOptions(
        arguments.negatives,
        not arguments.no_counterfactuals,
        not arguments.no_integration,
        [names_in(path) for path in arguments.names],
        arguments.seed,
    )
    return generate_abilities(
        arguments.dataset, arguments.corpus, arguments.chunking, arguments.out, settings, force=arguments.force
    )


def generate_abilities(
    dataset: str, corpus: Sequence[str], chunking: str, out: Path, settings: AbilityOptions, *, force: bool = False
) -> Generator[str, None, int]:
    """Write the records of the abilities; yield lines for the terminal; return 0.

    Args:
        dataset: the dataset, as ``format:path``.
        corpus: lines, as in ``rag_corpus``; empty if the dataset has negative passages.
        chunking: the value, as in ``rag_chunking``.
        out: the file of the records with their pools; the other files go to the same folder.
        settings: what to make.
        force: whether to overwrite existing files.

    Raises:
        RagEvalError: an input is missing or malformed, or a file cannot be written; no file changes.
    """
    from pytest_rageval.commands.generation.formats import formats_of, load_corpus, load_dataset
    from pytest_rageval.errors import SettingError
    from pytest_rageval.generation.abilities.ability_records import make_abilities
    from pytest_rageval.generation.abilities.records import record_of_generated
    from pytest_rageval.generation.abilities.search import search_over

    if settings.negatives < 0:
        raise SettingError(f"--negatives is {settings.negatives}; it must be 0 or more")
    if settings.negatives and not corpus:
        raise SettingError("--corpus is missing: negative passages come from it; name one, or write --negatives 0")
    files = _files(out)
    _check_free(files.values(), dataset, force=force)
    formats, readers = formats_of([dataset], corpus)
    instances = load_dataset(dataset, formats)
    passages = load_corpus(corpus, chunking, readers) if corpus else ()
    abilities = make_abilities(instances, passages, search_over(passages), settings)
    previous = _generated_keys(dataset)
    records = {
        files["pools"]: abilities.pools,
        files["counterfactual"]: abilities.counterfactual,
        files["integration"]: abilities.integration,
    }
    _write(
        {path: [record_of_generated(each, abilities, previous) for each in cases] for path, cases in records.items()}
    )
    yield from _summary(abilities, settings)
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


def _generated_keys(dataset: str) -> Mapping[str, Any]:
    """Return the key ``generated`` that an earlier `rageval generate` wrote to each record, by id."""
    from pytest_rageval.commands.generation.formats import dataset_path
    from pytest_rageval.datasets.source import read_records

    if not dataset.startswith("jsonl:"):
        return {}
    records = (values for _, values in read_records(dataset_path(dataset)))
    return {str(each["id"]): each["generated"] for each in records if isinstance(each.get("generated"), dict)}


def _write(files: Mapping[Path, Sequence[Mapping[str, Any]]]) -> None:
    """Write all files or none; skip a file without records, because readers reject an empty file."""
    from pytest_rageval.datasets import jsonl
    from pytest_rageval.datasets.source import shown_path
    from pytest_rageval.errors import SettingError
    from pytest_rageval.folders import atomic_files

    files_with_records = {path: records for path, records in files.items() if records}
    try:
        with atomic_files(*files_with_records) as parts:
            for part, records in zip(parts, files_with_records.values(), strict=True):
                with part.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
                jsonl.load(part)
        for path in files:
            if path not in files_with_records:
                path.unlink(missing_ok=True)
    except OSError as error:
        problem = f"{shown_path(next(iter(files)))} cannot be written: {error.strerror or error}"
        raise SettingError(problem, code="RAG212") from None


def _summary(abilities: Abilities, settings: AbilityOptions) -> Iterator[str]:
    if settings.negatives:
        full = len(abilities.pools) - abilities.short.total()
        line = f"negatives: {settings.negatives} for each of {full:,} cases"
        line += f"; fewer for {abilities.short.total():,} ({_counts_text(abilities.short)})" if abilities.short else ""
        yield line + (f"; passages left out: {_counts_text(abilities.excluded)}" if abilities.excluded else "")
    if settings.counterfactuals:
        twins = sum(each.role == "counterfactual" for case in abilities.counterfactual for each in case.passages or ())
        line = f"counterfactuals: {len(abilities.counterfactual):,} cases with {twins:,} false passages"
        line += f" ({_counts_text(abilities.kinds)})" if abilities.kinds else ""
        line += f"; cases without one: {_counts_text(abilities.without_twin)}" if abilities.without_twin else ""
        yield line + (f"; passages left out: {_counts_text(abilities.lost_twins)}" if abilities.lost_twins else "")
    if settings.integration:
        line = f"integration: {len(abilities.integration):,} cases of two questions"
        partnerless = abilities.without_partner
        yield line + (f"; cases left out: {_counts_text(partnerless)}" if partnerless else "")


def _counts_text(counts: Counter[str]) -> str:
    return ", ".join(
        f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )
