"""The database that everything is measured on: one agent of 1,000 memories, one of 10,000, and others beside them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg

from app.store import schema
from app.store.embedded import embedded_postgres
from bench.client import Client
from bench.sentences import questions, sentences
from bench.servers import SERVICE_WITHOUT_ENCODER, serving
from bench.vectors import cached_vectors

POOL = 10_000
FRESH = 5_000  # sentences that no agent has yet, for stores
QUESTIONS = 400


@dataclass(frozen=True, slots=True)
class World:
    """Where it runs and who lives there."""

    url: str
    others: tuple[str, ...]

    SMALL = "small"
    LARGE = "large"

    def settle(self, *agents: str) -> None:
        """More agents like `small`, to be written to."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for agent in agents:
                settle(connection, agent, 1_000)
            connection.execute("VACUUM ANALYZE memories")


@cache
def _sentences() -> tuple[str, ...]:
    return tuple(sentences(POOL + FRESH))


def stored_texts() -> tuple[str, ...]:
    return _sentences()[:POOL]


def fresh_texts() -> tuple[str, ...]:
    return _sentences()[POOL:]


def all_texts() -> tuple[str, ...]:
    return _sentences()


def asked_texts() -> tuple[str, ...]:
    return tuple(questions(QUESTIONS))


def known_texts() -> list[str]:
    """Every text that a vector is kept of."""
    return [*_sentences(), *asked_texts()]


@contextmanager
def database() -> Iterator[str]:
    """A migrated database in a temporary folder, with the whole pool in agent `large`. The first run on a machine encodes for half a
    minute."""
    cached_vectors(known_texts())
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        schema.migrate_database(url)
        import_pool(url, World.LARGE)
        yield url


@contextmanager
def world(*, others: int, memories_of_others: int) -> Iterator[World]:
    """A database with everybody in it."""
    with database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            settle(connection, World.SMALL, 1_000)
            names = tuple(f"other-{number:03}" for number in range(others))
            for agent in names:
                settle(connection, agent, memories_of_others)
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        yield World(url, names)


def import_pool(url: str, agent: str) -> None:
    """The whole pool, stored through the service."""
    with serving(SERVICE_WITHOUT_ENCODER, PALIMPSEST_DATABASE_URL=url) as port:
        client = Client(port, agent)
        for start in range(0, POOL, 1_000):
            items = [
                {"content": text, "classify": False}
                for text in stored_texts()[start : start + 1_000]
            ]
            client.post("/v1/memories/batch", {"items": items})
        client.close()


def settle(
    connection: psycopg.Connection[tuple[object, ...]],
    agent: str,
    count: int,
    *,
    pool: str = "memories",
) -> None:
    """An agent with some of the pool: rows are copied in the database, which is much faster than storing them again."""
    columns = connection.execute(
        """SELECT string_agg(attname, ', ') FROM pg_attribute
           WHERE attrelid = 'memories'::regclass AND attnum > 1 AND NOT attisdropped AND attgenerated = ''"""
    ).fetchone()
    assert columns
    with connection.transaction():
        connection.execute(
            "INSERT INTO agents SELECT %s, created_at, last_known_at FROM agents WHERE agent_id = %s",
            [agent, World.LARGE],
        )
        connection.execute(
            f"""INSERT INTO memories (agent_id, {columns[0]}) SELECT %s, {columns[0]} FROM {pool}
                WHERE agent_id = %s ORDER BY md5(id::text || %s) LIMIT %s""",
            [agent, World.LARGE, agent, count],
        )
