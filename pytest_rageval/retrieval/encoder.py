"""Texts to vectors, by a model of sentence-transformers."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_rageval.errors import SettingError, ascii_safe, found

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["POOLINGS", "Encoder", "SentenceEncoder", "model_digest", "model_folder"]

POOLINGS = ("model", "cls", "lasttoken", "max", "mean")
"""How the vectors of a text's tokens become its own; ``model`` is as the model says."""

READ = (".bin", ".json", ".model", ".safetensors", ".txt")
BLOCK, BLOCKS = 4096, 256


class Encoder(Protocol):
    """Makes vectors of texts.

    Attributes:
        digest: tells this model, and what it is computed by, from every other; sha256 in hexadecimal.
    """

    digest: str

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Return one row a text."""
        ...


class SentenceEncoder:
    """A model of sentence-transformers, loaded.

    Args:
        model: a folder that is there, or the name of a model on the Hugging Face hub (or in its cache).
        pooling: one of `POOLINGS`.
        device: what it computes on, as torch names it; "" leaves the choice to the library.
        batch_size: texts that are computed at once, 1 or more.
        retriever: what it is loaded for, for messages; "" for the session's embedding model.

    Raises:
        SettingError: the model cannot be loaded.
    """

    def __init__(self, model: str, pooling: str, device: str, batch_size: int, retriever: str = "dense") -> None:
        from sentence_transformers import SentenceTransformer

        self._batch_size = batch_size
        self._lock = threading.Lock()
        with _silent():
            try:
                loaded: Any = SentenceTransformer(model, device=device or None)
                self._model = loaded if pooling == "model" else _pooled(loaded, pooling, device)
                self.digest = _digest(model_folder(model))
                self.encode(["the first text takes many times as long as any other"])
            except Exception as error:
                why = f"{type(error).__name__}: " + ascii_safe(str(error).partition("\n")[0])
                who = f"the retriever {retriever!r}" if retriever else "rag_embedder_model"
                where = "'model' in rag_retriever_params" if retriever else "it behind its first slash"
                what = found(model) if Path(model).is_dir() else f"{found(model)}, which is no folder beside the ini,"
                raise SettingError(
                    f"{who} cannot load the model {what} on the device {found(device)} ({why}); "
                    f"give {where} the folder of a model of sentence-transformers, or its name"
                ) from None

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Return one row a text; a prompt that the model brings along is left out."""
        import numpy as np

        with self._lock:  # a tokenizer bears one thread at a time
            rows = self._model.encode(
                list(texts), prompt="", batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return np.ascontiguousarray(rows, dtype=np.float32)


def model_digest(folder: Path) -> str:
    """Return what tells a model's files from others.

    Settings and vocabularies are read whole, and of larger files the size and 256 blocks that are spread evenly, so
    that weights that were trained on are told from those that they began with, at the cost of a few milliseconds.
    """
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.suffix in READ}
    for name, path in sorted(files.items()):
        size = path.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        step = max(BLOCK, size // BLOCKS)
        with path.open("rb") as file:
            for at in range(0, size, step):
                file.seek(at)
                digest.update(file.read(BLOCK))
    return digest.hexdigest()


def _digest(folder: Path) -> str:
    made_by = "\0".join(version(library) for library in ("sentence-transformers", "transformers"))
    return hashlib.sha256(f"{model_digest(folder)}\0{made_by}".encode()).hexdigest()


def model_folder(model: str) -> Path:
    """Return where the files of a model are: its own folder, or one of the hub's cache; nothing is fetched.

    Raises:
        FileNotFoundError: there is neither.
        ValueError: no model can have this name.
    """
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import try_to_load_from_cache

    for name in (model, f"sentence-transformers/{model}"):
        config = try_to_load_from_cache(name, "config.json")
        if isinstance(config, str):
            return Path(config).parent
    raise FileNotFoundError(f"no files of {model} in the cache")


def _pooled(model: Any, pooling: str, device: str) -> Any:
    """Return the model with another pooling, and nothing after it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling

    pool = Pooling(model[0].get_embedding_dimension(), pooling_mode=pooling)
    return SentenceTransformer(modules=[model[0], pool], device=device or None)


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the library from showing how it loads."""
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()
