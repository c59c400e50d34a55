"""Encode texts as vectors with a sentence-transformers model."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_rageval.errors import SettingError, ascii_safe, short_repr

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["POOLINGS", "Encoder", "SentenceEncoder", "model_digest", "model_folder"]

POOLINGS = ("model", "cls", "lasttoken", "max", "mean")
"""Ways to combine the vectors of tokens; ``model`` keeps the model's own."""

SUFFIXES = (".bin", ".json", ".model", ".safetensors", ".txt")
BLOCK, BLOCKS = 4096, 256


class Encoder(Protocol):
    """Encodes texts as vectors.

    Attributes:
        digest: identifies the model and the library versions; sha256 in hexadecimal.
    """

    digest: str

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Return one row per text."""
        ...


class SentenceEncoder:
    """A loaded sentence-transformers model.

    Args:
        model: an existing folder, or the name of a model on the Hugging Face hub (or in its cache).
        pooling: one of `POOLINGS`.
        device: a device name of torch; "" leaves the choice to the library.
        batch_size: texts per batch, 1 or more.
        retriever: the retriever that needs the model, for messages; "" for the session's embedding model.

    Raises:
        SettingError: the model cannot be loaded.
    """

    def __init__(self, model: str, pooling: str, device: str, batch_size: int, retriever: str = "dense") -> None:
        from sentence_transformers import SentenceTransformer

        self._batch_size = batch_size
        self._lock = threading.Lock()
        with _silent():
            try:
                original: Any = SentenceTransformer(model, device=device or None)
                self._model = original if pooling == "model" else _with_pooling(original, pooling, device)
                self.digest = _digest(model_folder(model))
                self.encode(["the first call is much slower than the others"])
            except Exception as error:
                why = f"{type(error).__name__}: " + ascii_safe(str(error).partition("\n")[0])
                who = f"the retriever {retriever!r}" if retriever else "rag_embedder_model"
                where = "'model' in rag_retriever_params" if retriever else "the part after its first slash"
                what = (
                    short_repr(model)
                    if Path(model).is_dir()
                    else f"{short_repr(model)}, not a folder beside the ini file,"
                )
                raise SettingError(
                    f"{who} cannot load the model {what} on the device {short_repr(device)} ({why}); "
                    f"set {where} to the folder or the name of a sentence-transformers model"
                ) from None

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Return one row per text; ignore the model's own prompt."""
        import numpy as np

        with self._lock:  # tokenizers are not thread-safe
            rows = self._model.encode(
                list(texts), prompt="", batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return np.ascontiguousarray(rows, dtype=np.float32)


def model_digest(folder: Path) -> str:
    """Return a digest of a model's files.

    It covers files up to 1 MiB in full, and the size and about 256 evenly spread blocks of each larger file. This
    detects retrained weights and takes a few milliseconds.
    """
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.suffix in SUFFIXES}
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
    versions = "\0".join(version(library) for library in ("sentence-transformers", "transformers"))
    return hashlib.sha256(f"{model_digest(folder)}\0{versions}".encode()).hexdigest()


def model_folder(model: str) -> Path:
    """Return the folder of a model: the given folder, or one in the hub's cache; downloads nothing.

    Raises:
        FileNotFoundError: neither exists.
        ValueError: the name is not a valid model name.
    """
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import try_to_load_from_cache

    for name in (model, f"sentence-transformers/{model}"):
        config = try_to_load_from_cache(name, "config.json")
        if isinstance(config, str):
            return Path(config).parent
    raise FileNotFoundError(f"no files of {model} in the cache")


def _with_pooling(model: Any, pooling: str, device: str) -> Any:
    """Return the model with another pooling and without the modules after it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling

    pool = Pooling(model[0].get_embedding_dimension(), pooling_mode=pooling)
    return SentenceTransformer(modules=[model[0], pool], device=device or None)


@contextmanager
def _silent() -> Iterator[None]:
    """Hide the library's progress bars and log messages."""
    from transformers.utils import logging

    has_bar, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bar:
            logging.enable_progress_bar()
