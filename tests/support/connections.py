"""An encoder that waits, and the connections that are busy meanwhile."""

import threading
import time
from collections.abc import Sequence

import numpy as np
import psycopg
from numpy.typing import NDArray


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
