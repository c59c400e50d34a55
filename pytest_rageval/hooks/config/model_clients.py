"""Create the model clients of a process, with recordings, budget and prompts, from the options."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.local_embedder import LOCAL, local_embedder
from pytest_rageval.hooks.config.model_scripts import Scripts, is_offline
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.recordings import cassettes_of
from pytest_rageval.llm.client.usage_meter import Meter

if TYPE_CHECKING:
    from threading import Thread

    from pytest_rageval.engine.loop import LoopThread
    from pytest_rageval.errors import ModelError
    from pytest_rageval.hooks.config.http_recording import HttpRecording
    from pytest_rageval.hooks.config.model_costs import MaxCost
    from pytest_rageval.hooks.config.models import ModelSetting
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.client.base_client import BaseClient
    from pytest_rageval.llm.client.clients import Client, Embedder
    from pytest_rageval.llm.client.rate_limiter import Limiter
    from pytest_rageval.llm.recordings.cassettes import Cassettes
    from pytest_rageval.retrieval.local_embedder import LocalEmbedder
    from pytest_rageval.retrieval.retriever_parts import Network, SearchClient
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["ASYNC_DEFAULT", "KINDS", "Models"]

A = TypeVar("A", bound="BaseClient[Any, Any]")

ASYNC_DEFAULT = 16
"""Default number of concurrent answers in a process, for async systems and models."""

WINDOW = 8
"""Cases in progress per concurrent answer; with several, a case that waits for a retry does not block others."""

KINDS = {"rag_llm": "model", "rag_judge": "judge", "rag_embedder": "embedding"}
"""Fixture of a model -> the kind of its recordings."""


class Models:
    """The model clients of one process.

    Args:
        options: settings of the command line and the ini.
        recordings: names of the cassette files at the session's start; None in the main process.
        budget: the budget file that the session's processes share.

    Attributes:
        loop: the event loop of all model calls, also for callers on other loops; None until the first case.
        outside: meter of the calls outside cases, from session fixtures and plain tests.
        loading: the thread that imports the model backends; None until one is needed.
        own_recordings: the folder for new recordings; None writes them next to the project's.
        scripts: the files of models named ``script:FILE.toml``.
        file_models: names of the models in the files of systems.
    """

    def __init__(self, options: Options, recordings: tuple[str, ...] | None, budget: Path | None) -> None:
        self._options = options
        self._recordings, self._budget = recordings, budget
        self.loop: LoopThread | None = None
        self.loading: Thread | None = None
        self.own_recordings: Path | None = None
        self.scripts = Scripts(options)
        self.outside = Meter()
        self.file_models: dict[str, None] = {}
        self._clients: dict[object, BaseClient[Any, Any]] = {}
        self._limiters: list[Limiter] = []
        self._searches: list[SearchClient] = []

    @property
    def window(self) -> int:
        """The maximum number of cases in progress."""
        return WINDOW * (self._options.concurrency or ASYNC_DEFAULT)

    @property
    def refusal(self) -> ModelError | None:
        """An error that makes a model or search server unusable, such as an invalid key; None if all are usable."""
        clients = (*self._clients.values(), *self._searches)
        return next((client.refused for client in clients if client.refused is not None), None)

    @property
    def in_flight(self) -> int:
        """The number of model requests in flight."""
        return sum(limiter.in_flight for limiter in self._limiters)

    @cached_property
    def cassettes(self) -> Cassettes | None:
        """The recordings; None without a record mode."""
        return cassettes_of(self._options, self._recordings, self.own_recordings)

    @cached_property
    def network(self) -> Network:
        """The limit, recordings and event loop that retrievers over the network share with the models."""
        from pytest_rageval.retrieval.retriever_parts import Network

        return Network(self._options.concurrency or ASYNC_DEFAULT, self.cassettes, self._on_loop, self._searches.append)

    @cached_property
    def http(self) -> HttpRecording | None:
        """The recording of the system's own requests, not started yet; None if no setting asks for it."""
        if self._options.record_http is None and not self._options.proxy:
            return None
        from pytest_rageval.hooks.config.http_recording import HttpRecording

        return HttpRecording(self._options, self.cassettes, self.budget, self.outside)

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts of the built-in systems, with the ini's replacements."""
        from pytest_rageval.systems.prompting import load_prompts

        return load_prompts(self._options.prompts, self._options.rejection, self._options.error)

    @cached_property
    def budget(self) -> Budget | None:
        """The budget of ``--rag-budget-usd``; None without the option."""
        if self._options.budget_usd is None or self._budget is None:
            return None
        from pytest_rageval.llm.budget import Budget

        return Budget(self._options.budget_usd, self._budget)

    def client_of_options(self, fixture: str) -> Client | None:
        """Return the client of the model that the options name for a fixture; None if they name none."""
        name = self.setting(fixture).name
        return None if name is None else self.named(fixture, name)

    def named(self, fixture: str, name: str) -> Client:
        """Return the client of the model ``name``, with the parameters and retries of a fixture's model."""
        from pytest_rageval.llm.client.clients import Client

        return self._named(Client, fixture, name)

    def client_of(self, model: object, fixture: str) -> Client | None:
        """Return the client of an overridden fixture's model; raise `SettingError` if it is not a model.

        The options provide its retries and prices, but no parameters.
        """
        if model is None:
            return None
        from pytest_rageval.llm.client.clients import Client

        return self._wrap(Client, model, fixture)

    def embedder_of_options(self) -> Embedder | None:
        """Return the client of the embedding model that the options name; None if they name none.

        A local model is loaded at once, unless recordings replay all its calls.

        Raises:
            SettingError: a local model cannot be loaded.
        """
        name = self.setting("rag_embedder").name
        if name is None:
            return None
        from pytest_rageval.llm.client.clients import Embedder

        if self._is_local("rag_embedder"):
            return self._local_embedder()
        return self._named(Embedder, "rag_embedder", name)

    @cached_property
    def local_embedder(self) -> LocalEmbedder | None:
        """The embedding model of the options if it runs on this machine, else None; see `local_embedder`."""
        return local_embedder(self._options.embedder, self._options.ini_folder)

    def embedder_of(self, model: object) -> Embedder | None:
        """Return the client of an overridden ``rag_embedder``, like `client_of`."""
        if model is None:
            return None
        from pytest_rageval.llm.client.clients import Embedder

        return self._wrap(Embedder, model, "rag_embedder")

    def wrap(self, model: object, fixture: str) -> object:
        """Return the client of an overridden fixture's model; return a value that is not a model unchanged."""
        if fixture == "rag_embedder":
            return self.embedder_of(model) if callable(getattr(model, "embed", None)) else model
        return self.client_of(model, fixture) if callable(getattr(model, "complete", None)) else model

    def forget(self, fixture: str, model: object) -> None:
        """Forget the client of an overridden fixture's model; the fixture closes the model's connections."""
        self._clients.pop((fixture, id(model)), None)

    @property
    def names(self) -> list[tuple[str, str]]:
        """The models that the options and the files of systems name, each with its fixture."""
        models = [(fixture, self.setting(fixture).name) for fixture in KINDS]
        models += [("rag_judge", name) for name in self._options.panelists]
        models += [("rag_llm", name) for name in {**dict.fromkeys(self._options.system_models), **self.file_models}]
        return [(fixture, name) for fixture, name in models if name is not None]

    def preload(self) -> None:
        """Start a thread that imports the model backends, if a call will need them."""
        imports = [
            (name, self.setting(fixture).params)
            for fixture, name in self.names
            if not self._is_local(fixture)
            and not is_offline(name)
            and (self.cassettes is None or self.cassettes.may_ask(KINDS[fixture], name))
        ]
        if imports:
            from pytest_rageval.llm.backends.named_model import preload

            self.loading = preload(imports)

    async def close(self) -> None:
        """Close the clients' connections."""
        for client in (*self._clients.values(), *self._searches):
            await client.close()

    def close_recordings(self) -> list[str]:
        """Sort and close the recordings; return warnings about recordings, empty searches and calls of no case."""
        http, cassettes = (self.__dict__.get(name) for name in ("http", "cassettes"))
        warnings = [*([] if http is None else http.warnings), *filter(None, (each.warning for each in self._searches))]
        if cassettes is not None:
            cassettes.close()
            warnings += [*([] if cassettes.fault is None else [cassettes.fault]), *cassettes.warnings]
        return warnings

    def setting(self, fixture: str) -> ModelSetting:
        """Return the model that the options name for a fixture."""
        options = self._options
        return {"rag_llm": options.model, "rag_judge": options.judge, "rag_embedder": options.embedder}[fixture]

    def _is_local(self, fixture: str) -> bool:
        """Return whether a fixture's model runs on this machine, without a provider."""
        return fixture == "rag_embedder" and str(self.setting(fixture).name).startswith(LOCAL)

    def _local_embedder(self) -> Embedder:
        from pytest_rageval.llm.client.clients import Embedder

        backend = self.local_embedder
        name = str(self.setting("rag_embedder").name)
        key = ("rag_embedder", name)
        is_new = key not in self._clients
        if is_new and backend and (self.cassettes is None or self.cassettes.may_ask(KINDS["rag_embedder"], name)):
            backend.load()
        return self._client(Embedder, "rag_embedder", backend, name, {}, key=key)

    def _named(self, kind: type[A], fixture: str, name: str) -> A:
        from pytest_rageval.llm.backends.named_model import NamedModel

        backend, setting = self.scripts.model(name) if is_offline(name) else NamedModel(name), self.setting(fixture)
        params = setting.params if self.http is None else self.http.params_without_proxy(setting, name)
        return self._client(kind, fixture, backend, name, params, key=(fixture, name))

    def _wrap(self, kind: type[A], model: object, fixture: str) -> A:
        if isinstance(model, kind):
            return model
        if not callable(getattr(model, kind.METHOD.partition("(")[0], None)):
            raise SettingError(f"{fixture} gave {short_repr(model)}; give an object with `async def {kind.METHOD}`")
        name = str(getattr(model, "name", None) or type(model).__name__)
        return self._client(kind, fixture, model, name, {}, key=(fixture, id(model)))

    def _client(
        self, kind: type[A], fixture: str, backend: object, name: str, params: Mapping[str, object], *, key: object
    ) -> A:
        """Return the client of a key; create it on first use."""
        if key not in self._clients:
            from pytest_rageval.llm.client.rate_limiter import Limiter
            from pytest_rageval.llm.client.reply_cache import ReplyCache
            from pytest_rageval.llm.client.retry import RetryPolicy

            setting, scripted = self.setting(fixture), is_offline(name)
            limiter = Limiter(self._options.concurrency or ASYNC_DEFAULT)
            self._limiters.append(limiter)
            self._clients[key] = kind(
                backend,
                name=name,
                kind=KINDS[fixture],
                params=params,
                limiter=limiter,
                retry=RetryPolicy(1) if scripted else RetryPolicy(**setting.retry),
                cassettes=None if scripted else self.cassettes,
                reply_cache=ReplyCache() if fixture == "rag_judge" and not scripted else None,
                budget=self.budget,
                max_cost=self._max_cost(name, setting.params),
                outside=self.outside,
                run_on_loop=self._on_loop,
            )
        return cast("A", self._clients[key])

    async def _on_loop(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Await ``make()`` on the session's loop; the caller may run on another loop."""
        return await (make() if self.loop is None else self.loop.await_on_loop(make))

    def _max_cost(self, name: str, rates: Mapping[str, object]) -> MaxCost | None:
        """Return the function that bounds a call's cost; None without a budget, which avoids loading a tokenizer."""
        from pytest_rageval.hooks.config.model_costs import free, max_cost

        return None if self.budget is None else free if name.startswith(LOCAL) else max_cost(name, rates)
