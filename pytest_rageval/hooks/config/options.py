"""Declare the command line options and ini settings."""

from __future__ import annotations

import argparse

import pytest

__all__ = ["add_options"]


def add_options(parser: pytest.Parser) -> None:
    """Add the group "rag" and the ini settings."""
    add = parser.getgroup("rag", "RAG regression testing").addoption
    add("--rag-system", action="append", default=[], metavar="NAME",
        help="system under test: module:attr or a registered name; repeat to compare several")  # fmt: skip
    add("--rag-answers", metavar="PATH", help="score recorded answers (JSONL) instead of calling a system")
    add("--rag-limit", type=_positive, metavar="N", help="run only the first N cases of each testbed")
    add("--rag-sample", type=_positive, metavar="N", help="run N cases of each testbed, stratified by topic and task")
    add("--rag-shard", type=_shard, metavar="I/N", help="run one machine's share of the cases, such as 1/3; 'rageval "
        "merge' joins the results and decides the gates")  # fmt: skip
    add("--rag-seed", type=int, metavar="S", help="seed for assemblies and samples (default: the marker's, else 0)")
    add("--rag-gate", action="append", default=[], metavar="EXPR", help="a gate over the session, for instance "
        "'accuracy[noise_rate=0.8] >= 70%%'; may be repeated")  # fmt: skip
    add("--rag-matrix", metavar="METRIC", help="metric of the printed matrix (default: each testbed's primary metric)")
    add("--rag-rows", metavar="FACET", help="rows of the matrix (default: topic)")
    add("--rag-cols", metavar="FACET", help="columns of the matrix (default: task)")
    add("--rag-model", metavar="MODEL", help="the model of the systems, by its litellm name (openai/gpt-4o-mini)")
    add("--rag-judge-model", metavar="MODEL", help="the model that judges, by its litellm name")
    add("--rag-concurrency", type=_positive, metavar="N", help="concurrent answers in a process (default: 16 for async "
        "systems and models, 1 for a sync callable)")  # fmt: skip
    add("--rag-record-mode", choices=("none", "once", "new_episodes", "all"), help="record and replay every model "
        "call: none = only replay, all = only record (default: neither)")  # fmt: skip
    add("--rag-repeat", type=_positive, default=1, metavar="K", help="run each case K times and report the variation")
    add(
        "--rag-budget-usd",
        type=_dollars,
        metavar="X",
        help="stop before the model calls cost more than X",
    )
    add("--rag-budget-partial", action="store_true", help="with --rag-budget-usd: bound only the visible calls, "
        "although calls of your own system are invisible")  # fmt: skip
    add("--rag-dry-run", action="store_true", help="report numbers of cases, calls, tokens, and cost; run nothing")
    add("--rag-resume", nargs="?", const="", metavar="RUN", help="resume a run, by its name or folder "
        "(default: the newest that is unfinished or has errors)")  # fmt: skip
    add("--rag-json", metavar="PATH", help="also write results.json to PATH")
    add("--rag-html", metavar="PATH", help="write an HTML page of the run to PATH, as a single file")
    add("--rag-mlflow", metavar="URI", help="log each system as an MLflow run, to a server, a database or a folder")
    add("--rag-markdown", metavar="PATH", help="write a report for a pull request comment to PATH")
    add("--rag-baseline", metavar="PATH", help="compare the run with this committed baseline")
    add("--rag-update-baseline", action="store_true", help="replace the baseline with this run")
    add(
        "--rag-update-baseline-part",
        action="store_true",
        help="update only the cases that ran in the baseline",
    )
    _add_settings(parser)


def _add_settings(parser: pytest.Parser) -> None:
    parser.addini("rag_baseline", "the committed baseline, like --rag-baseline", default="")
    parser.addini("rag_alpha", "accepted chance of a false alarm in a comparison, as a share", default="0.05")
    parser.addini("rag_alpha_per", "session or gate: what rag_alpha applies to", default="session")
    parser.addini("rag_min_compared", "least share of a gate's baseline cases to compare", default="0.5")
    parser.addini("rag_inconclusive", "pass, warn or fail for a drop that is not significant", default="warn")
    parser.addini("rag_partial_gates", "skip, decide or fail a gate with a fixed bound over a part of its cases "
        "(node ids, -k, --lf, --rag-limit; not -m or paths)", default="skip")  # fmt: skip
    parser.addini("rag_system", "system under test, like --rag-system", type="linelist")
    parser.addini("rag_gates", "gates over the session, one per line", type="linelist")
    parser.addini("rag_cluster", "the facet whose value dependent cases share, for testbeds without cluster",
        default="dialogue")  # fmt: skip
    parser.addini("rag_corpus", "the corpus to search: paths, globs or format:path, one per line", type="linelist")
    parser.addini("rag_chunking", "chunking of rag_corpus: none, tokens SIZE [OVERLAP], sentences SIZE [OVERLAP] "
        "or sections", default="none")  # fmt: skip
    parser.addini("rag_retriever", "retriever over rag_corpus: bm25, a registered name, or run:FILE", default="bm25")
    parser.addini("rag_retriever_params", "parameters of rag_retriever: 'name = value', one per line", type="linelist")
    parser.addini("rag_top_k", "number of passages to retrieve (default 5)", default="")
    parser.addini("rag_model", "the model of the systems, like --rag-model", default="")
    parser.addini("rag_judge_model", "the model that judges, like --rag-judge-model", default="")
    parser.addini("rag_judge_labels", "file of people's labels of answers, to check judges against", default="")
    parser.addini("rag_judge_min_kappa", "minimum kappa with the labels: a number, or 'judge: number', one per line",
        type="linelist")  # fmt: skip
    parser.addini("rag_embedder_model", "the embedding model, by its litellm name", default="")
    parser.addini("rag_model_params", "parameters of rag_model: 'name = value', one per line", type="linelist")
    parser.addini("rag_judge_params", "parameters of rag_judge_model: 'name = value', one per line", type="linelist")
    parser.addini("rag_judges", "panel of a metric: 'metric: model, model; option', one per line", type="linelist")
    parser.addini("rag_embedder_params", "parameters of rag_embedder_model: 'name = value'", type="linelist")
    parser.addini("rag_concurrency", "concurrent answers in a process, like --rag-concurrency", default="")
    parser.addini("rag_record_mode", "record and replay model calls, like --rag-record-mode", default="")
    parser.addini("rag_cassettes", "folder of the recordings, relative to the ini", default="cassettes")
    parser.addini("rag_stale_recordings", "error, warn or replay if the code of a recorded function has changed",
        default="error")  # fmt: skip
    parser.addini("rag_prompts", "your own prompts: 'language: file.toml', one per line", type="linelist")
    parser.addini("rag_rejection_sentence", "what to answer without evidence: 'language: text'", type="linelist")
    parser.addini("rag_error_sentence", "what to answer about false passages: 'language: text'", type="linelist")
    parser.addini("rag_report_texts", "whether reports contain texts of data and answers", type="bool", default=True)
    parser.addini("rag_secrets", "environment variables to mask in all output, * allowed", type="args")
    parser.addini(
        "rag_keep_runs",
        "number of runs to keep in .rageval/runs, or all, and their size (default 50, 2 GB)",
        default="50, 2 GB",
    )
    parser.addini("rag_user_dict", "extra words for segmenting Chinese: files in jieba's format", type="linelist")
    parser.addini("rag_rejection_markers", "texts of a rejection: 'language: text', one per line", type="linelist")
    parser.addini("rag_error_markers", "texts of a detected error: 'language: text', one per line", type="linelist")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise argparse.ArgumentTypeError(f"{text!r} is no shard; write I/N, from 1/N to N/N")


def _dollars(text: str) -> float:
    try:
        dollars = float(text)
    except ValueError:
        dollars = -1.0
    if not 0 <= dollars < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of 0 or more US dollars")
    return dollars
