"""Reading keys: what is asked of the database, and what becomes of trouble."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from app.domain.keys import EVERYTHING, ApiKey, KeyId, PresentedKey, hash_secret
from app.services import key_reader
from app.services.key_reader import KeyReader
from app.store import keys

SECRET = "5" * 64
KEY = ApiKey(
    id=KeyId("0123456789abcdef"),
    secret_hash=hash_secret(SECRET),
    name="a key",
    rights=EVERYTHING,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    created_by="root",
)
RIGHT = PresentedKey(KEY.id, SECRET)


class Database:
    """Stands in for the database: notes what is read, and fails if it should."""

    def __init__(self) -> None:
        self.reads: list[set[KeyId]] = []
        self.fails = False

    async def find_keys(self, _connection: Any, ids: Collection[KeyId]) -> Mapping[KeyId, ApiKey]:
        self.reads.append(set(ids))
        await asyncio.sleep(0.01)
        if self.fails:
            raise psycopg.OperationalError("gone")
        return {KEY.id: KEY} if KEY.id in ids else {}


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    @asynccontextmanager
    async def open_nothing(_engine: Any) -> Any:
        yield None

    database = Database()
    monkeypatch.setattr(keys, "find_keys", database.find_keys)
    monkeypatch.setattr(key_reader, "begin_for_keys", open_nothing)
    return database


def present(number: int) -> PresentedKey:
    return PresentedKey(KeyId(f"{number:016x}"), SECRET)


def make_reader() -> KeyReader:
    return KeyReader(None)  # type: ignore[arg-type]  # no connection is opened


def test_calls_that_come_together_share_a_statement(database: Database) -> None:
    async def call() -> None:
        reader = make_reader()
        first = asyncio.create_task(reader.find_actor(RIGHT))
        await asyncio.sleep(0.005)
        later = [asyncio.create_task(reader.find_actor(present(n))) for n in range(100)]
        assert await first == KEY.actor
        assert await asyncio.gather(*later) == [None] * 100

    asyncio.run(call())
    assert [len(ids) for ids in database.reads] == [1, 100]


def test_a_key_is_read_again_when_it_is_a_second_old(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call() -> None:
        reader = make_reader()
        for _ in range(3):
            assert await reader.find_actor(RIGHT)
        assert len(database.reads) == 1
        monkeypatch.setattr(key_reader, "MAX_AGE", 0.0)
        assert await reader.find_actor(RIGHT)
        assert len(database.reads) == 2

    asyncio.run(call())


def test_trouble_reaches_every_call_and_is_not_remembered(database: Database) -> None:
    async def call() -> None:
        reader = make_reader()
        database.fails = True
        results = await asyncio.gather(
            *(reader.find_actor(key) for key in (RIGHT, present(1))), return_exceptions=True
        )
        assert [type(result) for result in results] == [psycopg.OperationalError] * 2
        database.fails = False
        assert await reader.find_actor(RIGHT) == KEY.actor

    asyncio.run(call())


def test_a_call_that_leaves_takes_nothing_from_the_others(database: Database) -> None:
    async def call() -> None:
        reader = make_reader()
        leaving, staying = (asyncio.create_task(reader.find_actor(RIGHT)) for _ in range(2))
        await asyncio.sleep(0.005)
        leaving.cancel()
        assert await staying == KEY.actor

    asyncio.run(call())
    assert len(database.reads) == 1


def test_only_so_many_ids_are_remembered(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_reader, "MOST_REMEMBERED", 5)

    async def call() -> None:
        reader = make_reader()
        assert await reader.find_actor(RIGHT)
        for number in range(6):
            await reader.find_actor(present(number))
        await reader.find_actor(present(5))
        assert len(database.reads) == 7
        await reader.find_actor(RIGHT)
        assert len(database.reads) == 8

    asyncio.run(call())
