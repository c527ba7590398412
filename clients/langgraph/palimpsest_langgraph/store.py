"""The stores: LangGraph's BaseStore on a client, and on an asynchronous one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from langgraph.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig
from langgraph.store.base.batch import AsyncBatchedBaseStore

from palimpsest_client import AsyncClient, Client
from palimpsest_client.documents import run, run_async
from palimpsest_client.models import AnsweredOut, AnswerItem, ContextQuestionOut
from palimpsest_langgraph.items import ItemVersion
from palimpsest_langgraph.steps import list_history, run_operations

Time = datetime | str | float
Question = ContextQuestionOut
Answered = AnsweredOut


class _Store(BaseStore):
    """What both stores share: the settings, and the views of other times."""

    supports_ttl = True
    _client: Any

    def _configure(self, index: IndexConfig | None, ttl: TTLConfig | None) -> None:
        settings: dict[str, Any] = dict(index or {})
        self._fields: Sequence[str] = settings.pop("fields", None) or ["$"]
        if settings:
            raise ValueError(
                f"index: {', '.join(settings)} cannot be set: the service has an encoder of its "
                "own (docs/operate/embeddings.md). `fields` can."
            )
        self.ttl_config = ttl
        self._is_past = False

    def at(self, *, as_of: Time | None = None, known_at: Time | None = None) -> Self:
        """Return a view of the store that reads what was true and known at these times.

        It refuses puts and deletes with ValueError, and reads through it lengthen no life.
        """
        view = self._copy()
        view._client = self._client.at(as_of=as_of, known_at=known_at)
        view._is_past = as_of is not None or known_at is not None
        return view

    def _copy(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def _list_steps(self, ops: Iterable[Op]) -> Any:
        return run_operations(ops, self._fields, is_past=self._is_past)


class PalimpsestStore(_Store):
    """A store on a client. It may be used by several threads.

    Its asynchronous methods work in a thread; AsyncPalimpsestStore needs none.
    """

    def __init__(
        self,
        client: Client,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        """Choose the client, and with it the service, the key and the agent.

        Args:
            client: Its agent has to be live: frozen, it refuses; in shadow mode, changes wait.
            index: `fields`: what of a value is searched. Default: all of it, as JSON.
            ttl: `default_ttl` and `refresh_on_read`. Nothing has to sweep: what is over is not
                read.

        Raises:
            ValueError: `index` names an encoder.
        """
        self._client: Client = client
        self._configure(index, ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = run(self._list_steps(ops), self._client)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = await asyncio.to_thread(run, self._list_steps(ops), self._client)
        return results

    def history(self, namespace: tuple[str, ...], key: str) -> list[ItemVersion]:
        """Return every version of an item, the oldest known first."""
        return run(list_history(namespace, key), self._client)

    def questions(self, query: str | None = None) -> list[Question]:
        """Return open questions about what the agent knows, for the model that reads `line`.

        Items end by their keys alone and raise none; facts in plain words of the same agent do.
        """
        return list(self._client.context(query=query)["questions"])

    def answer(self, answers: Mapping[str, Sequence[str]]) -> list[Answered]:
        """Answer questions: their handles, each with the letters of what ended; none for none."""
        return list(self._client.answer_reviews(_list_answers(answers))["results"])


class AsyncPalimpsestStore(_Store, AsyncBatchedBaseStore):
    """A store on an asynchronous client, for code in one event loop.

    Calls of tasks that run side by side become one batch, and the same call is made once. Other
    threads may use its synchronous methods; in the thread of the loop these would wait for
    themselves, so they raise InvalidStateError there. Build it in the loop.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        """Choose the client and the settings, as PalimpsestStore does."""
        super().__init__()
        self._home = asyncio.get_running_loop()
        self._client: AsyncClient = client
        self._configure(index, ttl)

    def at(self, *, as_of: Time | None = None, known_at: Time | None = None) -> Self:
        async def build() -> Self:
            return _Store.at(self, as_of=as_of, known_at=known_at)

        if self._is_in_loop():
            return super().at(as_of=as_of, known_at=known_at)
        return asyncio.run_coroutine_threadsafe(build(), self._home).result()

    def _copy(self) -> Self:
        """Return a copy with a queue of its own, which begins in the loop."""
        copy = super()._copy()
        AsyncBatchedBaseStore.__init__(copy)
        return copy

    def _is_in_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._home
        except RuntimeError:
            return False

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = await run_async(self._list_steps(ops), self._client)
        return results

    async def ahistory(self, namespace: tuple[str, ...], key: str) -> list[ItemVersion]:
        """Return every version of an item, the oldest known first."""
        return await run_async(list_history(namespace, key), self._client)

    async def aquestions(self, query: str | None = None) -> list[Question]:
        """Return open questions about what the agent knows, as PalimpsestStore does."""
        return list((await self._client.context(query=query))["questions"])

    async def aanswer(self, answers: Mapping[str, Sequence[str]]) -> list[Answered]:
        """Answer questions: their handles, each with the letters of what ended; none for none."""
        return list((await self._client.answer_reviews(_list_answers(answers)))["results"])


def _list_answers(answers: Mapping[str, Sequence[str]]) -> list[AnswerItem]:
    return [{"question": handle, "choice": list(letters)} for handle, letters in answers.items()]
