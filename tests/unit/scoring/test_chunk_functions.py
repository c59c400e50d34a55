"""A chunk function reports the same error in this process and in worker processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.errors import DataError, MissingDependencyError, RagEvalError, message_with_code
from pytest_rageval.scoring.engines.function import ChunkFunction
from pytest_rageval.scoring.engines.local import LocalEngine


def refuse(argument: bytes, chunk: bytes) -> bytes:
    if argument == b"data":
        raise DataError("cases.jsonl:3", "it has no question", code="RAG202")
    raise MissingDependencyError("the metric 'rouge_l'", "metrics")


@pytest.mark.parametrize("argument", [b"data", b"extra"])
def test_an_error_is_the_same_sentence_with_each_number_of_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: bytes
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    chunks = [tmp_path / "one", tmp_path / "two"]
    for chunk in chunks:
        chunk.write_bytes(b"x")
    messages = []
    for jobs in (1, 2):
        with pytest.raises(RagEvalError) as caught:
            list(LocalEngine(jobs).map(chunks, ChunkFunction("test_chunk_functions:refuse", argument)))
        messages.append(message_with_code(caught.value))
    assert messages[0] == messages[1]
