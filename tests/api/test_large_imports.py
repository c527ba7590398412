"""An import reads little for each line, even if its session once planned for small tables."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from app.embedding.local import ENGLISH_ENCODER, LocalEmbedder
from app.settings import load_settings
from app.store.inserts import FEW
from support.cluster import needs_one_server
from support.service import running
from support.transfers import NDJSON, exported

LINES = "\n".join(json.dumps({"content": f"Saw bird {number}"}) for number in range(2_000))
# Blocks of an index that were read. Every version is entered into both. Checks of foreign keys may
# read the first one, and read all of it for each row if Postgres chose it while it was empty.
BLOCKS = """
    SELECT indexrelname, idx_blks_hit + idx_blks_read FROM pg_statio_user_indexes
    WHERE indexrelname IN ('memories_created', 'memories_valid_from')
"""

pytestmark = [needs_one_server, pytest.mark.slow]


class SameVector:
    """An encoder that takes no time."""

    name = ENGLISH_ENCODER
    dimensions = LocalEmbedder.dimensions

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), self.dimensions), self.dimensions**-0.5, dtype=np.float32)


@contextmanager
def serving(database_url: str) -> Iterator[httpx.Client]:
    """A client of a service that keeps one connection to its database."""
    settings = load_settings(database_url=database_url, pool_size=1)
    with (
        running(settings, SameVector()) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": "ada"}, timeout=60) as client,
    ):
        yield client


def import_body(client: httpx.Client, body: str | bytes) -> None:
    response = client.post("/v1/import", content=body, headers=NDJSON)
    assert response.status_code == 200, response.text


def store_few(client: httpx.Client) -> None:
    """Store facts in batches that are written like an import, but refresh no statistics."""
    another = {"X-Agent-Id": "bob"}
    for place in ("Porto", "Lisbon", "Faro"):
        contents = [f"Saw {number} cats in {place}" for number in range(FEW + 1)]
        items = [{"content": content, "classify": False} for content in contents]
        client.post("/v1/memories/batch", json={"items": items}, headers=another).raise_for_status()


def assert_little_read(database_url: str) -> None:
    """Fail if checks of foreign keys read as many blocks as entering the versions did."""
    with psycopg.connect(database_url) as connection:
        blocks = dict(connection.execute(BLOCKS).fetchall())
    assert blocks["memories_valid_from"] > 2_000, blocks
    assert blocks["memories_created"] < 2 * blocks["memories_valid_from"], blocks


def test_lines_are_checked_by_the_primary_key(database_url: str) -> None:
    with serving(database_url) as client:
        store_few(client)
        import_body(client, LINES)
    assert_little_read(database_url)


def test_a_native_export_is_checked_by_the_primary_key(
    database_url: str, client: httpx.Client
) -> None:
    import_body(client, LINES)
    export = exported(client, vectors=True)
    with serving(database_url) as other:
        store_few(other)
        import_body(other, export)
    assert_little_read(database_url)
