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
    add("--rag-seed", type=int, metavar="S", help="seed of assemblies and samples (default: the marker's, else 0)")
    add("--rag-gate", action="append", default=[], metavar="EXPR", help="a gate over the session, for instance "
        "'accuracy[noise_rate=0.8] >= 70%%'; may be repeated")  # fmt: skip
    add("--rag-matrix", metavar="METRIC", help="metric of the printed matrix (default: each testbed's primary one)")
    add("--rag-rows", metavar="FACET", help="rows of the matrix (default: topic)")
    add("--rag-cols", metavar="FACET", help="columns of the matrix (default: task)")
    add("--rag-json", metavar="PATH", help="write results.json here too")
    parser.addini("rag_system", "system under test, as --rag-system", type="linelist")
    parser.addini("rag_gates", "gates over the session, one a line", type="linelist")
    parser.addini("rag_retriever", "retriever over rag_corpus: bm25 or a registered name", default="bm25")
    parser.addini("rag_top_k", "passages a retriever is asked for (default 5)", default="5")
    parser.addini("rag_report_texts", "whether reports hold texts of data and answers", type="bool", default=True)
    parser.addini("rag_rejection_markers", "what marks a rejection: 'language: text', one a line", type="linelist")
    parser.addini("rag_error_markers", "what marks a detected error: 'language: text', one a line", type="linelist")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
