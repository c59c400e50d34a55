"""What ranking metrics cost: ours, case by case, against ir_measures over all queries at once.

    python tests/benchmarks/ranking_metrics.py [--queries N] [--documents N] [--rounds N]

Both sides score the same rankings, of 100 documents with 10 judged ones among them and 10 elsewhere, by the same
measures; the values are compared. ir_measures gets lists of `ScoredDoc` and `Qrel`, as in its documentation, and nested
dicts, its fastest input. Target: the project's side takes at most as long as either. Measured: it meets the target
against lists, not against dicts.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from statistics import median

import ir_measures
from measuring import table

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

NAMES = ("nDCG@10", "AP", "RR", "P@5", "R@5", "Success@5", "Rprec")
CORPUS, N_JUDGED = 100_000, 10
GRADES = (0, 1, 1, 2, 3)

Values = dict[tuple[str, str], float]


def random_rankings(queries: int, documents: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return random qrels and a random run."""
    chance = random.Random(7)
    qrels, run = {}, {}
    for number in range(queries):
        names = [f"d{n}" for n in chance.sample(range(CORPUS), documents)]
        judged_docs = [*chance.sample(names, N_JUDGED), *(f"e{n}" for n in chance.sample(range(CORPUS), N_JUDGED))]
        run[f"q{number}"] = dict(zip(names, sorted((chance.random() for _ in names), reverse=True), strict=True))
        qrels[f"q{number}"] = {name: chance.choice(GRADES) for name in judged_docs}
    return qrels, run


def samples_of(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> list[Sample]:
    """Return qrels and run as samples for the project's metrics."""
    samples = []
    for name, doc_scores in run.items():
        ranking = Ranking(tuple(ScoredPassage(doc, score) for doc, score in doc_scores.items()))
        case = Case(name, Instance(name, "?", qrels=qrels[name]), None, {})
        samples.append(Sample(case, Answer("", ranking)))
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description="What metrics of rankings cost.")
    parser.add_argument("--queries", type=int, default=10_000, help="queries (default: %(default)s)")
    parser.add_argument("--documents", type=int, default=100, help="documents a query (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: %(default)s)")
    args = parser.parse_args()
    qrels, run = random_rankings(args.queries, args.documents)
    samples = samples_of(qrels, run)
    qrel_list = [ir_measures.Qrel(q, doc, grade) for q, docs in qrels.items() for doc, grade in docs.items()]
    run_list = [ir_measures.ScoredDoc(q, doc, score) for q, docs in run.items() for doc, score in docs.items()]
    measures = [ir_measures.parse_measure(name) for name in NAMES]
    metrics = [Catalog().metrics.get(name) for name in NAMES]

    def ours() -> Values:
        scores = ((s.case.id, metric.name, metric.compute(s).value) for s in samples for metric in metrics)
        return {(query, name): value for query, name, value in scores if value is not None}

    def theirs(judgements: object, results: object) -> Values:
        values = ir_measures.iter_calc(measures, judgements, results)
        return {(value.query_id, str(value.measure)): value.value for value in values}

    sides: dict[str, Callable[[], Values]] = {
        "pytest-rageval": ours,
        "ir_measures, lists": lambda: theirs(qrel_list, run_list),
        "ir_measures, dicts": lambda: theirs(qrels, run),
    }
    times: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(args.rounds + 1):
        results = {}
        for side in sides if number % 2 else reversed(sides):
            start = time.perf_counter()
            results[side] = sides[side]()
            if number:
                times[side].append(time.perf_counter() - start)
        assert len(results["pytest-rageval"]) == args.queries * len(NAMES)
        assert all(values == results["pytest-rageval"] for values in results.values())
    seconds = {side: median(each) for side, each in times.items()}
    rows = [[f"{args.queries:,} x {args.documents}, {len(NAMES)} measures", "s", "us a query", "ratio"]]
    for side, took in seconds.items():
        ratio = seconds["pytest-rageval"] / took
        rows.append([side, f"{took:.2f}", f"{took / args.queries * 1e6:.0f}", f"{ratio:.2f}"])
    print(table([*rows, ["wished", "", "", "<= 1.00"]]))


if __name__ == "__main__":
    main()
