"""Record what your system does on the way to an answer: tool calls, searches, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler

__all__ = ["langchain"]


def langchain() -> BaseCallbackHandler:
    """Return a callback handler that records the steps of LangChain and LangGraph.

    Pass it as ``config={"callbacks": [tracing.langchain()]}``. Use it without other instrumentation.
    """
    from pytest_rageval.trace.langchain import langchain_handler

    return langchain_handler()
