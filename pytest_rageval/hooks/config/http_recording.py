"""Record the HTTP requests of a user's own system during the session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_rageval.llm.http.hosts import Hosts
from pytest_rageval.llm.http.http_recorder import HttpRecorder
from pytest_rageval.llm.http.patches import Patches
from pytest_rageval.llm.http.price_table import PriceTable
from pytest_rageval.llm.http.proxy import Proxy
from pytest_rageval.llm.http.spending import Spending

if TYPE_CHECKING:
    from pytest_rageval.hooks.config.models import ModelSetting
    from pytest_rageval.hooks.config.options import Options
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.client.usage_meter import Meter
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["HttpRecording"]

VARIABLE = "OPENAI_BASE_URL"
"""The environment variable that sends a system's requests to the proxy."""

OPENAI = "https://api.openai.com/v1"
"""Where the proxy sends requests if the variable is not set."""


class HttpRecording:
    """Wraps the HTTP libraries for ``rag_record_http``, and runs the server of ``rag_proxy``."""

    def __init__(self, options: Options, cassettes: Cassettes | None, budget: Budget | None, outside: Meter) -> None:
        params = {str(each.name): each.params for each in (options.model, options.judge, options.embedder)}
        spending = Spending(PriceTable(params), budget, partial=options.budget_partial)
        self.recorder = recorder = HttpRecorder(options.record_http or Hosts.none(), cassettes, spending, outside)
        self._upstream = (os.environ.get(VARIABLE) or OPENAI) if options.proxy else None
        self._patches = None if options.record_http is None else Patches(recorder)
        self._proxy = None if self._upstream is None else Proxy(recorder, self._upstream)
        self._variable = os.environ.get(VARIABLE)

    @property
    def address(self) -> str | None:
        """The address of the proxy; None without a proxy."""
        return None if self._proxy is None else self._proxy.address

    @property
    def warnings(self) -> list[str]:
        """A warning if calls through the proxy belong to no case."""
        shared = 0 if self._proxy is None else self._proxy.shared
        if not shared:
            return []
        calls = "1 call" if shared == 1 else f"{shared:,} calls"
        return [
            f"rag_proxy: {calls} came while several cases ran, so they count in the session's sum and in no case; "
            "give --rag-concurrency 1 to count each call in its case"
        ]

    @property
    def setting(self) -> str:
        """The setting that makes requests visible."""
        return "rag_proxy" if self._patches is None else "rag_record_http"

    def params_without_proxy(self, setting: ModelSetting, name: str) -> Mapping[str, Any]:
        """Return the parameters of the session's model ``name``, with an address that bypasses the proxy."""
        if self._upstream is None or name.partition("/")[0] not in ("openai", name):
            return setting.params
        return {"api_base": self._upstream, **setting.params}

    def start(self) -> None:
        """Wrap the libraries, start the proxy and put its address in the environment."""
        if self._patches is not None:
            self._patches.install()
        if self._proxy is not None:
            self._proxy.start()
            os.environ[VARIABLE] = self._proxy.address

    def stop(self) -> None:
        """Unwrap the libraries, stop the proxy and restore the environment."""
        if self._patches is not None:
            self._patches.undo()
        if self._proxy is not None and self._proxy.address:
            self._proxy.stop()
            if self._variable is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = self._variable
