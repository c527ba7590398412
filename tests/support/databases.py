"""Databases of a test's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg

from support.cluster import CITUS_URL, fresh_distributed_database
from support.urls import with_database


@contextmanager
def fresh_database(server_url: str, template: str | None = None) -> Iterator[str]:
    """An empty database of its own, or a copy of another; dropped afterwards."""
    name = f"test_{uuid4().hex}"
    if CITUS_URL:
        with fresh_distributed_database(server_url, name, template) as url:
            yield url
        return
    copy = f" TEMPLATE {template}" if template else ""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{copy}")
        yield with_database(server_url, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
