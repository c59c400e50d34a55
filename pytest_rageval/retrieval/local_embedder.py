"""A model of sentence-transformers as the session's embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe, found
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Embeddings
from pytest_rageval.retrieval.encoder import SentenceEncoder, model_folder

__all__ = ["LocalEmbedder"]


class LocalEmbedder:
    """An `EmbeddingModel` that computes on this machine; the model is loaded when it is first asked, if not before.

    Args:
        name: as the ini has it: ``sentence-transformers/`` and a folder, or a name on the Hugging Face hub, of a model
            that is in its cache; nothing is fetched.
        folder: what folders are relative to.

    Attributes:
        revision: tells the model's files from others, once it is loaded; "" before.
        computes_here: whether asking it again costs nothing.

    Raises:
        MissingDependencyError: sentence-transformers is not installed.
    """

    computes_here = True

    def __init__(self, name: str, folder: Path) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingDependencyError(f"rag_embedder_model = {name}", "dense")
        self.name = name
        self.revision = ""
        self._folder = folder
        self._encoder: SentenceEncoder | None = None
        self._loading = Lock()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one vector a text, computed on a thread; a model that cannot be loaded is a `SettingError`."""
        from asyncio import to_thread

        return Embeddings(await to_thread(self._vectors, list(texts)), Usage(0, 0, 0.0), self.name)

    def load(self) -> SentenceEncoder:
        """Return the model, loaded when it is first called; one that cannot be loaded is a `SettingError`."""
        with self._loading:
            if self._encoder is None:
                self._encoder = SentenceEncoder(self._place(), "model", "cpu", 32, retriever="")
                self.revision = self._encoder.digest
            return self._encoder

    def _place(self) -> str:
        model = self.name.partition("/")[2]
        path = self._folder / Path(model).expanduser()
        try:
            return str(path if path.is_dir() else model_folder(model))
        except (OSError, ValueError):
            raise SettingError(
                f"rag_embedder_model cannot load the model {found(model)}, which is no folder beside the ini and not "
                "in the cache of Hugging Face; give the folder of a model of sentence-transformers, or its name there "
                f"and fetch it before: hf download {ascii_safe(model)}"
            ) from None

    def _vectors(self, texts: list[str]) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, self.load().encode(texts).tolist()))
