"""The codes of error messages, such as ``RAG101``; docs/troubleshooting.md explains each."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CODES", "KINDS", "OTHER_KIND", "with_code"]

CODES: Mapping[str, str] = {
    # what you write
    "RAG100": "other problem",
    "RAG101": "an option, an ini setting, a marker argument or a suite key is invalid",
    "RAG102": "a name is not known",
    "RAG103": "options contradict or miss each other",
    "RAG104": "a dataset is not written as format:path",
    "RAG105": "a file is missing",
    "RAG106": "an optional dependency is missing",
    "RAG107": "the fixture rag has no case",
    "RAG108": "a marker has no effect",
    "RAG109": "a selection matches no case",
    "RAG110": "a gate is malformed",
    "RAG111": "a bound is outside 0..1",
    "RAG112": "a gate matches no case",
    "RAG113": "a gate needs a baseline",
    "RAG114": "a gate of the command line does not exist",
    "RAG115": "a hook raises an error",
    # data
    "RAG201": "a record or a file is malformed",
    "RAG202": "a field is missing or has another form",
    "RAG203": "an id is used twice",
    "RAG204": "a file is not UTF-8 text",
    "RAG205": "labels fit no record",
    "RAG206": "no judged document is in the corpus",
    "RAG210": "the baseline does not exist",
    "RAG211": "the baseline cannot be read",
    "RAG212": "a stored run or a file cannot be read or written",
    # cases
    "RAG300": "a case is an error of another kind",
    "RAG301": "a system or retriever returns the wrong type",
    "RAG302": "a system raises an error",
    "RAG303": "a system cannot be built",
    "RAG304": "a system has no passages",
    "RAG305": "a case has no recorded answer or ranking",
    "RAG306": "a retriever raises an error",
    "RAG307": "a metric raises an error",
    "RAG308": "a judge fails",
    "RAG309": "an embedding cannot be used",
    "RAG310": "a label, ranking or facet of a case cannot be used",
    "RAG311": "a score has no value",
    "RAG312": "a case was cancelled",
    "RAG313": "a service that the system needs failed",
    # models
    "RAG401": "a provider refuses the credentials",
    "RAG402": "a model or a search index is not known",
    "RAG403": "a provider or a search server does not answer",
    "RAG404": "a provider refuses the request",
    "RAG405": "a request is too long",
    "RAG406": "a provider filters the content",
    "RAG407": "a reply is cut off or empty",
    "RAG408": "a reply cannot be read",
    "RAG409": "an address is not that of a model or a search server",
    "RAG410": "the budget is used up",
    "RAG411": "a call is not recorded",
    "RAG412": "a recording cannot be read",
    "RAG413": "a budget cannot be kept",
    "RAG414": "a script has no reply",
    # runs
    "RAG501": "a run cannot be resumed",
    "RAG502": "a run does not exist",
    "RAG503": "shards cannot be merged",
    "RAG504": "workers on other machines cannot do this",
}
"""Code -> what is wrong."""

KINDS: Mapping[str, str] = {
    "system_contract": "RAG301",
    "system_error": "RAG302",
    "system_build": "RAG303",
    "no_passages": "RAG304",
    "no_recorded_answer": "RAG305",
    "not_in_run": "RAG305",
    "metric_error": "RAG307",
    "judge_error": "RAG308",
    "embedder_error": "RAG309",
    "bad_vector": "RAG309",
    "bad_facet": "RAG310",
    "bad_qrels": "RAG310",
    "bad_ranking": "RAG310",
    "empty_query": "RAG310",
    "cancelled": "RAG312",
    "tool_unavailable": "RAG313",
    "model_error": "RAG313",
    "auth": "RAG401",
    "not_found": "RAG402",
    "rate_limited": "RAG403",
    "timeout": "RAG403",
    "connection": "RAG403",
    "server_error": "RAG403",
    "bad_request": "RAG404",
    "no_tools": "RAG404",
    "context_length": "RAG405",
    "content_filter": "RAG406",
    "filtered": "RAG406",
    "cut_off": "RAG407",
    "empty_reply": "RAG407",
    "malformed_response": "RAG408",
    "truncated": "RAG408",
    "too_large": "RAG408",
    "bad_address": "RAG409",
    "bad_protocol": "RAG409",
    "budget": "RAG410",
    "not_recorded": "RAG411",
    "no_reply": "RAG414",
}
"""Kind of a case's error -> its code."""

OTHER_KIND = "RAG300"
"""The code of any other kind of a case's error."""


def with_code(message: str, code: str) -> str:
    """Return a message with a code at the end of its first line; unchanged if that line already has a code."""
    first, newline, rest = message.partition("\n")
    return message if first[-7:-1] in CODES else f"{first} [{code}]{newline}{rest}"
