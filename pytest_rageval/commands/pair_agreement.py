"""``rageval agreement PAIRS [RUN...]``: compare metrics with people's preferences."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.commands.analyses.load_and_write import load_joined_runs
from pytest_rageval.datasets.pair_labels import PairLabel, read_pairs
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.judges.values import Worth
from pytest_rageval.report.run.pair_agreement import MatchedPairs, match_pairs, measure_preference_agreement
from pytest_rageval.report.terminal.pair_tables import pairs_json, pairs_lines

__all__ = ["agreement_of_pairs"]


def agreement_of_pairs(
    path: Path, runs: Sequence[str], worth: Worth, *, metrics: Sequence[str], by: str, as_json: bool
) -> Iterator[str]:
    """Yield how often differences of metrics agree with people's preferences, as lines or as one JSON text.

    Args:
        path: the file of preferences.
        runs: names of runs, or paths of results.json files; they are joined. An empty list means the newest run.
        worth: the scale of preferences that are numbers.
        metrics: the metrics to compare; empty for those that the preferences name, else all answer metrics.
        by: a facet to slice by, or "".
        as_json: yield one JSON text instead of lines.

    Raises:
        RagEvalError: the preferences or a run cannot be read, or no preference belongs to two answers of the runs.
    """
    labels = read_pairs(path, worth)
    stored = load_joined_runs(runs)
    matches = match_pairs(labels, stored.outcomes)
    if not matches.pairs:
        raise DataError(shown_path(path), _mismatch(labels, matches))
    result = measure_preference_agreement(matches, stored.outcomes, metrics, stored.metrics, by=by)
    if as_json:
        yield json.dumps({"runs": list(stored.names), **pairs_json(result)}, indent=1)
        return
    yield f"run {', '.join(stored.names)}"
    yield from pairs_lines(result, shutil.get_terminal_size().columns)


def _mismatch(labels: Sequence[PairLabel], matches: MatchedPairs) -> str:
    if len(matches.blank) == len(labels):
        return f"none of its {len(labels)} rows has a preference yet; fill in the column preferred"
    why, rest = max(matches.unmatched.items(), key=lambda entry: len(entry[1]))
    return (
        f"no pair belongs to two answers of the run: {len(rest)} of {len(labels)} are {why}, "
        f"for example {short_repr(rest[0].id)} ({rest[0].where}); name another file or run"
    )
