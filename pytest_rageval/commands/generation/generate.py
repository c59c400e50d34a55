"""``rageval generate PLAN.toml --out FOLDER``: draft, check, split and write cases."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pytest_rageval.generation.draft import Draft
    from pytest_rageval.generation.material import Material
    from pytest_rageval.generation.split import Sets

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to", "generate"]

T = TypeVar("T")

DESCRIPTION = """\
Draft cases by a plan, check every draft, and write the sets. The same plan and data give the same bytes. Exit
status: 0, 1 if a wanted number of cases was not reached, 2 if the plan or its data cannot be used.
"""


def add_to(subcommands: Commands) -> None:
    """Add the parser of ``rageval generate PLAN.toml``."""
    parser = subcommands.add_parser(
        "plan", prog="rageval generate", help="the default: generate from a plan", description=DESCRIPTION,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("plan", type=Path, metavar="PLAN.toml", help="the plan, or the name of a shipped one: scholar")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="the folder of the files; created if missing")
    parser.add_argument("--dry-run", action="store_true", help="print the planned cases and model calls; call no model")
    parser.add_argument("--force", action="store_true", help="replace the files of another plan in FOLDER")
    parser.add_argument("--finish", action="store_true", help="write the sets again, with the decisions of the review")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Generator[str, None, int]:
    return generate(
        arguments.plan, arguments.out, dry_run=arguments.dry_run, force=arguments.force, finish=arguments.finish
    )


def generate(
    plan_path: Path, out: Path | None, *, dry_run: bool = False, force: bool = False, finish: bool = False
) -> Generator[str, None, int]:
    """Generate the cases of a plan; yield lines for the terminal; return 1 if there are too few cases, else 0.

    Args:
        plan_path: the plan.
        out: the output folder; required unless ``dry_run``.
        dry_run: whether to print only what would be done.
        force: whether to replace the files of another plan.
        finish: whether to use the drafts in the folder, with the decisions of people, instead of drafting.

    Raises:
        RagEvalError: the plan or its data is wrong, or the folder holds files of another plan.
    """
    from pytest_rageval.errors import SettingError, ascii_safe
    from pytest_rageval.generation.loading import load_material
    from pytest_rageval.generation.output.folder import claim_folder, write_folder
    from pytest_rageval.generation.plan import read_plan
    from pytest_rageval.generation.review.decisions_file import DECISIONS
    from pytest_rageval.generation.split import split, split_settings

    plan = read_plan(plan_path)
    if out is None and not dry_run:
        raise SettingError("--out is missing; write rageval generate PLAN.toml --out FOLDER")
    material = load_material(plan, out)
    if dry_run or out is None:
        from pytest_rageval.generation.estimate import estimate_lines

        yield from map(ascii_safe, _with_models(material, out, lambda: list(estimate_lines(material))))
        return 0
    has_drafts = claim_folder(out, plan, material.tables.values(), force=force)
    if finish:
        drafts, sets = _finish(material, out, has_drafts)
    else:
        drafts = _with_models(material, out, lambda: _draft_all(material))
        if (out / DECISIONS).exists():
            material.warnings.append(f"the decisions in {DECISIONS} are not applied; run again with --finish")
        sets = split(drafts, split_settings(plan), plan.seed, material.warnings)
    counts = write_folder(out, material, drafts, sets)
    yield from map(ascii_safe, _summary(material, drafts, counts))
    return int(bool(material.shortages))


def _with_models(material: Material, out: Path | None, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which may call the models that the plan names."""
    from pytest_rageval.generation.leakage.settings import leakage_settings
    from pytest_rageval.generation.model_drafts.settings import model_settings

    settings, closed_book = model_settings(material.plan), leakage_settings(material.plan).closed_book
    if settings is None and not closed_book:
        return work()
    from pytest_rageval.generation.model_drafts.access import ModelAccess
    from pytest_rageval.hooks.generate_command import with_models

    def work_with_models(access: ModelAccess) -> T:
        material.models = access
        return work()

    budget_usd = None if settings is None else settings.budget_usd
    return with_models(budget_usd, material.plan.folder, out, material.warnings, work_with_models)


def _draft_all(material: Material) -> Sequence[Draft]:
    from pytest_rageval.generation.pipeline import drafted

    return drafted(material)


def _finish(material: Material, out: Path, has_drafts: bool) -> tuple[Sequence[Draft], Sets]:
    from pytest_rageval.errors import SettingError
    from pytest_rageval.generation.finish import finish_drafts

    if not has_drafts:
        raise SettingError("--finish takes the drafts of an earlier call; run rageval generate without it first")
    return finish_drafts(material, out)


def _summary(material: Material, drafts: Sequence[Draft], counts: dict[str, int]) -> Iterator[str]:
    """Yield warnings, counts of drafts and reasons, files, and shortages."""
    yield from (f"warning: {warning}" for warning in material.warnings)
    yield from (f"left out: {what}: {count}" for what, count in sorted(material.left_out.items()))
    from pytest_rageval.generation.model_drafts.access import usage_lines
    from pytest_rageval.generation.model_drafts.rewording import wordings_line
    from pytest_rageval.generation.review.acceptance import acceptance_lines

    states = Counter(draft.state for draft in drafts)
    reasons = Counter(draft.reason for draft in drafts if draft.state == "dropped")
    reason_counts = ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(reasons.items(), key=lambda at: (-at[1], at[0]))
    )
    dropped = f"{states['dropped']:,} dropped" + (f" ({reason_counts})" if reason_counts else "")
    waiting = f", {states['waiting']:,} waiting for a correction" if states["waiting"] else ""
    yield from usage_lines(material.usage)
    if wordings := wordings_line(drafts):
        yield wordings
    yield f"{len(drafts):,} draft{'' if len(drafts) == 1 else 's'}: {states['kept']:,} kept, {dropped}{waiting}"
    yield from acceptance_lines(drafts)
    kinds = {"corpus.jsonl": "passage", **{table.file: "row" for table in material.tables.values()}}
    for name, count in counts.items():
        what = kinds.get(name, "case")
        yield f"{material.out / name}: {count:,} {what}{'' if count == 1 else 's'}" + ("" if count else ", not written")
    yield f"{material.out / 'report.md'}: cells, reasons, notes"
    yield from (f"short: {shortage}" for shortage in material.shortages)
