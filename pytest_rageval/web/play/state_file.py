"""Store the draft, the last answers and the edited chains, which survive a restart."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rageval.errors import SettingError
from pytest_rageval.folders import atomic_files, make_ignored, regular_path
from pytest_rageval.llm.secrets import to_redacted_json
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.plain import Plain
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.web.play.chain_draft import ChainDraft
from pytest_rageval.web.play.draft import Draft
from pytest_rageval.web.play.page_answer import PageAnswer

__all__ = ["StateFile"]

MALFORMED = (AttributeError, KeyError, OverflowError, TypeError, ValueError)

LARGEST = 1_000_000
"""Maximum characters of a stored answer with its passages; a larger answer is lost when the server ends."""


class StateFile:
    """``state.json`` in ``.rageval/play``; each change replaces the whole file. Secrets are masked.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[Draft, list[PageAnswer], dict[str, ChainDraft]]:
        """Return the draft, the answers (oldest first) and the edited chains; empty ones if the file is malformed.

        A malformed file must not prevent the start, because people can ask its questions again.
        """
        try:
            value = parse_json(regular_path(self.path).read_text(encoding="utf-8"))
            chains = {name: decoder(ChainDraft)(each) for name, each in value["chains"].items()}
            return decoder(Draft)(value["draft"]), [decoder(PageAnswer)(each) for each in value["answers"]], chains
        except (OSError, *MALFORMED):
            return Draft(), [], {}

    def write(self, draft: Draft, answers: Sequence[PageAnswer], chains: Mapping[str, ChainDraft]) -> None:
        """Write the file; if the process is killed, the complete old or new file remains.

        Raises:
            SettingError: it cannot be written.
        """
        texts = (_text(encoder(PageAnswer)(each)) for each in answers)
        stored = [text for text in texts if len(text) <= LARGEST]
        edited = _text({name: encoder(ChainDraft)(each) for name, each in chains.items()})
        draft_text = _text(encoder(Draft)(draft))
        content = f'{{"draft": {draft_text},\n"chains": {edited},\n"answers": [{", ".join(stored)}]}}\n'
        try:
            make_ignored(self.path.parent.parent)
            self.path.parent.mkdir(exist_ok=True)
            with atomic_files(self.path) as (part,), part.open("w", encoding="utf-8") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            reason = error.strerror or type(error).__name__
            problem = f"{self.path}: the state of the page cannot be stored here ({reason}); correct the rights"
            raise SettingError(problem, code="RAG212") from error


def _text(plain: Plain) -> str:
    return to_redacted_json(plain)
