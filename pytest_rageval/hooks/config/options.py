"""Command line options and ini settings."""

from __future__ import annotations

import argparse

import pytest

__all__ = ["add_options"]


def add_options(parser: pytest.Parser) -> None:
    """Add the group "rag" and the ini settings."""
    add = parser.getgroup("rag", "RAG regression testing").addoption
    add("--rag-system", action="append", default=[], metavar="NAME",
        help="system under test: module:attr or a registered name; several are compared")  # fmt: skip
    add("--rag-answers", metavar="PATH", help="score recorded answers (JSONL) instead of calling a system")
    add("--rag-limit", type=_positive, metavar="N", help="only the first N cases of each testbed")
    add("--rag-sample", type=_positive, metavar="N", help="N cases of each testbed, stratified over topic x task")
    add("--rag-shard", type=_shard, metavar="I/N", help="this machine's share of the cases, as 1/3; 'rageval merge' "
        "joins the results and decides the gates")  # fmt: skip
    add("--rag-seed", type=int, metavar="S", help="seed of assemblies and samples (default: the marker's, else 0)")
    add("--rag-gate", action="append", default=[], metavar="EXPR", help="a gate over the session, for instance "
        "'accuracy[noise_rate=0.8] >= 70%%'; may be repeated")  # fmt: skip
    add("--rag-matrix", metavar="METRIC", help="metric of the printed matrix (default: each testbed's primary one)")
    add("--rag-rows", metavar="FACET", help="rows of the matrix (default: topic)")
    add("--rag-cols", metavar="FACET", help="columns of the matrix (default: task)")
    add("--rag-model", metavar="MODEL", help="the model behind the systems, as litellm names it (openai/gpt-4o-mini)")
    add("--rag-judge-model", metavar="MODEL", help="the model that judged metrics ask, as litellm names it")
    add("--rag-concurrency", type=_positive, metavar="N", help="answers in flight in a process (default: 16 for async "
        "systems and models, 1 for a sync callable)")  # fmt: skip
    add("--rag-record-mode", choices=("none", "once", "new_episodes", "all"), help="record and replay every model "
        "call: none = only replay, all = only record (default: neither)")  # fmt: skip
    add("--rag-repeat", type=_positive, default=1, metavar="K", help="run each case K times and report how it varies")
    add(
        "--rag-budget-usd",
        type=_dollars,
        metavar="X",
        help="stop before the models' calls have cost more than this",
    )
    add("--rag-budget-partial", action="store_true", help="with --rag-budget-usd: bound what is seen, although calls "
        "of a system of your own are not")  # fmt: skip
    add("--rag-dry-run", action="store_true", help="count cases, calls, tokens and cost, and run nothing")
    add("--rag-resume", nargs="?", const="", metavar="RUN", help="go on where a run stopped: its name or its folder "
        "(default: the newest that did not end)")  # fmt: skip
    add("--rag-json", metavar="PATH", help="write results.json here too")
    add("--rag-html", metavar="PATH", help="write a page of the whole run here, one file that a browser opens")
    add("--rag-mlflow", metavar="URI", help="log each system as a run of MLflow: a server, a database or a folder")
    add("--rag-markdown", metavar="PATH", help="write the report as a comment for a pull request here")
    add("--rag-baseline", metavar="PATH", help="compare with this committed baseline")
    add("--rag-update-baseline", action="store_true", help="write the baseline anew from this run")
    add("--rag-update-baseline-part", action="store_true", help="write to the baseline what ran, and keep the rest")
    _add_settings(parser)


def _add_settings(parser: pytest.Parser) -> None:
    parser.addini("rag_baseline", "the committed baseline, as --rag-baseline", default="")
    parser.addini("rag_alpha", "chance of a false alarm when runs are compared, as a share", default="0.05")
    parser.addini("rag_alpha_per", "session or gate: what rag_alpha holds for", default="session")
    parser.addini("rag_min_compared", "share of its baseline that a gate has to be compared with", default="0.5")
    parser.addini("rag_inconclusive", "pass, warn or fail where a drop may be noise", default="warn")
    parser.addini("rag_partial_gates", "skip, decide or fail a gate with a fixed bound over a part of its cases "
        "(node ids, -k, --lf, --rag-limit; not -m or paths)", default="skip")  # fmt: skip
    parser.addini("rag_system", "system under test, as --rag-system", type="linelist")
    parser.addini("rag_gates", "gates over the session, one a line", type="linelist")
    parser.addini("rag_cluster", "the facet whose value dependent cases share, for testbeds that name none",
        default="dialogue")  # fmt: skip
    parser.addini("rag_corpus", "what is searched: paths, globs or format:path, one a line", type="linelist")
    parser.addini("rag_chunking", "how rag_corpus is cut: none, tokens SIZE [OVERLAP], sentences SIZE [OVERLAP] "
        "or sections", default="none")  # fmt: skip
    parser.addini("rag_retriever", "retriever over rag_corpus: bm25 or a registered name; or run:FILE", default="bm25")
    parser.addini("rag_retriever_params", "what it is made with: 'name = value', one a line", type="linelist")
    parser.addini("rag_top_k", "passages a retriever is asked for (default 5)", default="")
    parser.addini("rag_model", "the model behind the systems, as --rag-model", default="")
    parser.addini("rag_judge_model", "the model that judges, as --rag-judge-model", default="")
    parser.addini("rag_judge_labels", "people's labels of answers that judges are measured by", default="")
    parser.addini("rag_judge_min_kappa", "the least kappa with them: a number, or 'judge: number', one a line",
        type="linelist")  # fmt: skip
    parser.addini("rag_embedder_model", "the model that turns texts into vectors, as litellm names it", default="")
    parser.addini("rag_model_params", "what the model is asked with: 'name = value', one a line", type="linelist")
    parser.addini("rag_judge_params", "what the judge is asked with: 'name = value', one a line", type="linelist")
    parser.addini("rag_judges", "who judges a metric: 'metric: model, model; option', one a line", type="linelist")
    parser.addini("rag_embedder_params", "what rag_embedder_model is asked with: 'name = value'", type="linelist")
    parser.addini("rag_concurrency", "answers in flight in a process, as --rag-concurrency", default="")
    parser.addini("rag_record_mode", "record and replay model calls, as --rag-record-mode", default="")
    parser.addini("rag_cassettes", "folder of the recordings, from the ini (default cassettes)", default="cassettes")
    parser.addini("rag_stale_recordings", "error, warn or replay if the code of a recorded function has changed",
        default="error")  # fmt: skip
    parser.addini("rag_prompts", "prompts of one's own: 'language: file.toml', one a line", type="linelist")
    parser.addini("rag_rejection_sentence", "what to say without evidence: 'language: text'", type="linelist")
    parser.addini("rag_error_sentence", "what to say of false passages: 'language: text'", type="linelist")
    parser.addini("rag_report_texts", "whether reports hold texts of data and answers", type="bool", default=True)
    parser.addini("rag_secrets", "variables whose values are masked in all that is written, * allowed", type="args")
    parser.addini(
        "rag_keep_runs",
        "how many runs .rageval/runs keeps, or all, and their size (default 50, 2 GB)",
        default="50, 2 GB",
    )
    parser.addini("rag_user_dict", "words that Chinese is cut by beside jieba's: files in its format", type="linelist")
    parser.addini("rag_rejection_markers", "what marks a rejection: 'language: text', one a line", type="linelist")
    parser.addini("rag_error_markers", "what marks a detected error: 'language: text', one a line", type="linelist")


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
