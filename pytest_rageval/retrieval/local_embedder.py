"""Use a local sentence-transformers model as the embedding model of the session."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pytest_rageval.errors import MissingDependencyError, SettingError, ascii_safe, short_repr
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Embeddings
from pytest_rageval.retrieval.encoder import SentenceEncoder, model_digest, model_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["LocalEmbedder"]


class LocalEmbedder:
    """An `EmbeddingModel` that computes locally; it loads the model on first use and downloads nothing.

    Args:
        name: ``sentence-transformers/`` and a folder or the name of a model in the cache of the Hugging Face hub, as in
            the ini option.
        folder: the base of a relative folder.

    Attributes:
        revision: digest of the model's files; "" before the model is loaded.
        computes_here: True: another call costs no money.

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

    @property
    def files_digest(self) -> str:
        """The digest of the model's files, without loading the model; raise `SettingError` if there are no files."""
        return model_digest(Path(self._model_folder()))

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row per text; load the model on the first call."""
        return self.load().encode(texts)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one vector per text, computed in a thread; raise `SettingError` if the model cannot be loaded."""
        from asyncio import to_thread

        return Embeddings(await to_thread(self._vectors, list(texts)), Usage(0, 0, 0.0), self.name)

    def load(self) -> SentenceEncoder:
        """Return the model, loaded on the first call; raise `SettingError` if it cannot be loaded."""
        with self._loading:
            if self._encoder is None:
                self._encoder = SentenceEncoder(self._model_folder(), "model", "cpu", 32, retriever="")
                self.revision = self._encoder.digest
            return self._encoder

    def _model_folder(self) -> str:
        """Return the folder of the model; raise `SettingError` if there is none."""
        model = self.name.partition("/")[2]
        path = self._folder / Path(model).expanduser()
        try:
            return str(path if path.is_dir() else model_folder(model))
        except (OSError, ValueError):
            raise SettingError(
                f"rag_embedder_model cannot load the model {short_repr(model)}, not a folder beside the ini file and "
                "not in the cache of Hugging Face; set it to the folder of a sentence-transformers model, or download "
                f"the model first: hf download {ascii_safe(model)}"
            ) from None

    def _vectors(self, texts: list[str]) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, self.vectors(texts).tolist()))
