"""The models of a session: clients made from the options, recordings, the budget, the prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, found
from pytest_rageval.hooks.given import Options

if TYPE_CHECKING:
    from pytest_rageval.errors import ModelError
    from pytest_rageval.hooks.model_options import ModelSetting
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.cassettes import Cassettes
    from pytest_rageval.llm.client import Client
    from pytest_rageval.model.chat import ChatModel, Message
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["ASYNC_DEFAULT", "KINDS", "Models"]

ASYNC_DEFAULT = 16
"""Answers in flight in a process, where answers are awaited."""

WINDOW = 8
"""How many times as many cases are under way, so that one that is tried again holds up no other."""

KINDS = {"rag_llm": "model", "rag_judge": "judge"}
"""The fixture that gives a model -> what its recordings are called."""


class Models:
    """The model clients of one process.

    Args:
        options: what the command line and the ini say.
        recordings: names of the files that were there when the session began; None in the process that began it.
        budget: the file that the session's processes share to keep within the budget.
    """

    def __init__(self, options: Options, recordings: tuple[str, ...] | None, budget: Path | None) -> None:
        self._options = options
        self._recordings = recordings
        self._budget = budget
        self._clients: dict[object, Client] = {}

    @property
    def window(self) -> int:
        """How many cases may be under way at a time."""
        return WINDOW * (self._options.concurrency or ASYNC_DEFAULT)

    @property
    def refusal(self) -> ModelError | None:
        """Why a model can not be asked at all (a bad key, an unknown model); None as long as that is not known."""
        return next((client.refused for client in self._clients.values() if client.refused is not None), None)

    @cached_property
    def cassettes(self) -> Cassettes | None:
        """The recordings; None when nothing is recorded or replayed."""
        if self._options.record_mode is None:
            return None
        from pytest_rageval.llm.cassettes import Cassettes

        return Cassettes(self._options.cassettes, self._options.record_mode, self._recordings)

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
        setting = self.setting(fixture)
        if setting.name is None:
            return None
        if fixture not in self._clients:
            from pytest_rageval.llm.litellm_backend import LiteLLM

            self._clients[fixture] = self._client(LiteLLM(setting.name), setting.name, fixture, setting.params)
        return self._clients[fixture]

    def client_of(self, model: object, fixture: str) -> Client | None:
        """Return the client of what an overridden fixture gave; other than a model is a `SettingError`.

        It is asked with params of its own, but tried again and priced as the options say.
        """
        if model is None:
            return None
        from pytest_rageval.llm.client import Client

        if isinstance(model, Client):
            return model
        if not callable(getattr(model, "complete", None)):
            raise SettingError(
                f"{fixture} gave {found(model)}; give an object with `async def complete(messages, **params)`"
            )
        key = (fixture, id(model))
        if key not in self._clients:
            name = str(getattr(model, "name", None) or type(model).__name__)
            self._clients[key] = self._client(model, name, fixture, {})  # type: ignore[arg-type]
        return self._clients[key]

    def preload(self) -> None:
        """Start importing litellm on a thread, where a call is going to need it."""
        for fixture, kind in KINDS.items():
            name = self.setting(fixture).name
            if name is not None and (self.cassettes is None or self.cassettes.asks(kind, name)):
                from pytest_rageval.llm.importing import preload

                preload()
                return

    async def close(self) -> None:
        """End the clients' connections."""
        for client in self._clients.values():
            await client.close()

    def settle(self) -> None:
        """Bring the recordings into their order."""
        if "cassettes" in self.__dict__ and self.cassettes is not None:
            self.cassettes.close()

    def setting(self, fixture: str) -> ModelSetting:
        """Return the model that the options name for a fixture."""
        return self._options.model if fixture == "rag_llm" else self._options.judge

    def _client(self, backend: ChatModel, name: str, fixture: str, params: Mapping[str, object]) -> Client:
        from pytest_rageval.llm.client import Client
        from pytest_rageval.llm.limiter import Limiter
        from pytest_rageval.llm.retrying import RetryPolicy

        setting = self.setting(fixture)
        return Client(
            backend,
            name=name,
            kind=KINDS[fixture],
            params=params,
            limiter=Limiter(self._options.concurrency or ASYNC_DEFAULT),
            retry=RetryPolicy(**setting.retry),
            cassettes=self.cassettes,
            budget=self.budget,
            most=self._most(name, setting.params),
        )

    def _most(
        self, name: str, rates: Mapping[str, object]
    ) -> Callable[[Sequence[Message], Mapping[str, object]], float | None] | None:
        """Return what prices a call beforehand; None without a budget, so that no tokenizer is read."""
        if self.budget is None:
            return None
        from pytest_rageval.llm.prices import Prices, count_tokens

        prices = cache(lambda: Prices(name, rates))  # which may import litellm, when a call is not replayed

        def most(messages: Sequence[Message], params: Mapping[str, object]) -> float | None:
            return prices().most(count_tokens(name, messages)[0], int(str(params["max_tokens"])))

        return most
