"""The models of a session: clients made from the options, recordings, the budget, the prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_rageval.errors import SettingError, found
from pytest_rageval.hooks.config.settings import Options
from pytest_rageval.llm.client.usage_meter import Meter

if TYPE_CHECKING:
    from threading import Thread

    from pytest_rageval.engine.loop import LoopThread
    from pytest_rageval.errors import ModelError
    from pytest_rageval.hooks.config.models import ModelSetting
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.client.asker import Asker
    from pytest_rageval.llm.client.chat import Client
    from pytest_rageval.llm.client.embedder import Embedder
    from pytest_rageval.llm.client.rate_limiter import Limiter
    from pytest_rageval.llm.recordings.cassettes import Cassettes
    from pytest_rageval.model.chat import Message
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["ASYNC_DEFAULT", "KINDS", "Models"]

A = TypeVar("A", bound="Asker[Any, Any]")

ASYNC_DEFAULT = 16
"""Answers in flight in a process, where answers are awaited."""

WINDOW = 8
"""How many times as many cases are under way, so that one that is tried again holds up no other."""

LOCAL = "sentence-transformers/"
"""What an embedding model that computes on this machine begins with."""

KINDS = {"rag_llm": "model", "rag_judge": "judge", "rag_embedder": "embedding"}
"""The fixture that gives a model -> what its recordings are called."""


class Models:
    """The model clients of one process.

    Args:
        options: what the command line and the ini say.
        recordings: names of the files that were there when the session began; None in the process that began it.
        budget: the file that the session's processes share to keep within the budget.

    Attributes:
        loop: where all models are asked, from whichever event loop they are called; None until the first case.
        outside: what is charged with calls that no case makes: of a session's fixture, of a plain test.
        loading: the thread that imports what asks the models; None where nothing needs it yet.
    """

    def __init__(self, options: Options, recordings: tuple[str, ...] | None, budget: Path | None) -> None:
        self._options = options
        self._recordings = recordings
        self._budget = budget
        self.loop: LoopThread | None = None
        self.loading: Thread | None = None
        self.outside = Meter()
        self._clients: dict[object, Asker[Any, Any]] = {}
        self._limiters: list[Limiter] = []

    @property
    def window(self) -> int:
        """How many cases may be under way at a time."""
        return WINDOW * (self._options.concurrency or ASYNC_DEFAULT)

    @property
    def refusal(self) -> ModelError | None:
        """Why a model can not be asked at all (a bad key, an unknown model); None as long as that is not known."""
        return next((client.refused for client in self._clients.values() if client.refused is not None), None)

    @property
    def in_flight(self) -> int:
        """How many requests are on their way to models now."""
        return sum(limiter.in_flight for limiter in self._limiters)

    @cached_property
    def cassettes(self) -> Cassettes | None:
        """The recordings; None when nothing is recorded or replayed."""
        if self._options.record_mode is None:
            return None
        from pytest_rageval.llm.recordings.cassettes import Cassettes

        return Cassettes(
            self._options.cassettes,
            self._options.record_mode,
            self._recordings,
            root=self._options.folders[0],  # the rootdir
            stale=self._options.stale_recordings,
        )

    @cached_property
    def prompts(self) -> Prompts:
        """The prompts of the built-in systems, with what the ini replaces."""
        from pytest_rageval.systems.prompting import load_prompts

        options = self._options
        return load_prompts(options.prompts, options.rejection, options.error)

    @cached_property
    def budget(self) -> Budget | None:
        """What keeps the calls within ``--rag-budget-usd``; None without one."""
        if self._options.budget_usd is None or self._budget is None:
            return None
        from pytest_rageval.llm.budget import Budget

        return Budget(self._options.budget_usd, self._budget)

    def own(self, fixture: str) -> Client | None:
        """Return the client of the model that the options name for a fixture; None where they name none."""
        name = self.setting(fixture).name
        return None if name is None else self.named(fixture, name)

    def named(self, fixture: str, name: str) -> Client:
        """Return the client of another model, which is asked and tried again as that of a fixture is."""
        from pytest_rageval.llm.client.chat import Client

        return self._own(Client, fixture, name)

    def client_of(self, model: object, fixture: str) -> Client | None:
        """Return the client of what an overridden fixture gave; other than a model is a `SettingError`.

        It is asked with params of its own, but tried again and priced as the options say.
        """
        if model is None:
            return None
        from pytest_rageval.llm.client.chat import Client

        return self._given(Client, model, fixture)

    def own_embedder(self) -> Embedder | None:
        """Return the client of the embedding model that the options name; None where they name none.

        One that computes on this machine is loaded at once, unless all is replayed; one that cannot be is a
        `SettingError`.
        """
        name = self.setting("rag_embedder").name
        if name is None:
            return None
        from pytest_rageval.llm.client.embedder import Embedder

        if self._computes("rag_embedder"):
            return self._local_embedder()
        return self._own(Embedder, "rag_embedder", name)

    def embedder_of(self, model: object) -> Embedder | None:
        """Return the client of what an overridden ``rag_embedder`` gave, as `client_of` does."""
        if model is None:
            return None
        from pytest_rageval.llm.client.embedder import Embedder

        return self._given(Embedder, model, "rag_embedder")

    def wrapped(self, model: object, fixture: str) -> object:
        """Return the client of what an overridden fixture gave, and anything other than a model as it is."""
        if fixture == "rag_embedder":
            return self.embedder_of(model) if callable(getattr(model, "embed", None)) else model
        return self.client_of(model, fixture) if callable(getattr(model, "complete", None)) else model

    def forget(self, fixture: str, model: object) -> None:
        """Let the client go of what an overridden fixture gave; what it has open is the fixture's to close."""
        self._clients.pop((fixture, id(model)), None)

    def preload(self) -> None:
        """Start importing what asks the models on a thread, where a call is going to need it."""
        named = [(fixture, self.setting(fixture).name) for fixture in KINDS if not self._computes(fixture)]
        named += [("rag_judge", name) for name in self._options.panelists]
        asked = [
            (name, self.setting(fixture).params)
            for fixture, name in named
            if name is not None and (self.cassettes is None or self.cassettes.asks(KINDS[fixture], name))
        ]
        if asked:
            from pytest_rageval.llm.backends.named_model import preload

            self.loading = preload(asked)

    async def close(self) -> None:
        """End the clients' connections."""
        for client in self._clients.values():
            await client.close()

    def settle(self) -> list[str]:
        """Sort the recordings, and return the warnings: what could not be written, what may be stale."""
        if "cassettes" not in self.__dict__ or self.cassettes is None:
            return []
        self.cassettes.close()
        fault = self.cassettes.fault
        return [*([] if fault is None else [fault]), *self.cassettes.warnings]

    def setting(self, fixture: str) -> ModelSetting:
        """Return the model that the options name for a fixture."""
        options = self._options
        return {"rag_llm": options.model, "rag_judge": options.judge, "rag_embedder": options.embedder}[fixture]

    def _computes(self, fixture: str) -> bool:
        """Return whether a fixture's model computes on this machine and is asked of no provider."""
        return fixture == "rag_embedder" and str(self.setting(fixture).name).startswith(LOCAL)

    def _local_embedder(self) -> Embedder:
        from pytest_rageval.llm.client.embedder import Embedder
        from pytest_rageval.retrieval.local_embedder import LocalEmbedder

        setting = self.setting("rag_embedder")
        if setting.params:
            raise SettingError(
                f"rag_embedder_params has {next(iter(setting.params))}, and {setting.name} takes no parameters"
            )
        name = str(setting.name)
        key = ("rag_embedder", name)
        backend = None if key in self._clients else LocalEmbedder(name, self._options.beside)
        if backend and (self.cassettes is None or self.cassettes.asks(KINDS["rag_embedder"], name)):
            backend.load()
        return self._client(Embedder, "rag_embedder", backend, name, {}, key=key)

    def _own(self, kind: type[A], fixture: str, name: str) -> A:
        from pytest_rageval.llm.backends.named_model import NamedModel

        return self._client(kind, fixture, NamedModel(name), name, self.setting(fixture).params, key=(fixture, name))

    def _given(self, kind: type[A], model: object, fixture: str) -> A:
        if isinstance(model, kind):
            return model
        if not callable(getattr(model, kind.METHOD.partition("(")[0], None)):
            raise SettingError(f"{fixture} gave {found(model)}; give an object with `async def {kind.METHOD}`")
        name = str(getattr(model, "name", None) or type(model).__name__)
        return self._client(kind, fixture, model, name, {}, key=(fixture, id(model)))

    def _client(
        self, kind: type[A], fixture: str, backend: object, name: str, params: Mapping[str, object], *, key: object
    ) -> A:
        """Return the client that is kept under a key, made when it is first asked for."""
        if key not in self._clients:
            from pytest_rageval.llm.client.rate_limiter import Limiter
            from pytest_rageval.llm.client.reply_cache import ReplyCache
            from pytest_rageval.llm.client.retry import RetryPolicy

            setting = self.setting(fixture)
            limiter = Limiter(self._options.concurrency or ASYNC_DEFAULT)
            self._limiters.append(limiter)
            self._clients[key] = kind(
                backend,
                name=name,
                kind=KINDS[fixture],
                params=params,
                limiter=limiter,
                retry=RetryPolicy(**setting.retry),
                cassettes=self.cassettes,
                kept=ReplyCache() if fixture == "rag_judge" else None,
                budget=self.budget,
                most=self._most(name, setting.params),
                outside=self.outside,
                home=self._at_home,
            )
        return cast("A", self._clients[key])

    async def _at_home(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """Await what ``make`` returns on the session's loop; a test or a sync system may run one of its own."""
        return await (make() if self.loop is None else self.loop.awaited(make))

    def _most(
        self, name: str, rates: Mapping[str, object]
    ) -> Callable[[Sequence[Message], Mapping[str, object]], float | None] | None:
        """Return what prices a call beforehand; None without a budget, so that no tokenizer is read."""
        if self.budget is None:
            return None
        from pytest_rageval.llm.backends.prices import Prices, count_tokens

        if name.startswith(LOCAL):
            return lambda asked, params: 0.0
        prices = cache(lambda: Prices(name, rates))  # which may import litellm for a tiered price

        def most(messages: Sequence[Message], params: Mapping[str, object]) -> float | None:
            return prices().most(count_tokens(name, messages)[0], int(str(params["max_tokens"])))

        return most
