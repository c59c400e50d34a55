"""Read and write the folder of a judge: judge.json, and the vectors of its training answers."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import regular_path
from pytest_rageval.judges.values import worth_of
from pytest_rageval.local_judges.features import COSINES, RULES
from pytest_rageval.local_judges.head import Head, Scaling, Threshold
from pytest_rageval.local_judges.judge_model import Certainty, TrainedJudge, Training, UsedEmbedder
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.stored_json import parse_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

__all__ = [
    "ANSWERS", "COSINE_VERSION", "FILE", "FORMAT", "HEAD", "content_of", "digest_of", "feature_versions", "judge_text",
    "metric_digest", "read_content", "read_judge", "rows_from", "rows_to_bytes",
]  # fmt: skip

FILE = "judge.json"
ANSWERS = "answers.npy"
"""The vectors of the training answers, as unit vectors of half precision; only with an embedding model."""

FORMAT = 1
HEAD = "head"
"""The kind of judges that consist of features and logistic regression."""

COSINE_VERSION = 1
_AGAIN = "train it again with rageval judge train"


def metric_digest(judge: Judge) -> str:
    """Return a digest of a judge's name, its labels and their values."""
    worth = worth_of(judge)
    plain = [judge.name, sorted(worth.values.items()), worth.scale]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:16]


def feature_versions(*, cosines: bool) -> dict[str, int]:
    """Return feature -> version, in the order of a judge's weights."""
    versions = {name: feature.version for name, feature in RULES.items()}
    return versions | (dict.fromkeys(COSINES, COSINE_VERSION) if cosines else {})


def content_of(judge: TrainedJudge, rows: bytes | None) -> dict[str, Any]:
    """Return the content of judge.json, without its checksum.

    Args:
        judge: the judge.
        rows: the content of answers.npy; None without cosines.
    """
    plain = {"format": FORMAT, "kind": HEAD, **asdict(judge)}
    if rows is not None:
        plain["answers"] = hashlib.sha256(rows).hexdigest()
    return plain


def judge_text(content: Mapping[str, Any]) -> str:
    """Return the text of judge.json: the content and its checksum. Equal contents give equal texts.

    Raises:
        ValueError: a number is not finite.
    """
    return json.dumps({**content, "checksum": digest_of(content)}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the checksum of the content of judge.json, which is also the digest of the judge.

    Raises:
        ValueError: a number is not finite.
    """
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def read_content(folder: Path, where: str) -> dict[str, Any]:
    """Return the content of a folder's judge.json, with its checksum under "checksum".

    Args:
        folder: the folder that ``rageval judge train`` wrote.
        where: the setting or argument that names it, for messages.

    Raises:
        SettingError: the file is missing, is not a judge, has another format, or was changed.
    """
    shown = ascii_safe(f"{where}: {folder.name}/{FILE}")
    try:
        content = parse_json(regular_path(folder / FILE).read_bytes(), finite=True)
    except FileNotFoundError:
        folder_name = "the folder" if where == str(folder) else ascii_safe(str(folder))
        problem = f"{ascii_safe(where)}: {folder_name} holds no {FILE}; name a folder that rageval judge"
        raise SettingError(f"{problem} train wrote", code="RAG212") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{shown} cannot be read ({ascii_safe(str(error))}); {_AGAIN}", code="RAG212") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        stored_format = content.get("format") if isinstance(content, dict) else None
        raise SettingError(f"{shown} has the format {stored_format!r}, and this version reads {FORMAT}; {_AGAIN}")
    if content.get("checksum") != digest_of({key: value for key, value in content.items() if key != "checksum"}):
        raise SettingError(f"{shown} was changed after the training: its checksum differs; {_AGAIN}")
    return content


def read_judge(content: Mapping[str, Any], where: str) -> TrainedJudge:
    """Return the judge from the content of `read_content`.

    Raises:
        SettingError: the judge is of another kind, or the version of a feature changed.
    """
    if content.get("kind") != HEAD:
        advice = "serve it with rageval judge serve, or name its folder head/"
        raise SettingError(f"{where}: the judge is of kind {content.get('kind')!r}, wanted {HEAD!r}; {advice}")
    try:
        judge = _decode(content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{where}: {FILE} is malformed ({type(error).__name__}: {error}); {_AGAIN}") from None
    current = feature_versions(cosines=True)
    for name, version in judge.features.items():
        if current.get(name) != version:
            difference = f"has version {current[name]}" if name in current else "does not have"
            problem = f"the judge uses the feature {name} in version {version}, which this version of pytest-rageval"
            raise SettingError(f"{where}: {problem} {difference}; {_AGAIN}")
    return judge


def rows_to_bytes(rows: Rows) -> bytes:
    """Return the content of answers.npy: the vectors scaled to length 1, in half precision."""
    import numpy as np

    stream = io.BytesIO()
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.save(stream, (rows / np.where(lengths > 0, lengths, 1)).astype(np.float16), allow_pickle=False)
    return stream.getvalue()


def rows_from(folder: Path, content: Mapping[str, Any], where: str) -> Rows | None:
    """Return the unit vectors of a judge's training answers; None if it has no cosines.

    Raises:
        SettingError: the file is missing or was changed.
    """
    import numpy as np

    digest = content.get("answers")
    if digest is None:
        return None
    try:
        raw = regular_path(folder / ANSWERS).read_bytes()
    except OSError as error:
        problem = f"{where}: {folder.name}/{ANSWERS} cannot be read: {error.strerror or error}; {_AGAIN}"
        raise SettingError(ascii_safe(problem), code="RAG212") from None
    if hashlib.sha256(raw).hexdigest() != digest:
        raise SettingError(ascii_safe(f"{where}: {folder.name}/{ANSWERS} was changed after the training; {_AGAIN}"))
    rows: Rows = np.load(io.BytesIO(raw), allow_pickle=False).astype(np.float32)
    return rows


def _decode(content: Mapping[str, Any]) -> TrainedJudge:
    scalings = {
        language: Scaling(tuple(each["means"]), tuple(each["sds"]))
        for language, each in content["head"]["scalings"].items()
    }
    thresholds = tuple(Threshold(each["intercept"], tuple(each["weights"])) for each in content["head"]["thresholds"])
    embedder, training = content["embedder"], content["training"]
    return TrainedJudge(
        metric=content["metric"],
        metric_digest=content["metric_digest"],
        labels=tuple(content["labels"]),
        values=tuple(content["values"]),
        features=dict(content["features"]),
        head=Head(scalings, thresholds),
        embedder=None if embedder is None else UsedEmbedder(**embedder),
        furthest=content["furthest"],
        certainty=tuple(Certainty(**each) for each in content["certainty"]),
        training=Training(**{**training, "examples": tuple(training.get("examples", ()))}),
        versions=dict(content["versions"]),
        calibration=tuple((n, predicted, share) for n, predicted, share in content["calibration"]),
    )
