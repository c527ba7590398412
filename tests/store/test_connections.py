"""No connection is held while the encoder runs; another encoder is refused."""

import threading
import time
from collections.abc import Sequence

import httpx
import numpy as np
import psycopg
import pytest
from builders import store
from conftest import running
from numpy.typing import NDArray

from app.settings import load_settings
from app.store import schema
from app.store.unfit import UnfitDatabase


class Waiting:
    """An encoder that waits until it is told to go on."""

    name = "waiting"
    dimensions = 3

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go_on = threading.Event()

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import asyncio

        self.entered.set()
        while not self.go_on.is_set():  # noqa: ASYNC110 - the flag is set by another thread
            await asyncio.sleep(0.005)
        return np.tile(np.array([1, 0, 0], dtype=np.float32), (len(texts), 1))


def busy_connections(url: str) -> int:
    """Clients of this database, other than the asking one, that are in a transaction or a statement."""
    with psycopg.connect(url) as connection:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' AND state <> 'idle'"
        )
        row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def comes_to_rest(url: str) -> bool:
    """Whether, within some seconds, nobody is busy in the database."""
    deadline = time.monotonic() + 10
    while busy_connections(url):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


CALLS = [
    ("POST", "/v1/memories", {"json": {"content": "Has a cat"}}),
    (
        "POST",
        "/v1/memories/batch",
        {"json": {"items": [{"content": "Has a cat"}, {"content": "Has a fish"}]}},
    ),
    ("POST", "/v1/memories/{id}/supersede", {"json": {"content": "Has a cat"}}),
    ("POST", "/v1/search", {"json": {"query": "pets"}}),
    ("POST", "/v1/import", {"content": '{"content": "Has a cat"}\n{"content": "Has a fish"}'}),
]


@pytest.mark.parametrize(("method", "path", "sent"), CALLS)
def test_no_connection_is_held_while_encoding(
    database_url: str, method: str, path: str, sent: dict[str, object]
) -> None:
    encoder = Waiting()
    encoder.go_on.set()
    settings = load_settings(database_url=database_url, pool_size=1, pool_timeout=2)
    with (
        running(settings, encoder) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        memory_id = store(client)["memory"]["id"]
        encoder.entered.clear()
        encoder.go_on.clear()
        answers: list[httpx.Response] = []
        caller = threading.Thread(
            target=lambda: answers.append(client.request(method, path.format(id=memory_id), **sent))
        )  # type: ignore[arg-type]
        caller.start()
        assert encoder.entered.wait(10)
        assert comes_to_rest(database_url), (
            "what is read beside the encoding ends, the encoding does not"
        )
        assert httpx.get(f"{address}/v1/memories").status_code == 200, (
            "the only connection of the pool is free"
        )
        encoder.go_on.set()
        caller.join(20)
        assert answers[0].is_success, answers[0].text


def test_another_encoder_is_refused_at_start(database_url: str) -> None:
    schema.claim_encoder(database_url, "one", 384)
    schema.claim_encoder(database_url, "one", 384)
    with pytest.raises(UnfitDatabase, match="made by one"):
        schema.claim_encoder(database_url, "other", 384)


def test_a_text_language_that_postgres_does_not_have_is_refused(database_url: str) -> None:
    assert schema.get_language_oid(database_url, "simple") > 0
    with pytest.raises(UnfitDatabase, match="'klingon'"):
        schema.get_language_oid(database_url, "klingon")
